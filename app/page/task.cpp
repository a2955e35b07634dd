// Checks settings first, then their memory.
#include "app/page/task.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/common/plan/evidence.h"
#include "demos/experiments/demo.h"
#include "demos/record/text.h"

namespace headroom::app::page {

using record::Bytes;
using record::OutcomeKind;
using record::Params;

namespace {

constexpr std::string_view kReached = "reached", kBetween = "; ", kMeasured = "measured";
constexpr std::string_view kOnItsWay = "Predicting …";
constexpr std::size_t kMostNamed = 3;  // missing settings in a list

bool ended_in(const record::Recording& run, OutcomeKind kind) { return run.outcome() && run.outcome()->kind == kind; }

bool is_evidence_for(const RunOnShow& run, const Params& settings, const Task::Around& around) {
  return is_evidence(*run.recording, experiments::training_step().id, settings, around.device);
}

// The measured peak of a completed run, whatever its limit.
std::optional<Task::Peak> measured_peak(const Task::Around& around) {
  for (const RunOnShow& run : around.runs) {
    if (!ended_in(*run.recording, OutcomeKind::kCompleted) || !is_evidence_for(run, around.settings, around)) continue;
    if (const auto step = record::last_whole_step(*run.recording))
      return Task::Peak{run.ledger->peak(step->first, step->last).totals.allocated, kMeasured};
  }
  return std::nullopt;
}

// Whether a run under exactly this limit completed; empty: no such run.
std::optional<bool> ran_under(Bytes limit, Params settings, const Task::Around& around) {
  if (!settings.set("cap", record::ParamValue(limit))) return std::nullopt;
  for (const RunOnShow& run : around.runs) {
    if (run.recording->info().cap != limit || !is_evidence_for(run, settings, around)) continue;
    if (ended_in(*run.recording, OutcomeKind::kCompleted)) return true;
    if (ended_in(*run.recording, OutcomeKind::kOutOfMemory)) return false;
  }
  return std::nullopt;
}

std::string counted(const Params& params, std::string_view key) {
  const record::ParamSpec* const spec = record::find_spec(params.schema(), key);
  return fmt::format("{} {}", record::in_lower_case(spec->label), record::format_count(params.integer(key)));
}

// "24 GiB: 2.1 GiB too much", or a refusal; empty: it fits.
std::string trouble_of(const StepPlanner::OnCard& step, const std::string& card) {
  if (!step.refusal.empty()) return step.refusal;
  if (step.fit.verdict == predict::Verdict::kFits) return {};
  if (step.fit.verdict == predict::Verdict::kTooClose) return fmt::format("{}: too close to tell", card);
  return fmt::format("{}: {} too much", card, record::format_bytes(step.fit.reserved - step.fit.limit, 1));
}

std::string_view source_of(const StepPlanner::OnCard& step) {
  return step.why_formula.empty() ? "predicted" : "by closed form";
}

// Without a card in the goal, everything fits.
PlannedCard planned(const std::optional<lessons::TaskCard>& card) {
  if (!card) return {.name = {}, .memory = 1024 * record::kGiB, .process = {}};
  return {.name = card->name,
          .memory = card->memory,
          .process = card->process,
          .compute_capability = card->compute_capability};
}

}  // namespace

bool Task::wants(const record::Params& settings, const Sign& sign) {
  const bool same = seen_ && *seen_ == sign && seen_settings_ == settings, news = std::exchange(heard_, false);
  if (!same) seen_ = sign, seen_settings_ = settings;
  return !same || (waits_ && news);
}

bool Task::follow(const Around& around) {
  if (!open()) return false;
  if (planner_ == nullptr || asked_ != around.predictions || !(looked_at_ == around.settings)) {
    looked_at_ = around.settings;
    asked_ = around.predictions;
    planner_ =
        std::make_unique<StepPlanner>(around.predictions, around.why_none, nullptr, StepPlanner::Answers::kAtOnce);
  }
  waits_ = false;
  shown_by_.clear();
  const std::string before = std::exchange(progress_, look(around));
  if (progress_.empty()) reach(around.numbers);
  if (!waits_) planner_->forget();
  return progress_ != before;
}

std::string Task::look(const Around& around) {
  if (std::string missing = unset(around.settings); !missing.empty()) return missing;
  if (std::string missing = above_peak(around); !missing.empty()) return missing;
  return not_on_card(around);
}

std::string Task::unset(const Params& settings) const {
  std::vector<std::string> missing;
  for (const lessons::TaskSetting& wanted : spec_->goal.settings)
    if (!lessons::holds(wanted, settings)) missing.push_back(lessons::words_of(wanted, settings.schema()));
  if (missing.empty()) return {};
  std::string words = "Still to set: ";
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i) words += (i == 0 ? "" : "; ") + missing[i];
  return missing.size() <= kMostNamed ? words : fmt::format("{}; and {} more", words, missing.size() - kMostNamed);
}

