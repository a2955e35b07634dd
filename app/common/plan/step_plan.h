// Plans a training step before it runs: its memory, the cards that it fits on, and its largest batch and sequence.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/plan/predictions.h"
#include "demos/predict/fits.h"
#include "demos/predict/forms/closed_form.h"
#include "demos/predict/optimizers.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::app {

struct PlannedCard {
  std::string name;          // "GeForce RTX 4090", or "24.00 GiB"
  record::Bytes memory = 0;  // as the driver reports it
  predict::ProcessBytes process;
  std::optional<double> compute_capability = {};  // 9.0 on an H100
};

// Adds what NCCL takes from the card if the step has several ranks. A limit on the allocator, and a CPU, have no process.
PlannedCard with_communicators(PlannedCard card, const record::Params& train_step);

// Resolves attention=auto for that card. If the card's capability is unknown, the planner uses that of its own machine.
record::Params settings_on(const PlannedCard& card, const record::Params& train_step);

struct CardPlan {
  PlannedCard card;
  predict::Fit fit;
  // 0: nothing fits. Empty: a step of the search was refused.
  std::optional<std::int64_t> largest_batch;     // at this sequence length
  std::optional<std::int64_t> largest_sequence;  // at this batch
};

struct StepAnswer {
  std::string refusal;       // if set, nothing else is known
  std::string why_formula;   // why the closed form gave the numbers; empty: predicted
  bool beyond_step = false;  // no run supports this model, so none can confirm the closed form
};

struct StepPlan : StepAnswer {
  record::Params params;
  std::vector<std::string> left_out;  // parts that the closed form ignores
  std::vector<std::string> assumed;   // assumptions about parts that our step lacks
  std::int64_t parameters = 0;        // 0: unknown
  // Dimensions from a config.json, as in a run's provenance (predict::shape_facts).
  std::map<std::string, std::string> shape;
  // The peaks on the first card.
  record::Bytes requested = 0, allocated = 0;
  record::Bytes reserved = 0;        // 0: unknown
  record::ByCategory by_category{};  // adds up to `allocated`
  record::Phase phase{};             // phase of the allocated peak, as are layer and op
  std::uint16_t layer = record::kNoLayer;
  std::string op;
  std::vector<CardPlan> cards;
};

struct Needed {
  record::Bytes bytes = 0;
  bool fits = false;
};

// Returns the largest value in low … high that fits; low − 1 if none does; empty if `needed` cannot answer. Assumes
// that all smaller values fit, too. Each query is where the line through the last two answers meets `limit`. Bytes grow
// almost linearly, so five queries are typical.
std::optional<std::int64_t> largest_that_fits(std::int64_t low, std::int64_t high, record::Bytes limit,
                                              const std::function<std::optional<Needed>(std::int64_t)>& needed);

// "5"; "256 or more" if the search reached its upper end.
std::string largest_text(const record::Params& params, std::string_view key, std::int64_t largest);

// The closed form, for settings that no engine can predict; empty if no run accepts them.
std::optional<predict::ClosedForm> closed_form_of(const record::Params& train_step);

// Caches one service's answers across cards. The closed form answers if the engine cannot, and for models that our step
// does not support.
class StepPlanner {
 public:
  enum class Answers { kWhenComplete, kAtOnce };

  // `predictions` is not owned; if null, `why_not` says why. `stop` ends a plan early; see Predictions::wait().
  StepPlanner(Predictions* predictions, std::string why_not, std::function<bool()> stop = {},
              Answers answers = Answers::kWhenComplete)
      : predictions_(predictions), why_not_(std::move(why_not)), stop_(std::move(stop)), answers_(answers) {}
  ~StepPlanner();
  StepPlanner(const StepPlanner&) = delete;
  StepPlanner& operator=(const StepPlanner&) = delete;

  // True if the last call's answer is pending; call again after Predictions::poll().
  bool waits() const { return waits_; }
  // Frees the answers, some megabytes each; the next plan asks again.
  void forget() { steps_.clear(); }

  // `params`: `train_step` on a GPU. Empty if stopped or pending; the largest values may follow later.
  std::optional<StepPlan> plan(const record::Params& params, const std::vector<PlannedCard>& cards);
  // The recording that plan() described, with all micro-batches. Waits for it; empty if stopped.
  record::Recording recording(const record::Params& params);
  // Like plan() for one card, without the largest values.
  struct OnCard : StepAnswer {
    record::Bytes allocated = 0;  // at the peak
    predict::Fit fit = {};
  };
  std::optional<OnCard> on_card(const record::Params& params, const PlannedCard& card);
  // The largest batch or seq, as in CardPlan; also empty if stopped.
  std::optional<std::int64_t> largest(const record::Params& params, const std::string& key, const PlannedCard& card);

 private:
  struct Step : StepAnswer {
    std::shared_ptr<const Prediction> prediction;
    std::unique_ptr<predict::FitTest> fits;
    std::optional<predict::ClosedForm> form;  // set if there is no prediction

    record::Bytes bytes() const;
    predict::Fit on(const PlannedCard& card) const;
  };

  static PlannedRun planned(const record::Params& params);
  const Step* step(const record::Params& params);  // null: stopped
  Step answer(const record::Params& params) const;

  Predictions* predictions_;
  std::string why_not_;
  std::function<bool()> stop_;
  Answers answers_;
  mutable bool waits_ = false;
  std::map<std::map<std::string, std::string>, Step> steps_;  // by settings
};

}  // namespace headroom::app
