// Runs the real `headroom` as a child and collects its results.
#include "tests/cli/support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

extern char** environ;

namespace headroom::tests {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

// Hides the user's settings, engine and assets.
std::vector<std::string> environment_of(const RunOptions& options) {
  std::map<std::string, std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string text = *each;
    const std::size_t equals = text.find('=');
    if (!text.starts_with("HEADROOM_")) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  variables.erase("DISPLAY");
  variables.erase("WAYLAND_DISPLAY");
  variables["HEADROOM_ENGINE"] = "/nowhere/headroom-engine";
  for (const auto& [name, value] : options.environment) variables[name] = value;
  std::vector<std::string> list;
  for (const auto& [name, value] : variables) list.push_back(name + "=" + value);
  return list;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

[[noreturn]] void become_headroom(std::vector<std::string> words, std::vector<std::string> environment,
                                  const RunOptions& options, int out, int err) {
  const int in = open("/dev/null", O_RDONLY);
  if (!options.stdout_path.empty()) out = open(options.stdout_path.c_str(), O_WRONLY);
  if (options.file_size_limit) {
    const rlimit limit{*options.file_size_limit, *options.file_size_limit};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);  // write() then fails, as on a full disk
  }
  dup2(in, 0);
  dup2(out, 1);
  dup2(err, 2);
  execve(words[0].c_str(), pointers(words).data(), pointers(environment).data());
  _exit(99);
}

struct Ends {
  int read = -1, write = -1;
};

Ends make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {ends[0], ends[1]};
}

Ends make_terminal() {
  const int read = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (read < 0 || grantpt(read) != 0 || unlockpt(read) != 0) throw std::runtime_error("no terminal");
  return {read, open(ptsname(read), O_RDWR | O_NOCTTY | O_CLOEXEC)};
}

// False at the end of the stream.
bool take(int descriptor, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(descriptor, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

}  // namespace

RunOptions with_real_engine() {
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  return options;
}

Ran run_headroom(const std::vector<std::string>& arguments, const RunOptions& options) {
  std::vector<std::string> words{options.program.empty() ? std::string(HEADROOM_BIN_DIR) + "/headroom"
                                                         : options.program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Ends out = make_pipe();
  const Ends err = options.terminal ? make_terminal() : make_pipe();
  const auto start = Clock::now();
  const pid_t child = fork();
  if (child == 0) become_headroom(std::move(words), environment_of(options), options, out.write, err.write);
  close(out.write);
  close(err.write);

  Ran ran;
  std::array<pollfd, 2> watched{{{out.read, POLLIN, 0}, {err.read, POLLIN, 0}}};
  const std::array<std::string*, 2> texts{&ran.out, &ran.err};
  bool interrupt_sent = false;
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    if (Clock::now() - start > std::chrono::minutes(20)) kill(child, SIGKILL);
    poll(watched.data(), watched.size(), 1000);
    for (std::size_t i = 0; i < watched.size(); ++i)
      if (watched[i].fd >= 0 && watched[i].revents != 0 && !take(watched[i].fd, *texts[i])) watched[i].fd = -1;
    if (options.send_interrupt_at && !interrupt_sent && ran.err.find(*options.send_interrupt_at) != std::string::npos) {
      if (options.before_interrupt) options.before_interrupt(child);
      kill(child, SIGINT);
      interrupt_sent = true;
    }
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  close(out.read);
  close(err.read);
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + 1e-6 * double(time.tv_usec); };
  ran.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  ran.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return ran;
}

void say_skipped(const std::string& reason) { std::printf("SKIPPED: %s\n", reason.c_str()); }

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("no file " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace headroom::tests
