#include "tests/live/engine_child.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headroom::tests {

namespace {

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read_end = ends[0];
    write_end = ends[1];
  }
};

pid_t spawn(std::vector<std::string> arguments, const Pipe& input, const Pipe& output) {
  arguments.insert(arguments.begin(), HEADROOM_BIN_DIR "/headroom-engine");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no child process");
  if (pid > 0) return pid;
  dup2(input.read_end, STDIN_FILENO);
  dup2(output.write_end, STDOUT_FILENO);
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv(argv[0], argv.data());
  _exit(127);
}

int milliseconds(Clock::duration duration) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return static_cast<int>(std::clamp<long>(left, 0, 600'000));
}

}  // namespace

EngineChild::EngineChild(std::vector<std::string> arguments) {
  std::signal(SIGPIPE, SIG_IGN);
  const Pipe to_child, from_child;
  pid_ = spawn(std::move(arguments), to_child, from_child);
  close(to_child.read_end);
  close(from_child.write_end);
  input_ = to_child.write_end;
  output_ = from_child.read_end;
}

EngineChild::~EngineChild() {
  close_input();
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(output_);
}

void EngineChild::send(const protocol::Message& message) { send_bytes(protocol::encode(message)); }

void EngineChild::send_bytes(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(input_, bytes.data(), bytes.size());
    if (count <= 0) return;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void EngineChild::close_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

std::optional<protocol::Message> EngineChild::next(Clock::duration patience) {
  const auto deadline = Clock::now() + patience;
  while (true) {
    const std::vector<std::byte> body = frames_.next();
    if (!body.empty()) {
      auto decoded = protocol::decode(body);
      if (!decoded) throw std::runtime_error("the engine sent a bad message: " + decoded.error().message);
      if (const auto* chunk = std::get_if<protocol::Chunk>(&decoded.value())) {
        if (!recording_.append_chunk(chunk->bytes)) ++refused_chunks_;
      }
      return std::move(decoded).value();
    }
    pollfd readable{.fd = output_, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, milliseconds(deadline - Clock::now())) <= 0) return std::nullopt;
    std::array<std::byte, 65'536> bytes;
    const ssize_t count = read(output_, bytes.data(), bytes.size());
    if (count <= 0) return std::nullopt;
    frames_.feed(std::span(bytes).first(static_cast<std::size_t>(count)));
  }
}

void EngineChild::signal(int number) const { kill(pid_, number); }

std::optional<int> EngineChild::ended(Clock::duration patience) {
  const auto deadline = Clock::now() + patience;
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::pair<int, std::string> engine_output(const std::vector<std::string>& arguments) {
  const Pipe to_child, from_child;
  const pid_t pid = spawn(arguments, to_child, from_child);
  close(to_child.read_end);
  close(to_child.write_end);
  close(from_child.write_end);
  std::string text;
  std::array<char, 4096> bytes;
  for (ssize_t count; (count = read(from_child.read_end, bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  close(from_child.read_end);
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), text};
}

}  // namespace headroom::tests
