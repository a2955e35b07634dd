// A program that runs beside this one, talked to over pipes without ever waiting for it. All POSIX of this folder is
// here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "demos/record/result.h"

namespace headroom::backend {

using Clock = std::chrono::steady_clock;

// An open file descriptor, closed with its owner.
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

// One descriptor that becomes readable when any of the watched ones has something, or when the alarm is due. It stays
// the same while engines come and go.
class Watch {
 public:
  Watch();

  int descriptor() const { return epoll_.number(); }
  void add(const Descriptor& watched, bool for_writing = false);
  void remove(const Descriptor& watched);
  // Replaces the alarm before; nothing: none. An alarm that is due stays readable until the next set_alarm().
  void set_alarm(std::optional<Clock::time_point> due);

 private:
  Descriptor epoll_;
  Descriptor timer_;
  std::optional<Clock::time_point> due_;
};

// How a process ended.
struct Exit {
  int code = 0;
  int signal = 0;  // 0: it returned `code`

  // "was killed by SIGKILL", "ended with exit code 3"
  std::string as_text() const;
};

class ChildProcess {
 public:
  // Starts a program (looked for in PATH where it names no folder) with `environment` ("NAME=value") added to this
  // process's own. To be called from the main thread: the child is killed when the thread that started it ends.
  // It leads a new process group, so that Ctrl-C in a terminal reaches only the app.
  static record::Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& arguments,
                                                             const std::vector<std::string>& environment, Watch& watch);
  // Kills the whole group.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  std::int64_t pid() const { return pid_; }

  // Bytes that have arrived on the child's stdout, at most some MiB per call; its stderr is taken in as well.
  std::vector<std::byte> read();
  // The child has closed its stdout, or ended: nothing more will come.
  bool output_closed() const { return !output_.open(); }
  // Queues bytes for the child's stdin and writes what the pipe takes now. False: the child no longer listens.
  bool write(std::span<const std::byte> bytes);
  bool flush() { return write({}); }

  void terminate();  // SIGTERM to the group
  void kill();       // SIGKILL to the group

  // How it ended; nothing while it runs.
  std::optional<Exit> ended();
  // The last line that is not blank among the last MiB of its stderr, in quotes and cut to a readable length; empty if
  // it wrote nothing.
  std::string last_error_line() const;

 private:
  ChildProcess(Watch& watch, int pid, Descriptor input, Descriptor output, Descriptor errors);
  void read_errors();
  void signal_group(int signal);

  Watch* watch_;
  int pid_;
  Descriptor input_;  // the child's stdin, our writing end
  Descriptor output_;
  Descriptor errors_;
  std::vector<std::byte> unwritten_;
  std::string error_text_;
  std::optional<Exit> exit_;
};

}  // namespace headroom::backend
