// Data goes to stdout, messages to stderr. No color anywhere, so there is none to switch off.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "app/common/exit_codes.h"
#include "demos/backend/backend.h"

namespace headroom::app {

void put(std::string_view text);  // stdout
void put_json(const nlohmann::json& document);
void say(std::string_view sentence);  // stderr, as "headroom: …"

// The sentence, and for a program that reads stdout its one document, although nothing came of the command.
void show_error(std::string_view sentence, ExitCode code, bool json);

// False if something that was put did not arrive (a full disk, a closed pipe).
bool all_arrived();

// A run's progress on stderr: one line that is redrawn on a terminal, now and then a plain line elsewhere.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const backend::RunProgress& progress);
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
  record::Nanoseconds last_ = 0;
  std::string last_text_;
};

// Ctrl-C (SIGINT) and SIGTERM set a flag instead of ending the program while this lives.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};
bool interrupted();

}  // namespace headroom::app
