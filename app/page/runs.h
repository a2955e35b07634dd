// A page's runs, which one is shown, and run A.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/page/comparison.h"
#include "demos/record/ledger.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::app::page {

struct RunOnShow {
  enum class From : unsigned char { kPage, kEarlierStart, kReader, kSweep };

  std::shared_ptr<const record::Recording> recording;
  std::shared_ptr<record::Ledger> ledger;  // shared with run A if both are the same run
  From from = From::kPage;
  std::string name;      // file name without .hrec; empty: no file yet
  bool offered = false;  // true once Runs::take_unkept() has returned it
  std::string where;     // "H200", "CPU"; the reader's: "you, 12:04"
  std::string label;     // "Optimizer AdamW, 8-bit moments; Llama 3.2 1B, bf16, batch 4, 1,024 tokens"; may be empty

  bool is_readers() const { return from == From::kEarlierStart || from == From::kReader; }

  std::string words() const { return label.empty() ? where : where + ": " + label; }
};

// `names_sweep`: a sweep's label begins with "Sweep".
RunOnShow make_run(std::shared_ptr<const record::Recording> recording, RunOnShow::From from = RunOnShow::From::kPage,
                   bool names_sweep = false);

// "H200, stored"; of runs made here "here, 12:53".
std::string source_of(const RunOnShow& run);

// Updates the run's ledger, or replaces the run if the recording is another. True if anything changed.
bool follow(RunOnShow& run, const std::shared_ptr<const record::Recording>& recording);

// A run's result for one value of a setting.
struct SettingMark {
  enum class Kind : unsigned char { kRan, kFits, kOutOfMemory };

  double value = 0;
  Kind kind = Kind::kRan;  // the other kinds are results under the card's limit
};

struct MarkQuestion {
  std::string_view demo;
  record::DeviceKind device = record::DeviceKind::kCpu;
  record::Bytes limit = 0;  // 0: unknown
  bool running = false;     // the reader's last run is in progress

  bool operator==(const MarkQuestion&) const = default;
};

class Runs {
 public:
  explicit Runs(bool names_sweeps) : names_sweeps_(names_sweeps) {}

  // In order: the page's runs, those of earlier starts, the reader's, and the sweep.
  const std::vector<RunOnShow>& all() const { return runs_; }
  bool empty() const { return runs_.empty(); }
  std::size_t size() const { return runs_.size(); }
  const RunOnShow& operator[](int index) const { return runs_[static_cast<std::size_t>(index)]; }
  int revision() const { return revision_; }

  // Indices into all(); −1: none.
  int shown() const { return shown_; }
  int own() const { return own_; }      // the last run made here
  int sweep() const { return sweep_; }  // the sweep made here
  const RunOnShow* shown_run() const { return shown_ < 0 ? nullptr : &(*this)[shown_]; }
  const RunOnShow* own_run() const { return own_ < 0 ? nullptr : &(*this)[own_]; }
  bool shows_own() const { return own_ >= 0 && shown_ == own_; }
  bool is_sweep(int index) const { return !(*this)[index].recording->sweep_points().empty(); }
  bool shows_sweep() const { return shown_ >= 0 && is_sweep(shown_); }
  const RunOnShow* with(const record::Recording* recording) const;
  // True if the page was opened for a recording that the reader named; answers and settings from earlier visits are
  // ignored.
  bool is_given() const { return given_; }
  void note_given() { given_ = true; }
  // −1: none has that name.
  int named(std::string_view name) const;
  // The first sweep or single run, preferably the one made here; −1: none.
  int first(bool sweep) const;

  // The budget in seconds that a live run exceeded, so that the stored run is shown in its place.
  const std::optional<double>& stands_in_for() const { return stands_in_for_; }
  void note_stands_in_for(double budget) { stands_in_for_ = budget; }

  // Only marks the run; PageModel::show_run() updates the rest of the page.
  void mark_shown(int index);
  // Adds a run after those from the same source; returns its index.
  int add(std::shared_ptr<const record::Recording> recording, RunOnShow::From from, std::string_view name = {});
  // Drops the reader's oldest run if there are too many, but not its file.
  void start_own(std::shared_ptr<const record::Recording> recording);
  void follow_own(const std::shared_ptr<const record::Recording>& recording);
  void take_sweep(std::shared_ptr<const record::Recording> recording);
  // False: not one of the reader's runs, or in progress.
  bool forget(int index, bool running);

  // The last run, if worth a file: completed or out of memory. Null: none, or already returned.
  const RunOnShow* take_unkept(bool running);
  void note_kept(const RunOnShow& run, std::string name);
  std::vector<std::string> take_forgotten() { return std::exchange(forgotten_, {}); }

  // Runs that differ from `settings` only in `key`. Cached until an argument or the number of runs changes.
  const std::vector<SettingMark>& marks(std::string_view key, const record::Params& settings,
                                        const MarkQuestion& question);

  // A run of another demo, drawn next to the shown run.
  void add_beside(std::shared_ptr<const record::Recording> recording);
  const std::vector<const record::Ledger*>& beside() const { return beside_ledgers_; }

 private:
  void erase(int index);

  bool names_sweeps_;
  std::vector<RunOnShow> runs_;
  int shown_ = -1, own_ = -1, sweep_ = -1;
  bool given_ = false;
  std::vector<std::string> forgotten_;
  struct Marks {
    record::Params settings;
    MarkQuestion question;
    std::size_t runs = 0;
    std::vector<SettingMark> all;
  };
  std::map<std::string, Marks, std::less<>> marks_;
  std::vector<RunOnShow> beside_;
  std::vector<const record::Ledger*> beside_ledgers_;
  std::optional<double> stands_in_for_;
  int revision_ = 0;
};

// Run A: the pinned run that the shown run is compared with.
class RunA {
 public:
  const RunOnShow* pinned() const { return pinned_.recording == nullptr ? nullptr : &pinned_; }
  // The pinned run; null if there is none or it is `shown`.
  const RunOnShow* beside(const RunOnShow* shown) const;
  // The reader's choice, as saved: "none" or a run's name. Empty if the page chose.
  std::string name(const Runs& runs) const;
  // No rows: there is nothing to compare.
  const Comparison& comparison() const { return comparison_; }
  int revision() const { return revision_; }

  // The page pins the nearest base until the reader pins or unpins a run.
  void add_base(std::shared_ptr<const record::Recording> recording) { bases_.push_back(std::move(recording)); }
  // Pins the base with `shown`'s model and shape and the fewest differing switches.
  void follow_base(const RunOnShow* shown, const Runs& runs);
  // "base", "none" or a run's name; take_named() pins a run that is added later.
  void pin(std::string_view name, const RunOnShow* shown, const Runs& runs);
  void take_named(std::string_view name, const RunOnShow* shown, const Runs& runs);
  // Unpins run A; without one, pins `shown` if not null.
  void toggle(const RunOnShow* shown);
  // `shown` null: clears the comparison.
  void compare(const RunOnShow* shown);

 private:
  RunOnShow pinned_;
  std::vector<std::shared_ptr<const record::Recording>> bases_;
  bool by_reader_ = false;
  std::string wanted_;  // the name passed to the last pin()
  Comparison comparison_;
  int revision_ = 0;
};

}  // namespace headroom::app::page
