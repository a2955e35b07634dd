// Runs the real `headroom` as a child and collects its results.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace headroom::tests {

struct RunOptions {
  std::map<std::string, std::string> environment;  // in addition to program.cpp's
  std::optional<std::string> send_interrupt_at;    // SIGINT once stderr contains this text
  std::function<void(int pid)> before_interrupt;   // may be empty
  std::optional<std::size_t> file_size_limit;      // bytes; writing more fails, as on a full disk
  std::string stdout_path;                         // file to use instead of a pipe, e.g. /dev/full
  bool terminal = false;                           // stderr is a terminal
  std::string program;                             // empty: this build's
};

struct Ran {
  int exit_code = -1;  // 128 + n: killed by signal n
  std::string out, err;
  double seconds = 0;      // wall clock
  double cpu_seconds = 0;  // of the program, whatever the machine's load
};

// Fails the test after 20 minutes.
Ran run_headroom(const std::vector<std::string>& arguments, const RunOptions& options = {});

RunOptions with_real_engine();

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The preset portable writes neither PDF nor PNG.
#ifdef HEADROOM_WITH_CAIRO
inline constexpr bool kWritesPdf = true;
#else
inline constexpr bool kWritesPdf = false;
#endif

// CTest then shows the case as skipped; the case must return.
void say_skipped(const std::string& reason);

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace headroom::tests
