// Commands that start the window: headroom alone or with a recording, and headroom present, at a page or chapter on
// stage.
#include "app/cli/commands/window.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/grammar.h"
#include "app/cli/planned.h"
#include "app/cli/shown_course.h"
#include "app/common/assets.h"
#include "app/common/session.h"
#include "demos/experiments/demo.h"

namespace headroom::app {

namespace {

// Replaces this process with headroom-window; returns only on failure. `engine` may be empty.
record::Error start_window(const std::string& engine, std::vector<std::string> words = {}) {
  const std::string window = (executable_folder() / "headroom-window").string();
  if (access(window.c_str(), X_OK) != 0)
    return record::Error{
        fmt::format("The window is not installed ({} is missing): build it with `./run`, or see `headroom --help` for "
                    "what works without it.",
                    window)};
  if (!engine.empty()) setenv("HEADROOM_ENGINE", engine.c_str(), 1);
  words.insert(words.begin(), "headroom-window");
  std::vector<char*> line;
  for (std::string& word : words) line.push_back(word.data());
  line.push_back(nullptr);
  execv(window.c_str(), line.data());
  return record::Error{fmt::format("{} cannot be started: {}.", window, std::strerror(errno))};
}

struct WindowOptions : CommonOptions {
  std::optional<std::string> model, card, batch, seq;
};

void declare_window(WindowOptions& options, OptionList& list) {
  list.text("--model", options.model, "Opens the bench with this model, a folder, or a config.json", "NAME");
  list.text("--card", options.card, "Opens the bench with this card, or a size such as 24GiB", "NAME");
  list.text("--batch", options.batch, "Sequences per step", "N");
  list.text("--seq", options.seq, "Tokens per sequence", "N");
  list.set("Settings of train_step for the bench");
  list.engine();
}

// The bench's settings as --set and --card of headroom-window; empty if none is given.
record::Result<std::vector<std::string>> bench_words(const WindowOptions& options) {
  auto step = gpu_step(options.model);
  if (!step) return step.error();
  record::Params& params = step.value();
  std::vector<std::string> words;
  const auto add = [&](const std::string& assignment) { words.insert(words.end(), {"--set", assignment}); };
  if (options.model)
    for (const char* const key : {"model", "weights"})
      if (const std::string value = params.as_text(key); !value.empty()) add(fmt::format("{}={}", key, value));
  for (const auto& [key, value] : {std::pair("batch", &options.batch), std::pair("seq", &options.seq)}) {
    if (!*value) continue;
    if (auto set = params.set(key, std::string_view(**value)); !set) return set.error();
    add(fmt::format("{}={}", key, **value));
  }
  if (auto set = set_params(params, experiments::training_step().id, options); !set) return set.error();
  for (const std::string& assignment : options.set) add(assignment);
  if (!options.card) return words;
  if (const auto card = card_of(*options.card); !card) return card.error();
  words.insert(words.end(), {"--card", *options.card});
  return words;
}

record::Result<ExitCode> open_window(const WindowOptions& options) {
  const auto words = bench_words(options);
  if (!words) return words.error();
  return start_window(options.engine, words.value());
}

struct OpenRecording final : Invocation {
  explicit OpenRecording(std::string recording) : file(std::move(recording)) {}
  void declare(OptionList&) override {}
  CommonOptions& common() override { return options; }
  record::Status check() const override { return record::Ok{}; }
  record::Result<ExitCode> run() const override {
    if (const auto recording = load_recording(file); !recording) return recording.error();
    return start_window({}, {"--from", file});
  }

  CommonOptions options;
  std::string file;
};

struct PresentOptions : CommonOptions {
  std::vector<std::string> from;
};

void declare_present(PresentOptions& options, OptionList& list) {
  list.words("FROM", options.from, "A page or the number of a chapter (default: where you were last)");
  list.engine();
}

// Empty: the reader's last page.
record::Result<std::string> page_to_begin(const PresentOptions& options) {
  if (options.from.empty()) return std::string();
  if (options.from.size() > 1)
    return record::Error{
        "headroom present starts at one page or one chapter: name only "
        "one."};
  const std::string& from = options.from.front();
  const auto course = load_course();
  if (!course) return course.error();
  const bool digits = from.find_first_not_of("0123456789") == std::string::npos;
  if (digits || course.value().find_chapter(from) != nullptr) {
    const auto chapter = chapter_named(course.value(), from);
    if (!chapter) return chapter.error();
    return chapter.value()->pages.front()->id;
  }
  if (course.value().find_page(from) == nullptr) return unknown_id("page", from, course.value().pages());
  return from;
}

record::Result<ExitCode> present(const PresentOptions& options) {
  const auto page = page_to_begin(options);
  if (!page) return page.error();
  std::vector<std::string> words{"--present"};
  if (!page.value().empty()) words.insert(words.end(), {"--page", page.value()});
  return start_window(options.engine, words);
}

}  // namespace

std::unique_ptr<Invocation> open_recording(std::string file) {
  return std::make_unique<OpenRecording>(std::move(file));
}

extern const Command kWindow;
constinit const Command kWindow{.name = "",
                                .summary = "",
                                .example = "headroom                                                the window",
                                .make = make_invocation<WindowOptions, declare_window, open_window, bench_words>};

extern const Command kPresent;
constinit const Command kPresent{.name = "present",
                                 .summary = "Open the window to present: one claim and one figure per screen",
                                 .example = "headroom present checkpointing",
                                 .make = make_invocation<PresentOptions, declare_present, present, page_to_begin>};

}  // namespace headroom::app