std::optional<StepPlanner::OnCard> Task::computed(const Params& settings) {
  Params without_limit = settings;  // the card is the limit
  (void)without_limit.set("cap", record::ParamValue(std::int64_t{0}));
  auto answer = planner_->on_card(without_limit, planned(spec_->goal.fits));
  waits_ = waits_ || !answer;
  return answer;
}

std::string Task::above_peak(const Around& around) {
  if (!spec_->goal.peak) return {};
  std::optional<Peak> peak = around.peak ? around.peak : measured_peak(around);
  if (!peak) {
    const auto step = computed(around.settings);
    if (!step) return std::string(kOnItsWay);
    if (!step->refusal.empty()) return step->refusal;
    peak = Peak{step->allocated, source_of(*step)};
  }
  shown_by_ = peak->by;
  const Bytes most = *spec_->goal.peak;
  if (peak->bytes <= most) return {};
  return fmt::format("Peak {}: {} above {} ({})", record::format_bytes(peak->bytes, 1),
                     record::format_bytes(peak->bytes - most, 1), record::format_bytes(most, 1), shown_by_);
}

std::optional<Task::OnCard> Task::on_card(const Around& around, const Params& settings) {
  const lessons::TaskCard& card = *spec_->goal.fits;
  if (const auto ran = ran_under(card.memory - card.process.bytes, settings, around))
    return OnCard{*ran ? "" : fmt::format("{}: out of memory", card.name), kMeasured};
  const auto step = computed(settings);
  if (!step) return std::nullopt;
  return OnCard{trouble_of(*step, card.name), source_of(*step)};
}

std::string Task::not_on_card(const Around& around) {
  const lessons::TaskGoal& goal = spec_->goal;
  if (!goal.fits) return {};
  const auto here = on_card(around, around.settings);
  if (!here) return std::string(kOnItsWay);
  shown_by_ = here->by;
  if (!here->trouble.empty()) return fmt::format("{} ({})", here->trouble, here->by);
  Params more = around.settings;
  if (goal.largest.empty() || !more.set(goal.largest, record::ParamValue(more.integer(goal.largest) + 1))) return {};
  const auto next = on_card(around, more);
  if (!next) return fmt::format("{}: fits; is {} too much?", goal.fits->name, counted(more, goal.largest));
  if (!next->trouble.empty()) return {};
  return fmt::format("{}: fits, but {} fits as well ({})", goal.fits->name, counted(more, goal.largest), next->by);
}

void Task::reach(const lessons::NumberInput& numbers) {
  state_ = State::kReached;
  numbers_ = lessons::number_texts(spec_->done, numbers);
  say_done();
}

// Fills in the numbers from the moment at which the task was reached.
void Task::say_done() { done_ = lessons::mark_links(lessons::with_texts(spec_->done, numbers_)); }

std::string Task::remembered() const {
  if (state_ != State::kReached) return {};
  std::string words = fmt::format("{}{}{}", kReached, kBetween, shown_by_);
  for (const std::string& number : numbers_) words.append(kBetween).append(number);
  return words;
}

bool Task::recall(const std::string& words) {
  std::vector<std::string> fields;
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(kBetween, at), words.size());
    fields.push_back(words.substr(at, end - at));
    at = end + kBetween.size();
  }
  if (!open() || fields.size() < 2 || fields[0] != kReached) return false;
  state_ = State::kReached;
  shown_by_ = fields[1];
  numbers_.assign(fields.begin() + 2, fields.end());
  say_done();
  return true;
}

}  // namespace headroom::app::page
