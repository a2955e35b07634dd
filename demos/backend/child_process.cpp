// fork, exec, pipes, signals and waiting, for Linux.
#include "demos/backend/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>

#include "demos/backend/backend.h"
#include "demos/record/text.h"

namespace headroom::backend {

namespace {

constexpr std::size_t kReadBlock = std::size_t{256} << 10;
// More than one frame, so that a whole frame arrives in one call, but too little to delay the window.
constexpr std::size_t kMaxReadAtOnce = std::size_t{32} << 20;
constexpr std::size_t kKeptErrorBytes = std::size_t{1} << 20;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

struct Pipe {
  Descriptor reading, writing;
};

// Both ends close at exec. Their numbers are above 2, so that dup2 onto the child's stdio never overwrites them, even
// if this process was started with stdin closed.
Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
  Pipe result{Descriptor(ends[0]), Descriptor(ends[1])};
  for (Descriptor* end : {&result.reading, &result.writing}) {
    if (end->number() > STDERR_FILENO) continue;
    const int moved = ::fcntl(end->number(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) fail("pipe");
    *end = Descriptor(moved);
  }
  return result;
}

void set_non_blocking(const Descriptor& descriptor) {
  const int flags = ::fcntl(descriptor.number(), F_GETFL);
  if (flags < 0 || ::fcntl(descriptor.number(), F_SETFL, flags | O_NONBLOCK) < 0) fail("fcntl");
}

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> result = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    if (std::ranges::none_of(added, [&](const std::string& other) { return other.starts_with(name); }))
      result.emplace_back(variable);
  }
  return result;
}

std::vector<char*> as_pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Runs in the child between fork and exec: only async-signal-safe calls, since other threads may have held locks. On
// failure writes errno to `failure`.
[[noreturn]] void become(char** arguments, char** environment, int input, int output, int errors, int failure,
                         pid_t parent) {
  ::setpgid(0, 0);
  // The child would inherit signals that the app ignores or blocks.
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // No orphan may keep GPU memory. A stuck child does not notice its closed stdin, but dies with the app.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool orphaned = ::getppid() != parent;  // the app ended before prctl
  if (!orphaned && ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
      ::dup2(errors, STDERR_FILENO) >= 0)
    ::execvpe(arguments[0], arguments, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

// Repeats a system call that a signal interrupted.
template <class Call>
ssize_t uninterrupted(Call call) {
  ssize_t result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

}  // namespace

void Descriptor::close() {
  if (open()) ::close(std::exchange(number_, -1));
}

Watch::Watch()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  if (!epoll_.open() || !timer_.open()) fail("epoll");
  add(timer_.number());
}

void Watch::add(int watched, bool for_writing) {
  epoll_event event{};
  event.events = for_writing ? EPOLLOUT : EPOLLIN;
  event.data.fd = watched;
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, watched, &event) != 0 && errno != EEXIST) fail("epoll");
}

void Watch::remove(int watched) {
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, watched, nullptr) != 0 && errno != ENOENT) fail("epoll");
}

void Watch::set_alarm(std::optional<Clock::time_point> due) {
  if (due == due_) return;
  due_ = due;
  // steady_clock is CLOCK_MONOTONIC. All zeros would disarm the timer, so a past time becomes 1 ns.
  itimerspec setting{};
  if (due) {
    const auto time = std::max<std::int64_t>(
        1, std::chrono::duration_cast<std::chrono::nanoseconds>(due->time_since_epoch()).count());
    setting.it_value = {.tv_sec = time / 1'000'000'000, .tv_nsec = time % 1'000'000'000};
  }
  if (::timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &setting, nullptr) != 0) fail("timerfd");
}

record::Result<PrivateFolder> PrivateFolder::create() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "headroom-ranks-XXXXXX").string();
  if (!error && ::mkdtemp(name.data()) == nullptr)  // mode 0700
    error = {errno, std::generic_category()};
  if (error)
    return record::Error{"A folder for the ranks' shared files cannot be created (" + error.message() +
                             "); set TMPDIR to a folder that you can write to.",
                         record::ErrorKind::kNotWritten};
  return PrivateFolder(name);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string Exit::as_text() const {
  if (signal == 0) return "ended with exit code " + std::to_string(code);
  if (signal == SIGKILL) return "was killed by SIGKILL (Linux does this when the machine runs out of memory)";
  const char* name = ::sigabbrev_np(signal);
  return "was killed by " + (name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal));
}

