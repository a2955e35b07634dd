// Predicts steps and searches for the largest that fit.
#include "app/common/plan/step_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "demos/experiments/attention_taken.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/info/train_step_model.h"
#include "demos/predict/allocator/more_micro_batches.h"
#include "demos/predict/forms/form_recording.h"
#include "demos/predict/optimizers.h"
#include "demos/predict/step_settings.h"
#include "demos/record/ledger.h"

namespace headroom::app {

using record::Bytes;
using record::Params;

namespace {

const record::ParamSpec& spec_of(const Params& params, std::string_view key) {
  return *record::find_spec(params.schema(), key);
}

// Fills in the peaks of `run`, which must have no memory limit.
void describe(StepPlan& plan, const record::Recording& run) {
  const record::Ledger ledger(run);
  const record::Peak peak = ledger.peak();
  plan.requested = ledger.peak_requested();
  plan.allocated = peak.totals.allocated;
  plan.reserved = ledger.peak_reserved();
  plan.by_category = peak.totals.by_category;
  if (run.events().empty()) return;
  const record::MemEvent& event = run.events()[peak.event];
  plan.phase = event.phase;
  plan.layer = event.layer;
  plan.op = run.op_name(event.op);
}

void describe(StepPlan& plan, const predict::ClosedForm& form) {
  plan.left_out = form.left_out;
  plan.assumed = form.assumed;
  plan.by_category = form.peak().bytes;
  plan.requested = plan.allocated = record::total(plan.by_category);
  plan.phase = form.peak().phase;
}

std::optional<std::string> refused(const Params& params) {
  if (auto combination = experiments::refused_combination(params, record::DeviceKind::kGpu)) return combination;
  const auto model = experiments::train_step_model(predict::step_settings(params));
  return model ? std::nullopt : std::optional(model.error().message);
}

predict::ClosedForm form_of(const Params& params) {
  predict::StepSettings settings = predict::step_settings(params);
  const auto model = experiments::described_model(settings);
  if (!model) return predict::closed_form(settings);
  settings.model = model.value().config;
  settings.extension = model.value().extension;
  predict::ClosedForm form = predict::closed_form(settings);
  const auto append = [](std::vector<std::string>& all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  append(form.assumed, model.value().assumed);
  append(form.left_out, model.value().left_out);
  return form;
}

// Why no run supports this model; empty if a run does, or if the model's file is on another machine.
std::string why_beyond_step(const Params& params) {
  const auto model = experiments::described_model(predict::step_settings(params));
  return model ? model.value().beyond_step : "";
}

// Leaves the plan's model unknown if its file is on another machine.
void describe_model(StepPlan& plan) {
  const auto model = experiments::described_model(predict::step_settings(plan.params));
  if (!model) return;
  plan.parameters = llama::num_parameters(model.value().config, model.value().extension);
  if (!plan.params.text("weights").empty()) plan.shape = predict::shape_facts(model.value().config);
}

struct Answer {
  std::int64_t value = 0;
  record::Bytes bytes = 0;
};

// Returns the value at which the line through both answers reaches `limit`, or `high` if the line does not rise.
std::int64_t crossing(const Answer& a, const Answer& b, record::Bytes limit, std::int64_t high) {
  const double rise = static_cast<double>(b.bytes - a.bytes) / static_cast<double>(b.value - a.value);
  if (!(rise > 0)) return high;
  const double at = static_cast<double>(b.value) + static_cast<double>(limit - b.bytes) / rise;
  return at >= static_cast<double>(high) ? high : static_cast<std::int64_t>(std::floor(at));
}

}  // namespace

std::optional<std::int64_t> largest_that_fits(std::int64_t low, std::int64_t high, record::Bytes limit,
                                              const std::function<std::optional<Needed>(std::int64_t)>& needed) {
  constexpr int kHalving = 4;  // every fourth query halves the range, in case bytes do not grow linearly
  std::int64_t fits = low - 1, fails = high + 1;
  std::optional<Answer> last, before;
  for (int question = 0; fits + 1 < fails; ++question) {
    std::int64_t next = question == 0 ? low : std::min(high, 2 * low);
    if (before && question % kHalving != 0)
      next = crossing(*before, *last, limit, high);
    else if (before)
      next = fits + (fails - fits) / 2;
    next = std::clamp(next, fits + 1, fails - 1);
    const std::optional<Needed> answer = needed(next);
    if (!answer) return std::nullopt;
    (answer->fits ? fits : fails) = next;
    before = last;
    last = Answer{next, answer->bytes};
  }
  return fits;
}

PlannedCard with_communicators(PlannedCard card, const Params& params) {
  if (card.process.bytes == 0) return card;
  card.process = predict::with_communicators(card.process, predict::step_settings(params).parallel);
  return card;
}

Params settings_on(const PlannedCard& card, const Params& params) {
  if (!card.compute_capability) return params;
  return experiments::with_attention_taken(params, record::DeviceKind::kGpu, card.compute_capability);
}

std::string largest_text(const Params& params, std::string_view key, std::int64_t largest) {
  const bool at_end = static_cast<double>(largest) >= spec_of(params, key).maximum;
  return record::format_count(largest) + (at_end ? " or more" : "");
}

std::optional<predict::ClosedForm> closed_form_of(const Params& train_step) {
  if (refused(train_step)) return std::nullopt;
  return form_of(train_step);
}

StepPlanner::~StepPlanner() {
  if (predictions_ != nullptr && answers_ == Answers::kAtOnce) predictions_->drop(this);
}

Bytes StepPlanner::Step::bytes() const { return form ? record::total(form->peak().bytes) : fits->reserved(); }

predict::Fit StepPlanner::Step::on(const PlannedCard& card) const {
  if (!form) return fits->on(card.memory, card.process);
  return predict::fit_of_closed_form(bytes(), card.memory, card.process, beyond_step);
}

// A run whose prediction suffices for a plan.
PlannedRun StepPlanner::planned(const Params& params) {
  const predict::StepSettings step = predict::step_settings(params);
  return {.demo = std::string(experiments::training_step().id),
          .params = with_every_kind_of_step(params),
          .few_micro_batches = predict::traced_micro_batches(step) < step.micro_batches};
}

StepPlanner::Step StepPlanner::answer(const Params& params) const {
  Step step;
  if (std::string why = why_beyond_step(params); !why.empty()) {
    if (auto combination = experiments::refused_combination(params, record::DeviceKind::kGpu)) {
      step.refusal = *std::move(combination);
      return step;
    }
    step.beyond_step = true;
    step.why_formula = std::move(why);
    step.form = form_of(params);
    return step;
  }
  if (predictions_ != nullptr) {
    const PlannedRun run = planned(params);
    step.prediction =
        answers_ == Answers::kWhenComplete ? predictions_->wait(run, stop_) : predictions_->ask(this, run);
    if (step.prediction == nullptr) {
      waits_ = true;
      return step;
    }
    if (*step.prediction) {
      step.fits = std::make_unique<predict::FitTest>(step.prediction->requests, step.prediction->recording);
      return step;
    }
  }
  const std::string& said = predictions_ == nullptr ? why_not_ : step.prediction->refusal;
  if (const auto settings = refused(params)) {
    step.refusal = predictions_ == nullptr ? *settings : said;
    return step;
  }
  step.why_formula = said;
  step.form = form_of(params);
  return step;
}

const StepPlanner::Step* StepPlanner::step(const Params& params) {
  auto [known, fresh] = steps_.try_emplace(params.to_map());
  if (fresh) known->second = answer(params);
  const Step& step = known->second;
  const bool stopped = step.refusal.empty() && step.fits == nullptr && !step.form;
  if (stopped) steps_.erase(known);
  return stopped ? nullptr : &known->second;
}

std::optional<std::int64_t> StepPlanner::largest(const Params& params, const std::string& key,
                                                 const PlannedCard& bare) {
  const PlannedCard card = with_communicators(bare, params);
  const record::ParamSpec& spec = spec_of(params, key);
  const Bytes limit = card.memory - card.process.bytes - card.process.margin;
  const auto low = static_cast<std::int64_t>(spec.minimum), high = static_cast<std::int64_t>(spec.maximum);
  std::optional<bool> by_formula;
  const auto needed = [&](std::int64_t value) -> std::optional<Needed> {
    Params changed = params;
    if (!changed.set(key, value)) return std::nullopt;
    const Step* const asked = step(settings_on(card, changed));
    if (asked == nullptr || !asked->refusal.empty()) return std::nullopt;
    // If the planner dies, the closed form answers; the two must not be mixed.
    if (by_formula.value_or(asked->form.has_value()) != asked->form.has_value()) return std::nullopt;
    by_formula = asked->form.has_value();
    return Needed{.bytes = asked->bytes(), .fits = asked->on(card).verdict == predict::Verdict::kFits};
  };
  const auto found = largest_that_fits(low, high, limit, needed);
  return found && *found < low ? std::optional<std::int64_t>(0) : found;
}

std::optional<StepPlanner::OnCard> StepPlanner::on_card(const Params& params, const PlannedCard& bare) {
  const PlannedCard card = with_communicators(bare, params);
  const Step* const asked = step(settings_on(card, params));
  if (asked == nullptr) return std::nullopt;
  OnCard on{*asked};
  if (!on.refusal.empty()) return on;
  on.allocated = asked->form ? asked->bytes() : asked->fits->allocated();
  on.fit = asked->on(card);
  return on;
}

record::Recording StepPlanner::recording(const Params& params) {
  const Step* const asked = step(params);
  if (asked == nullptr) return {};
  if (asked->form) return predict::recording_of(*asked->form, params);
  PlannedRun run = planned(params);
  if (!std::exchange(run.few_micro_batches, false)) return *asked->prediction->recording;
  const auto whole = predictions_->wait(run, stop_);
  return whole != nullptr && *whole ? *whole->recording : record::Recording();
}

std::optional<StepPlan> StepPlanner::plan(const Params& params, const std::vector<PlannedCard>& cards) {
  waits_ = false;
  const Step* const asked = step(cards.empty() ? params : settings_on(cards.front(), params));
  if (asked == nullptr) return std::nullopt;
  StepPlan plan;
  static_cast<StepAnswer&>(plan) = *asked;
  plan.params = params;
  describe_model(plan);
  if (!plan.refusal.empty()) return plan;
  if (asked->form)
    describe(plan, *asked->form);
  else
    describe(plan, *asked->prediction->recording);
  for (const PlannedCard& bare : cards) {
    const PlannedCard card = with_communicators(bare, params);
    const Step* const there = step(settings_on(card, params));
    if (there == nullptr) return std::nullopt;
    CardPlan& on = plan.cards.emplace_back(CardPlan{.card = card, .fit = there->on(card)});
    if (!waits_) on.largest_batch = largest(params, "batch", bare);  // one question at a time
    if (!waits_) on.largest_sequence = largest(params, "seq", bare);
    if (stop_ && stop_()) return std::nullopt;
  }
  return plan;
}

}  // namespace headroom::app
