// Run A: the pinned run that the shown run is compared with.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/page/comparison.h"
#include "app/page/runs.h"

namespace headroom::app::page {

class RunA {
 public:
  const RunOnShow* pinned() const { return pinned_.recording == nullptr ? nullptr : &pinned_; }
  // The pinned run; null: none, or it is `shown`.
  const RunOnShow* beside(const RunOnShow* shown) const;
  // The reader's choice for a file: "none" or a run. Empty: the page's.
  std::string name(const Runs& runs) const;
  // The last compare()'s; no rows: nothing to compare.
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
  std::string wanted_;  // the last pin()'s name
  Comparison comparison_;
  int revision_ = 0;
};

}  // namespace headroom::app::page
