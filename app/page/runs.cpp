// Keeps runs in order and indices valid.
#include "app/page/runs.h"

#include <algorithm>

#include "app/common/evidence.h"

namespace headroom::app::page {

namespace {

constexpr std::ptrdiff_t kMostOwn = 50;  // the reader's runs in memory

}  // namespace

const RunOnShow* Runs::with(const record::Recording* recording) const {
  const auto found = std::ranges::find_if(runs_, [&](const RunOnShow& run) { return run.recording.get() == recording; });
  return recording == nullptr || found == runs_.end() ? nullptr : &*found;
}

int Runs::first(bool sweep) const {
  int found = sweep ? sweep_ : own_;
  for (int i = 0; found < 0 && i < static_cast<int>(runs_.size()); ++i)
    if (is_sweep(i) == sweep) found = i;
  return found;
}

void Runs::mark_shown(int index) {
  shown_ = index;
  stands_in_for_.reset();
  ++revision_;
}

int Runs::add(std::shared_ptr<const record::Recording> recording, RunOnShow::From from, std::string_view name) {
  RunOnShow run = make_run(std::move(recording), from, names_sweeps_);
  run.name = name;
  const auto after = std::ranges::find_if(runs_, [&](const RunOnShow& each) { return each.from > from; });
  const int place = static_cast<int>(after - runs_.begin());
  runs_.insert(after, std::move(run));
  for (int* index : {&own_, &sweep_, &shown_})
    if (*index >= place) ++*index;
  ++revision_;
  return place;
}

void Runs::start_own(std::shared_ptr<const record::Recording> recording) {
  own_ = -1;
  own_ = add(std::move(recording), RunOnShow::From::kReader);
  if (std::ranges::count_if(runs_, &RunOnShow::is_readers) <= kMostOwn) return;
  erase(static_cast<int>(std::ranges::find_if(runs_, &RunOnShow::is_readers) - runs_.begin()));
}

void Runs::follow_own(const std::shared_ptr<const record::Recording>& recording) {
  if (own_ < 0) return;
  RunOnShow& own = runs_[static_cast<std::size_t>(own_)];
  follow(own, recording);
  if (own.label.empty()) {  // its settings have just arrived
    const RunOnShow made = make_run(own.recording, own.from, names_sweeps_);
    own.label = made.label;
    own.where = made.where;
  }
  ++revision_;
}

void Runs::take_sweep(std::shared_ptr<const record::Recording> recording) {
  if (sweep_ < 0) {
    sweep_ = add(std::move(recording), RunOnShow::From::kSweep);
    return;
  }
  runs_[static_cast<std::size_t>(sweep_)] = make_run(std::move(recording), RunOnShow::From::kSweep, names_sweeps_);
  ++revision_;
}

void Runs::erase(int index) {
  runs_.erase(runs_.begin() + index);
  for (int* each : {&own_, &sweep_, &shown_}) {
    if (*each == index) *each = -1;
    if (*each > index) --*each;
  }
  ++revision_;
}

bool Runs::forget(int index, bool running) {
  const RunOnShow& run = (*this)[index];
  if (!run.is_readers() || (index == own_ && running)) return false;
  if (!run.name.empty()) forgotten_.push_back(run.name);
  erase(index);
  return true;
}

const RunOnShow* Runs::take_unkept(bool running) {
  if (own_ < 0 || running) return nullptr;
  RunOnShow& own = runs_[static_cast<std::size_t>(own_)];
  const auto& outcome = own.recording->outcome();
  const bool whole = outcome && (outcome->kind == record::OutcomeKind::kCompleted ||
                                 outcome->kind == record::OutcomeKind::kOutOfMemory);
  return whole && !std::exchange(own.offered, true) ? &own : nullptr;
}

void Runs::note_kept(const RunOnShow& run, std::string name) {
  const auto kept = std::ranges::find(runs_, run.recording, &RunOnShow::recording);
  if (kept != runs_.end()) kept->name = std::move(name);
}

const std::vector<SettingMark>& Runs::marks(std::string_view key, const record::Params& settings,
                                            const MarkQuestion& question) {
  Marks& known = marks_[std::string(key)];
  if (known.runs == runs_.size() && known.question == question && known.settings == settings) return known.all;
  known = {.settings = settings, .question = question, .runs = runs_.size(), .all = {}};
  for (int i = 0; i < static_cast<int>(runs_.size()); ++i) {
    const record::Recording& run = *(*this)[i].recording;
    const auto value = run.info().params.find(std::string(key));
    if ((i == own_ && question.running) || value == run.info().params.end()) continue;
    const bool under_limit = run.info().cap > 0 && run.info().cap == question.limit;
    const bool ended = run.outcome() && run.outcome()->kind == record::OutcomeKind::kOutOfMemory;
    record::Params there = settings;
    if (!there.set(key, std::string_view(value->second))) continue;
    if (under_limit) (void)there.set("cap", record::ParamValue(question.limit));
    if (!is_evidence(run, question.demo, there, question.device)) continue;
    using Kind = SettingMark::Kind;
    const Kind kind = ended ? Kind::kOutOfMemory : under_limit ? Kind::kFits : Kind::kRan;
    known.all.push_back({static_cast<double>(there.integer(key)), kind});
  }
  return known.all;
}

void Runs::add_beside(std::shared_ptr<const record::Recording> recording) {
  beside_.push_back(make_run(std::move(recording), RunOnShow::From::kPage, names_sweeps_));
  beside_ledgers_.push_back(beside_.back().ledger.get());
  ++revision_;
}

}  // namespace headroom::app::page
