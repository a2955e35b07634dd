// What a page says about the last run: notices, and the line of the status bar.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/summary.h"
#include "app/page/page_model.h"
#include "lessons/names.h"
#include "lessons/wording.h"

namespace headroom::app::page {

namespace {

// "in the loss"
std::string_view when(record::Phase phase) {
  switch (phase) {
    case record::Phase::kSetup:
      return "before the first step";
    case record::Phase::kForward:
      return "in the forward pass";
    case record::Phase::kLoss:
      return "in the loss";
    case record::Phase::kRecompute:
      return "while computing a layer again";
    case record::Phase::kBackward:
      return "in the backward pass";
    case record::Phase::kOptimizer:
      return "in the optimizer";
    case record::Phase::kCopies:
      return "in a copy";
    case record::Phase::kEvaluation:
      return "in the evaluation";
  }
  return "";
}

// Who asked for how much; an outcome that is out of memory.
Notice out_of_memory(const record::Outcome& outcome) {
  record::OutOfMemoryFacts facts = *outcome.out_of_memory;
  if (!facts.op.empty()) facts.op = lessons::tensor_name(record::Category::kActivations, facts.op);
  return Notice{Notice::Kind::kOutOfMemory, fmt::format("Out of memory {}", when(facts.phase)), explain(facts)};
}

// What its files take, what a run would, and what there is for it.
Notice your_model(const OwnModel& own, const std::optional<PageModel::Needs>& needs) {
  if (!own.trouble.empty()) return {Notice::Kind::kTrouble, "Your model cannot be read", own.trouble};
  Notice notice{Notice::Kind::kVerdict, "Your model", own.words()};
  if (needs)
    notice.body +=
        fmt::format(" A run takes {} by prediction, and {} are free for it here{}.", record::format_bytes(needs->bytes),
                    record::format_bytes(needs->of), needs->bytes > needs->of ? ": it does not fit" : "");
  return notice;
}

}  // namespace

std::optional<Notice> PageModel::notice() const {
  if (fills_with_formula() && !question_.hides())
    return Notice{Notice::Kind::kVerdict, "The closed form, of a GPU",
                  "Tensors alone, by arithmetic, at the moments that can be the highest. " + why_no_prediction()};
  if (!refusal_.empty()) return Notice{Notice::Kind::kTrouble, "This run was refused", refusal_};
  if (const auto& trouble = control_.trouble(); trouble && !trouble->empty())
    return Notice{Notice::Kind::kTrouble, "No engine at work", *trouble};
  if (has_predictions() && predictions_ != nullptr && planner() == nullptr)
    return Notice{Notice::Kind::kTrouble, "No engine at work", predictions_->trouble()};
  if (over_budget_ && on_show() != nullptr)
    return Notice{Notice::Kind::kVerdict, "A stored run, in place of the live one",
                  fmt::format("The run here took more than {:.0f} s and was cancelled. This one was recorded on {}.",
                              *budget_, on_show()->where)};
  const auto& outcome = control_.outcome();
  const bool own_shown = own_ >= 0 && shown_ == own_ && !shows_prediction_;
  const RunOnShow* run = on_show();
  const std::uint64_t kept = run == nullptr ? 0 : run->recording->events().size();
  const auto composed = [&]() -> std::optional<Notice> {
    if (const OwnModel* const own = own_model(); own != nullptr) return your_model(*own, needs());
    if (run == nullptr) return std::nullopt;
    if (const std::string unknown = lessons::unknown_settings(run->recording->info()); !unknown.empty())
      return Notice{Notice::Kind::kTrouble, "A run with settings that are not known here",
                    fmt::format("It was made with {}. The figure shows what was recorded; the settings beside it are "
                                "without that.",
                                unknown)};
    const auto& provenance = run->recording->info().provenance;
    const auto notice = [&](const char* key, const char* title) -> std::optional<Notice> {
      const auto fact = provenance.find(key);
      if (fact == provenance.end()) return std::nullopt;
      return Notice{Notice::Kind::kTrouble, title, fact->second};
    };
    if (auto trouble = notice("kernels_trouble", "Without our kernels")) return trouble;
    if (auto products = notice("gemm", "How products were computed")) return products;
    auto tokens =
        notice("tokens", "What it was trained on");  // ids, whose type may have been read from the ids themselves
    return tokens && tokens->body.starts_with("ids of ") ? tokens : std::nullopt;
  };
  // What a stored run came to belongs to the picture of it.
  if (run != nullptr && !own_shown && !question_.hides() && run->recording->outcome() &&
      run->recording->outcome()->out_of_memory)
    return out_of_memory(*run->recording->outcome());
  if (!outcome || !own_shown) return composed();
  switch (outcome->kind) {
    case record::OutcomeKind::kCompleted:
    case record::OutcomeKind::kCancelled:
      return composed();
    case record::OutcomeKind::kOutOfMemory:
      if (question_.hides() || !outcome->out_of_memory) return std::nullopt;  // it would give the answer away
      return out_of_memory(*outcome);
    case record::OutcomeKind::kRefused:
      return Notice{Notice::Kind::kTrouble, "This run was refused", outcome->message};
    case record::OutcomeKind::kEngineLost:
      return Notice{Notice::Kind::kTrouble, "The engine stopped and is started again",
                    fmt::format("{} All {} events up to there are kept.", outcome->message,
                                record::format_count(static_cast<std::int64_t>(kept)))};
    case record::OutcomeKind::kFailed:
      return Notice{Notice::Kind::kTrouble, "The run failed",
                    fmt::format("{} All {} events up to there are kept.", outcome->message,
                                record::format_count(static_cast<std::int64_t>(kept)))};
  }
  return std::nullopt;
}

std::string PageModel::status_line() const {
  if (const backend::RunProgress* progress = control_.progress())
    return control_.cancelling()     ? "Cancelling"
           : progress->doing.empty() ? "Starting"
                                     : "Recording: " + progress->doing;
  const auto& outcome = control_.outcome();
  if (!outcome || own_ < 0) return {};
  const RunOnShow& own = runs_[static_cast<std::size_t>(own_)];
  if (own.recording == nullptr) return {};
  const std::string dropped = record::format_count(static_cast<std::int64_t>(own.recording->dropped_events()));
  const std::string seconds =
      control_.last_seconds() ? fmt::format("{:.1f} s", *control_.last_seconds()) : std::string();
  const auto steps = record::steps_of(*own.recording);
  const auto whole = std::count_if(steps.begin(), steps.end(), [](const record::StepRange& s) { return s.complete; });
  const char* how = outcome->kind == record::OutcomeKind::kCancelled                           ? "Cancelled after"
                    : outcome->kind == record::OutcomeKind::kOutOfMemory && !question_.hides() ? "Out of memory after"
                                                                                               : "Last run";
  std::string line =
      fmt::format("{} {}, {} {}, {} events dropped", how, seconds, whole, whole == 1 ? "step" : "steps", dropped);
  if (const auto loss = last_metric(*own.recording, record::MetricKind::kLoss))
    line += fmt::format(", loss {:.3f}", *loss);
  if (const auto speed = over_steps(*own.recording, record::MetricKind::kTokensPerSecond))
    line += fmt::format(", {} tokens/s", record::format_count(std::llround(speed->value)));
  return line;
}

std::string PageModel::as_command() const {
  if (!settings_drive() || device() != record::DeviceKind::kGpu || question_.hides()) return {};
  std::string command = fmt::format("headroom figures {}", shown_figure().id);
  const record::Params first(settings().schema());
  for (const record::ParamSpec& spec : first.schema()) {
    const std::string value = settings().as_text(spec.key);
    const bool limit = spec.key == "cap";
    if ((spec.role == record::ParamRole::kRun && !limit) || !settings().in_use(spec.key)) continue;
    if (value != first.as_text(spec.key)) command += fmt::format(" --of {}={}", spec.key, value);
  }
  if (const predict::Card* const card = chosen_card()) command += fmt::format(" --card \"{}\"", card->name);
  return command + " --out figures --format svg";
}

}  // namespace headroom::app::page
