// The ladder as the reader climbs it: switches in an order, each on or off, and for each rung what it takes: measured
// where a run has its settings, else predicted.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/predictions.h"
#include "app/common/sweep_plan.h"
#include "demos/record/recording.h"

namespace headroom::app::page {

class Ladder {
 public:
  struct Switch {
    std::string id;
    bool on = true;

    bool operator==(const Switch&) const = default;
  };
  // What the rungs follow from, besides the switches.
  struct Around {
    record::Params settings;  // techniques in it do not count: the ladder switches them itself
    record::DeviceKind device = record::DeviceKind::kCpu;
    std::vector<std::shared_ptr<const record::Recording>> runs;  // those that count first, first
    std::shared_ptr<const record::Recording> climbing;           // the ladder that is being run; null: none is
    bool hidden = false;                                         // ask for the first rung only
    Predictions* predictions = nullptr;                          // not owned; null: the closed form takes their place
    std::string why_none;                                        // then; else why they have no answers now

    bool operator==(const Around&) const = default;
  };

  Ladder();
  ~Ladder();
  Ladder(const Ladder&) = delete;
  Ladder& operator=(const Ladder&) = delete;

  const std::vector<Switch>& switches() const { return switches_; }
  // The switch at one place goes to another; is turned over.
  void move(std::size_t from, std::size_t to);
  void turn(std::size_t place);
  // As a ladder that was recorded has them; what it lacks is off, behind the others.
  void take_order(const record::Recording& ladder);

  // True: rungs() is another.
  bool follow(const Around& around);
  // A point for the first rung and for each switch, in order: one that is off, or not known yet, is a point that was
  // cancelled, the latter without a message. It has an outcome once all are known. Null: before follow().
  std::shared_ptr<const record::Recording> rungs() const { return recording_; }
  // The last rung that is climbed: nothing while it is not known, or where one ran out of memory.
  struct Last {
    record::Params settings;
    record::Bytes peak = 0;
    std::string_view by;  // "measured"
  };
  std::optional<Last> last() const;
  // Why rungs are by the closed form and not predicted; empty: none is.
  const std::string& why_formula() const { return why_formula_; }
  // What the switches that are on would run.
  record::Result<SweepPlan> plan() const;
  // Why the switch does not go with those above it; empty: it does, or is off.
  std::string why_not(std::size_t place) const;

 private:
  struct Row {
    PlannedPoint planned;
    bool on = true;
    std::optional<record::SweepPoint> known;
    bool climbed = false;  // by the ladder that is being run
  };

  void begin();
  bool fill();
  void measure(Row& row) const;
  std::optional<record::SweepPoint> computed(const PlannedPoint& planned);
  record::SweepPoint by_closed_form(const PlannedPoint& planned, const std::string& why);
  void rebuild();
  record::RunInfo info() const;

  std::vector<Switch> switches_;
  std::optional<Around> around_;
  std::vector<Switch> planned_;  // the switches that rows_ were planned with
  std::vector<Row> rows_;
  std::map<std::map<std::string, std::string>, record::SweepPoint> answers_;  // predicted, by settings
  std::string why_formula_;
  std::shared_ptr<const record::Recording> recording_;
};

}  // namespace headroom::app::page
