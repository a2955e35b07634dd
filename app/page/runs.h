// A page's runs, and which one is shown.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/page/run_on_show.h"
#include "demos/record/schema.h"

namespace headroom::app::page {

// A run's result for one value of a setting.
struct SettingMark {
  enum class Kind : unsigned char { kRan, kFits, kOutOfMemory };

  double value = 0;
  Kind kind = Kind::kRan;  // the others are under the card's limit
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
  // `names_sweeps`: see make_run().
  explicit Runs(bool names_sweeps) : names_sweeps_(names_sweeps) {}

  // The page's, those of earlier starts, the reader's, the sweep.
  const std::vector<RunOnShow>& all() const { return runs_; }
  bool empty() const { return runs_.empty(); }
  std::size_t size() const { return runs_.size(); }
  const RunOnShow& operator[](int index) const { return runs_[static_cast<std::size_t>(index)]; }
  int revision() const { return revision_; }

  // Indices into all(); −1: none.
  int shown() const { return shown_; }
  int own() const { return own_; }      // the last one made here
  int sweep() const { return sweep_; }  // the one made here
  const RunOnShow* shown_run() const { return shown_ < 0 ? nullptr : &(*this)[shown_]; }
  const RunOnShow* own_run() const { return own_ < 0 ? nullptr : &(*this)[own_]; }
  bool shows_own() const { return own_ >= 0 && shown_ == own_; }
  bool is_sweep(int index) const { return !(*this)[index].recording->sweep_points().empty(); }
  bool shows_sweep() const { return shown_ >= 0 && is_sweep(shown_); }
  const RunOnShow* with(const record::Recording* recording) const;
  // The page was opened for a recording that the reader named; answers and settings from earlier visits are ignored.
  bool is_given() const { return given_; }
  void note_given() { given_ = true; }
  // Preferably the one made here; −1: none.
  int first(bool sweep) const;

  // The budget in seconds that a live run exceeded, so that the stored run is shown in its place.
  const std::optional<double>& stands_in_for() const { return stands_in_for_; }
  void note_stands_in_for(double budget) { stands_in_for_ = budget; }

  // PageModel::show_run() updates the rest of the page.
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

}  // namespace headroom::app::page
