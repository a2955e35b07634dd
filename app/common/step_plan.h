// A training step before it runs: what it will take, on which cards it fits, and up to which batch and sequence.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/predictions.h"
#include "demos/predict/closed_form.h"
#include "demos/predict/fits.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::app {

struct PlannedCard {
  std::string name;          // "GeForce RTX 4090", or its size: "24.00 GiB"
  record::Bytes memory = 0;  // as the driver reports it
  predict::ProcessBytes process;
  std::optional<double> compute_capability = {};  // 9.0; nothing: not known
};

// With what attention=auto is on that card. Where its capability is not known the planner takes its own machine's.
record::Params settings_on(const PlannedCard& card, const record::Params& train_step);

struct CardPlan {
  PlannedCard card;
  predict::Fit fit;
  // 0: not even the least. Nothing: a step on the way there was refused.
  std::optional<std::int64_t> largest_batch;     // at this sequence
  std::optional<std::int64_t> largest_sequence;  // at this batch
};

struct StepPlan {
  record::Params params;
  std::string refusal;  // one sentence, and nothing below is known; empty: none
  // Empty: predicted. Else the numbers are the closed form's, and this sentence says why.
  std::string why_formula;
  // Whether no run takes this model, so that the closed form was compared with none.
  bool beyond_step = false;
  std::vector<std::string> left_out;  // what the closed form does not know, a short phrase each
  std::vector<std::string> assumed;   // of what the step here does not have
  std::int64_t parameters = 0;        // 0: not known
  // Of a model that a config.json describes: its lengths, as a run's provenance has them (predict::shape_facts).
  std::map<std::string, std::string> shape;
  // Of the first card.
  record::Bytes requested = 0, allocated = 0;
  record::Bytes reserved = 0;        // 0: not known
  record::ByCategory by_category{};  // adds up to `allocated`
  record::Phase phase{};             // of the peak, as are the next two
  std::uint16_t layer = record::kNoLayer;
  std::string op;
  std::vector<CardPlan> cards;
};

// "5"; "256 or more": the search ends at the largest value that can be set.
std::string largest_text(const record::Params& params, std::string_view key, std::int64_t largest);

// What settings take that no engine answers for; nothing where no run would take them, which the engine says better.
std::optional<predict::ClosedForm> closed_form_of(const record::Params& train_step);

// Asks one service; what it has asked for one card it does not ask again for the next. Where there is no engine, or it
// cannot answer, the closed form does; and for models that the step does not have.
class StepPlanner {
 public:
  // Whether a call waits for the service, or says what is known so far.
  enum class Answers { kWhenComplete, kAtOnce };

  // `predictions`: not owned; null: there is no engine, and `why_not` says why. `stop` ends a plan early: see
  // Predictions::wait().
  StepPlanner(Predictions* predictions, std::string why_not, std::function<bool()> stop = {},
              Answers answers = Answers::kWhenComplete)
      : predictions_(predictions), why_not_(std::move(why_not)), stop_(std::move(stop)), answers_(answers) {}
  ~StepPlanner();  // drops what it asked
  StepPlanner(const StepPlanner&) = delete;
  StepPlanner& operator=(const StepPlanner&) = delete;

  // Of the last call, at once: whether something that it asked for is on its way. Ask again after Predictions::poll().
  bool waits() const { return waits_; }
  // Lets go of what was answered, recordings of some megabytes each: the next plan asks anew.
  void forget() { steps_.clear(); }

  // `params` of `train_step` on a GPU. Nothing: stopped, or on its way; what is largest may follow later.
  std::optional<StepPlan> plan(const record::Params& params, const std::vector<PlannedCard>& cards);
  // The recording that a plan of these settings describes, with all micro-batches, after plan(): predicted, else the
  // closed form's. Waits for it; empty once `stop` ends that.
  record::Recording recording(const record::Params& params);
  // As plan() for one card, without what is largest.
  struct OnCard {
    std::string refusal, why_formula;
    bool beyond_step = false;     // as of plan()
    record::Bytes bytes = 0;      // as plan().reserved; by the closed form as plan().allocated
    record::Bytes allocated = 0;  // as plan().allocated
    predict::Fit fit;
  };
  std::optional<OnCard> on_card(const record::Params& params, const PlannedCard& card);
  // Of batch or seq, beside these settings; 0: not even the least. Nothing: a step on the way there was refused, or stopped.
  std::optional<std::int64_t> largest(const record::Params& params, const std::string& key, const PlannedCard& card);

 private:
  struct Step {
    std::string refusal, why_formula;
    bool beyond_step = false;
    std::shared_ptr<const Prediction> prediction;
    std::unique_ptr<predict::FitTest> fits;   // of the prediction
    std::optional<predict::ClosedForm> form;  // where there is none

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
