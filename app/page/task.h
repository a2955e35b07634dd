// The page's task: the distance to its goal, and whether it was reached. No drawing.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/plan/predictions.h"
#include "app/common/plan/step_plan.h"
#include "app/page/runs.h"
#include "lessons/pages/blocks/task.h"
#include "lessons/pages/numbers/live_numbers.h"
#include "lessons/pages/page.h"
#include "lessons/pages/words.h"

namespace headroom::app::page {

class Task {
 public:
  enum class State {
    kNone,
    kOpen,
    kReached,  // final
  };
  struct Peak {
    record::Bytes bytes = 0;
    std::string_view by;  // "measured"
  };
  struct Around {
    record::Params settings;  // of train_step
    record::DeviceKind device = record::DeviceKind::kGpu;
    std::optional<Peak> peak;            // if already known, for example from a rung
    std::span<const RunOnShow> runs;     // take precedence over predictions
    Predictions* predictions = nullptr;  // not owned; null: the closed form, because of `why_none`
    std::string why_none;
    lessons::NumberInput numbers;
  };

  // `spec` must outlive this; null: no task.
  explicit Task(const lessons::TaskBlock* spec) : spec_(spec), state_(spec == nullptr ? State::kNone : State::kOpen) {}

  State state() const { return state_; }
  bool open() const { return state_ == State::kOpen; }
  // "24 GiB: 2.1 GiB too much (predicted)"; empty: not checked yet, or reached.
  const std::string& progress() const { return progress_; }
  // The text shown once reached; and the source of its numbers, "predicted".
  const lessons::MarkedText& done() const { return done_; }
  const std::string& shown_by() const { return shown_by_; }

  // Detects changes of Around without building it.
  struct Sign {
    const record::Recording* on_show = nullptr;
    std::size_t runs = 0;
    const Predictions* predictions = nullptr;

    bool operator==(const Sign&) const = default;
  };
  // Call when predictions may have arrived.
  void hear_news() { heard_ = true; }
  // True if follow() has anything new to check.
  bool wants(const record::Params& settings, const Sign& sign);
  // Pending predictions need another call. True if progress() changed.
  bool follow(const Around& around);
  void forget() { planner_.reset(); }  // call before the predictions are destroyed

  // The state as saved in a file; empty: not reached. recall() restores a reached task; false: invalid words.
  std::string remembered() const;
  bool recall(const std::string& words);

 private:
  std::string look(const Around& around);  // what is missing; empty: nothing
  std::string unset(const record::Params& settings) const;
  std::string above_peak(const Around& around);
  std::string not_on_card(const Around& around);
  struct OnCard {
    std::string trouble;  // empty: it fits
    std::string_view by;
  };
  // Empty: pending.
  std::optional<OnCard> on_card(const Around& around, const record::Params& settings);
  std::optional<StepPlanner::OnCard> computed(const record::Params& settings);
  void reach(const lessons::NumberInput& numbers);
  void say_done();

  const lessons::TaskBlock* spec_;
  State state_;
  std::string progress_, shown_by_;
  lessons::MarkedText done_;
  std::vector<std::string> numbers_;
  std::optional<Sign> seen_;
  record::Params seen_settings_, looked_at_;
  const Predictions* asked_ = nullptr;
  std::unique_ptr<StepPlanner> planner_;  // for looked_at_
  bool waits_ = false, heard_ = false;
};

}  // namespace headroom::app::page