record::Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& arguments,
                                                                  const std::vector<std::string>& environment,
                                                                  Watch& watch) try {
  ::signal(SIGPIPE, SIG_IGN);  // writing to a dead engine returns an error
  // With SIGCHLD ignored we would not notice the engine's end.
  ::signal(SIGCHLD, SIG_DFL);
  std::vector<std::string> argument_texts = arguments;
  std::vector<std::string> environment_texts = merged_environment(environment);
  const std::vector<char*> argv = as_pointers(argument_texts);
  const std::vector<char*> envp = as_pointers(environment_texts);
  Pipe input = make_pipe(), output = make_pipe(), errors = make_pipe(), failure = make_pipe();

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail("fork");
  if (pid == 0)
    become(const_cast<char**>(argv.data()), const_cast<char**>(envp.data()), input.reading.number(),
           output.writing.number(), errors.writing.number(), failure.writing.number(), parent);
  ::setpgid(pid, pid);  // in both processes, since either may be first

  // Waits some hundred microseconds, until exec closes the child's end.
  failure.writing.close();
  int error = 0;
  if (uninterrupted([&] { return ::read(failure.reading.number(), &error, sizeof error); }) > 0) {
    uninterrupted([&] { return ::waitpid(pid, nullptr, 0); });
    return record::Error{record::quoted(arguments.front()) + " cannot be started: " + std::strerror(error),
                         record::ErrorKind::kEngine};
  }
  for (const Descriptor* end : {&input.writing, &output.reading, &errors.reading}) set_non_blocking(*end);
  return std::unique_ptr<ChildProcess>(
      new ChildProcess(watch, pid, std::move(input.writing), std::move(output.reading), std::move(errors.reading)));
} catch (const std::system_error& error) {  // no more processes or descriptors are available
  return record::Error{record::quoted(arguments.front()) + " cannot be started: " + error.what(),
                       record::ErrorKind::kEngine};
}

ChildProcess::ChildProcess(Watch& watch, int pid, Descriptor input, Descriptor output, Descriptor errors)
    : watch_(&watch), pid_(pid), input_(std::move(input)), output_(std::move(output)), errors_(std::move(errors)) {
  watch_->add(output_.number());
  watch_->add(errors_.number());
}

ChildProcess::~ChildProcess() {
  kill();
  // A killed process ends at once unless it is stuck in a driver; init then reaps it after we exit.
  for (int tries = 0; tries < 200 && !ended(); ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

std::vector<std::byte> ChildProcess::read() {
  read_errors();
  std::vector<std::byte> result;
  while (output_.open() && result.size() < kMaxReadAtOnce) {
    const std::size_t before = result.size();
    result.resize(before + kReadBlock);
    const ssize_t count = uninterrupted([&] { return ::read(output_.number(), result.data() + before, kReadBlock); });
    result.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) output_.close();  // closing also removes it from the watch
  }
  return result;
}

void ChildProcess::read_errors() {
  std::array<char, std::size_t{16} << 10> block;
  // Bounded, because an engine may never stop printing.
  for (std::size_t taken = 0; errors_.open() && taken < kKeptErrorBytes;) {
    const ssize_t count = uninterrupted([&] { return ::read(errors_.number(), block.data(), block.size()); });
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) errors_.close();
    const auto size = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    error_text_.append(block.data(), size);
    taken += size;
  }
  if (error_text_.size() > 2 * kKeptErrorBytes) error_text_.erase(0, error_text_.size() - kKeptErrorBytes);
}

bool ChildProcess::write(std::span<const std::byte> bytes) {
  unwritten_.insert(unwritten_.end(), bytes.begin(), bytes.end());
  const bool waited = !unwritten_.empty() && unwritten_.size() > bytes.size();
  std::size_t done = 0;
  while (input_.open() && done < unwritten_.size()) {
    const ssize_t count =
        uninterrupted([&] { return ::write(input_.number(), unwritten_.data() + done, unwritten_.size() - done); });
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0)
      input_.close();
    else
      done += static_cast<std::size_t>(count);
  }
  unwritten_.erase(unwritten_.begin(), unwritten_.begin() + static_cast<std::ptrdiff_t>(done));
  if (!input_.open()) return false;
  // Wake up when the full pipe has room again.
  if (!unwritten_.empty())
    watch_->add(input_.number(), true);
  else if (waited)
    watch_->remove(input_.number());
  return true;
}

void ChildProcess::terminate() { signal_group(SIGTERM); }

void ChildProcess::kill() { signal_group(SIGKILL); }

void ChildProcess::signal_group(int signal) {
  // Once the child is reaped, its group id may belong to another process.
  if (!exit_) ::kill(-pid_, signal);
}

std::optional<Exit> ChildProcess::ended() {
  int status = 0;
  if (!exit_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
    exit_ = WIFSIGNALED(status) ? Exit{.code = 0, .signal = WTERMSIG(status)} : Exit{.code = WEXITSTATUS(status)};
  return exit_;
}

std::string ChildProcess::last_error_line() const {
  std::string_view text = error_text_;
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  text = text.substr(text.find_last_of("\r\n") + 1);
  return std::string(text);
}

void wait(int descriptor, int milliseconds) {
  pollfd readable{descriptor, POLLIN, 0};
  ::poll(&readable, descriptor >= 0 ? 1 : 0, milliseconds);
}

void wait_and_poll(Backend& backend, int milliseconds) {
  wait(backend.descriptor(), milliseconds);
  backend.poll();
}

}  // namespace headroom::backend
