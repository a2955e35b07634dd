// Writes data to stdout and messages to stderr.
#include "app/cli/output.h"

#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/record/text.h"

namespace headroom::app {

namespace {

volatile std::sig_atomic_t g_interrupted = 0;
void on_interrupt(int) { g_interrupted = 1; }

record::Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

constexpr record::Nanoseconds kSecond = 1'000'000'000;

std::string describe(const backend::RunProgress& progress) {
  const int percent = static_cast<int>(std::clamp(progress.fraction, 0.0, 1.0) * 100);
  std::string text = fmt::format("{:3} %  {}", percent, progress.doing);
  if (progress.time_left >= 0) text += fmt::format(", {} left", record::format_duration(progress.time_left));
  return text;
}

}  // namespace

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void put_json(const nlohmann::json& document) {
  put(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

// Sentences may quote files, which must not control the terminal.
void say(std::string_view sentence) { std::fprintf(stderr, "headroom: %s\n", record::printable(sentence).c_str()); }

void show_error(std::string_view sentence, ExitCode code, bool as_json) {
  say(sentence);
  if (!as_json) return;
  const nlohmann::json document = {{"error", sentence}, {"exit_code", static_cast<int>(code)}};
  put_json(document);
}

bool all_arrived() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const backend::RunProgress& progress) {
  const record::Nanoseconds pause = terminal_ ? kSecond / 10 : 2 * kSecond;
  const record::Nanoseconds time = now();
  if (progress.doing.empty() || (last_ != 0 && time - last_ < pause)) return;
  std::string text = describe(progress);
  if (text == last_text_) return;
  if (terminal_)
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
  else
    std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
  shown_ = true;
  last_ = time;
  last_text_ = std::move(text);
}

void ProgressLine::clear() {
  if (terminal_ && shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);  // no SA_RESTART: poll() must return at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool interrupted() { return g_interrupted != 0; }

}  // namespace headroom::app
