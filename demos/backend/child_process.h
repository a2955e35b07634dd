// A child process with non-blocking pipes. All POSIX code of this folder is here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "demos/record/result.h"

namespace headroom::backend {

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

// One descriptor that becomes readable when any watched descriptor is ready or the alarm is due.
class Watch {
 public:
  Watch();

  int descriptor() const { return epoll_.number(); }
  void add(int watched, bool for_writing = false);
  void remove(int watched);
  // Replaces the alarm; nullopt clears it. A due alarm stays readable until the next set_alarm().
  void set_alarm(std::optional<Clock::time_point> due);

 private:
  Descriptor epoll_;
  Descriptor timer_;
  std::optional<Clock::time_point> due_;
};

// A new folder that only this user may open, removed with the object.
class PrivateFolder {
 public:
  static record::Result<PrivateFolder> create();
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~PrivateFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

struct Exit {
  int code = 0;
  int signal = 0;  // 0: exited with `code`

  // E.g. "was killed by SIGKILL".
  std::string as_text() const;
};

class ChildProcess {
 public:
  // Starts a program (searched in PATH) with `environment` ("NAME=value") added to ours. Call it from the main
  // thread, because the child is killed when the starting thread ends. The child leads a new process group, so that
  // Ctrl-C in a terminal reaches only the app.
  static record::Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& arguments,
                                                             const std::vector<std::string>& environment, Watch& watch);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  std::int64_t pid() const { return pid_; }

  // New bytes of stdout, at most some MiB per call. Also drains stderr.
  std::vector<std::byte> read();
  bool output_closed() const { return !output_.open(); }
  // Queues bytes for stdin and writes as many as the pipe accepts. False if the child closed stdin.
  bool write(std::span<const std::byte> bytes);
  bool flush() { return write({}); }

  void terminate();  // SIGTERM to the group
  void kill();       // SIGKILL to the group

  std::optional<Exit> ended();
  // Last non-blank line in the last MiB of stderr.
  std::string last_error_line() const;

 private:
  ChildProcess(Watch& watch, int pid, Descriptor input, Descriptor output, Descriptor errors);
  void read_errors();
  void signal_group(int signal);

  Watch* watch_;
  int pid_;
  Descriptor input_;  // write end of the child's stdin
  Descriptor output_;
  Descriptor errors_;
  std::vector<std::byte> unwritten_;
  std::string error_text_;
  std::optional<Exit> exit_;
};

}  // namespace headroom::backend
