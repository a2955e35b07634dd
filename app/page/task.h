// The page's task: how far what is on show is from its goal, and that it was reached. Knows nothing of how it is drawn.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/predictions.h"
#include "app/common/step_plan.h"
#include "app/page/run_on_show.h"
#include "lessons/pages/live_numbers.h"
#include "lessons/pages/page.h"
#include "lessons/pages/words.h"

namespace headroom::app::page {

class Task {
 public:
  enum class State {
    kNone,  // the page sets none
    kOpen,
    kReached,  // and stays so
  };
  struct Peak {
    record::Bytes bytes = 0;
    std::string_view by;  // "measured"
  };
  // What is on show, and what knows about it.
  struct Around {
    record::Params settings;  // of train_step
    record::DeviceKind device = record::DeviceKind::kGpu;
    std::optional<Peak> peak;            // where something other than a run has it, as a rung; else it is looked for
    std::span<const RunOnShow> runs;     // those with these settings count before what is predicted
    Predictions* predictions = nullptr;  // not owned; null: the closed form takes their place, and `why_none` says why
    std::string why_none;
    lessons::NumberInput numbers;  // of what is on show
  };

  // `spec` outlives this; null: no task.
  explicit Task(const lessons::TaskBlock* spec) : spec_(spec), state_(spec == nullptr ? State::kNone : State::kOpen) {}

  State state() const { return state_; }
  bool open() const { return state_ == State::kOpen; }
  // How far it is, a line: "24 GiB: 2.10 GiB too much, predicted". Empty: not looked at yet.
  const std::string& progress() const { return progress_; }
  // What is said once it is reached, with the numbers of that moment; and what showed it: "predicted".
  const lessons::MarkedText& done() const { return done_; }
  const std::string& shown_by() const { return shown_by_; }

  // What Around follows from beside the settings, without its cost: what is on show, how many runs, who predicts.
  struct Sign {
    const record::Recording* on_show = nullptr;
    std::size_t runs = 0;
    const Predictions* predictions = nullptr;

    bool operator==(const Sign&) const = default;
  };
  // An answer may have come.
  void hear_news() { heard_ = true; }
  // Whether follow() has anything to look at that it has not seen.
  bool wants(const record::Params& settings, const Sign& sign);
  // Looks again; an answer that is on its way comes at a later call. True: what it says is another.
  bool follow(const Around& around);
  void forget() { planner_.reset(); }  // what it asked: what answers is about to go

  // That it was reached, in a few words for a file; empty: it was not. And reached again from them; false: they are none.
  std::string remembered() const;
  bool recall(const std::string& words);

 private:
  std::string look(const Around& around);  // what is missing; empty: nothing
  std::string unset(const record::Params& settings) const;
  std::string above_peak(const Around& around);
  std::string not_on_card(const Around& around);
  struct OnCard {
    std::string trouble;  // why it does not fit; empty: it fits
    std::string_view by;
  };
  // Nothing: on its way.
  std::optional<OnCard> on_card(const Around& around, const record::Params& settings);
  std::optional<StepPlanner::OnCard> computed(const record::Params& settings);
  void reach(const lessons::NumberInput& numbers);
  void say_done();

  const lessons::TaskBlock* spec_;
  State state_;
  std::string progress_, shown_by_;
  lessons::MarkedText done_;
  std::vector<std::string> numbers_;  // of done_, in its order
  std::optional<Sign> seen_;
  record::Params seen_settings_, looked_at_;
  const Predictions* asked_ = nullptr;
  std::unique_ptr<StepPlanner> planner_;  // of those settings
  bool waits_ = false, heard_ = false;
};

}  // namespace headroom::app::page
