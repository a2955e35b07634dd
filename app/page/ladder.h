// The reader's ladder: ordered switches, on or off, and each rung's memory, measured if possible, else predicted.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/common/plan/predictions.h"
#include "app/common/sweep_plan.h"
#include "app/page/runs.h"
#include "demos/record/recording.h"

namespace headroom::app::page {

class Ladder {
 public:
  struct Switch {
    std::string id;
    bool on = true;

    bool operator==(const Switch&) const = default;
  };
  struct Made {
    std::shared_ptr<const record::Recording> recording;
    std::string source;  // see source_of()

    bool operator==(const Made&) const = default;
  };
  struct Around {
    record::Params settings;  // the ladder sets the techniques
    record::DeviceKind device = record::DeviceKind::kCpu;
    std::vector<Made> runs;                             // in order of precedence
    std::shared_ptr<const record::Recording> climbing;  // the ladder in progress; null: none
    bool hidden = false;                                // compute only the first rung
    Predictions* predictions = nullptr;                 // not owned; null: the closed form
    std::string why_none;

    bool operator==(const Around&) const = default;
  };

  Ladder();
  ~Ladder();
  Ladder(const Ladder&) = delete;
  Ladder& operator=(const Ladder&) = delete;

  const std::vector<Switch>& switches() const { return switches_; }
  void move(std::size_t from, std::size_t to);
  void turn(std::size_t place);
  // Takes the recorded ladder's order. Switches that it lacks follow the others and are off.
  void take_order(const record::Recording& ladder);

  // The rung's run while a ladder runs here; null: none. The page follows.
  void note_running(std::shared_ptr<const record::Recording> run) { running_ = std::move(run); }
  // While a ladder runs, other rungs are predicted, not taken from runs that may be of another machine. True if rungs()
  // changed.
  bool follow(const Around& around);
  // Points for the first rung and each switch, in order. A point has the outcome kCancelled with a message if its
  // switch is off, and without one while the result is unknown. The recording has an outcome once all points are known.
  // Null before follow().
  std::shared_ptr<const record::Recording> rungs() const { return recording_; }
  // The last completed rung; empty if any rung is unknown or ran out of memory.
  struct Last {
    record::Params settings;
    record::Bytes peak = 0;
    std::string_view by;  // "measured"
  };
  std::optional<Last> last() const;
  // Why some rungs use the closed form.
  const std::string& why_formula() const { return why_formula_; }
  // The first rung, and one per switch that is on.
  record::Result<SweepPlan> plan() const;
  // The settings with the switches up to this one; empty if it is off or conflicts.
  std::optional<record::Params> settings_to(std::size_t place) const;
  // Why the switch conflicts with those above it; empty: it does not, or is off.
  std::string why_not(std::size_t place) const;

 private:
  struct Row {
    PlannedPoint planned;
    bool on = true;
    std::optional<record::SweepPoint> known;
    bool climbed = false;  // the ladder in progress has reached this rung
  };

  void begin();
  bool fill();
  bool grow();
  void measure(Row& row) const;
  std::optional<record::SweepPoint> computed(const PlannedPoint& planned);
  record::SweepPoint by_closed_form(const PlannedPoint& planned, const std::string& why);
  const Row* running_row() const;
  record::SweepPoint running_point(const Row& row) const;
  void rebuild();
  record::RunInfo info() const;

  std::vector<Switch> switches_;
  std::optional<Around> around_;
  std::shared_ptr<const record::Recording> running_;
  RunOnShow growing_;            // the running rung's ledger
  bool climbs_ = false;          // rows_ were planned while a ladder runs
  std::vector<Switch> planned_;  // rows_ were planned with these
  std::vector<Row> rows_;
  std::map<std::map<std::string, std::string>, record::SweepPoint> answers_;
  std::string why_formula_;
  std::shared_ptr<const record::Recording> recording_;
};

}  // namespace headroom::app::page
