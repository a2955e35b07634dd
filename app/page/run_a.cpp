// Pins run A for the page, the reader or a tour.
#include "app/page/run_a.h"

#include "lessons/base_run.h"

namespace headroom::app::page {

const RunOnShow* RunA::beside(const RunOnShow* shown) const {
  return pinned_.recording == nullptr || shown == nullptr || shown->recording == pinned_.recording ? nullptr : &pinned_;
}

std::string RunA::name(const Runs& runs) const {
  if (!by_reader_) return {};
  if (pinned_.recording == nullptr) return wanted_.empty() ? "none" : wanted_;
  const RunOnShow* const pinned = runs.with(pinned_.recording.get());
  return pinned == nullptr ? std::string() : pinned->name;
}

void RunA::follow_base(const RunOnShow* shown, const Runs& runs) {
  if (by_reader_ || bases_.empty() || shown == nullptr) return;
  std::vector<const record::RunInfo*> infos;
  for (const auto& each : bases_) infos.push_back(&each->info());
  const auto nearest = lessons::nearest_base(shown->recording->info(), infos);
  const record::Recording* const base = nearest ? bases_[*nearest].get() : nullptr;
  if (pinned_.recording.get() == base) return;
  const RunOnShow* const run = runs.with(base);
  pinned_ = run == nullptr ? RunOnShow{} : *run;
  comparison_.rows.clear();
  ++revision_;
}

void RunA::pin(std::string_view name, const RunOnShow* shown, const Runs& runs) {
  if (name.empty()) return;
  by_reader_ = name != "base";
  pinned_ = RunOnShow{};
  wanted_ = name;
  comparison_.rows.clear();
  ++revision_;
  if (name == "base") follow_base(shown, runs);
  for (const RunOnShow& each : runs.all())
    if (each.name == name) pinned_ = each;
}

void RunA::take_named(std::string_view name, const RunOnShow* shown, const Runs& runs) {
  if (!name.empty() && name == wanted_) pin(name, shown, runs);
}

void RunA::toggle(const RunOnShow* shown) {
  by_reader_ = true;
  wanted_.clear();
  if (pinned_.recording != nullptr || shown == nullptr)
    pinned_ = RunOnShow{};
  else
    pinned_ = *shown;
  comparison_.rows.clear();
  ++revision_;
}

void RunA::compare(const RunOnShow* shown) {
  comparison_.rows.clear();
  if (const RunOnShow* const a = beside(shown); a != nullptr) comparison_ = compare_runs(*a->ledger, *shown->ledger);
}

}  // namespace headroom::app::page
