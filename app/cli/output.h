// Data goes to stdout, messages to stderr. Nothing is colored.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "app/common/exit_codes.h"
#include "demos/backend/backend.h"

namespace headroom::app {

void put(std::string_view text);
void put_json(const nlohmann::json& document);
void say(std::string_view sentence);  // to stderr, as "headroom: …"

// With `as_json`, also prints the document that readers of stdout expect.
void show_error(std::string_view sentence, ExitCode code, bool as_json);

// False if output was lost (full disk, closed pipe).
bool all_arrived();

// Progress on stderr: one redrawn line on a terminal, otherwise occasional lines.
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

// Ctrl-C (SIGINT) and SIGTERM only set a flag while this object lives.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};
bool interrupted();

}  // namespace headroom::app
