// Labels runs, keeps them in order and pins run A.
#include "app/page/runs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

#include "app/common/plan/evidence.h"
#include "lessons/base_run.h"
#include "lessons/wording.h"

namespace headroom::app::page {

namespace {

constexpr std::ptrdiff_t kMostOwn = 50;  // the reader's runs in memory

std::string device_words(const record::RunInfo& info) {
  constexpr std::string_view kMaker = "NVIDIA ";
  const auto gpu = info.provenance.find("gpu");
  if (info.device == record::DeviceKind::kCpu) return "CPU";
  if (gpu == info.provenance.end()) return "GPU";
  return gpu->second.starts_with(kMaker) ? gpu->second.substr(kMaker.size()) : gpu->second;
}

// "you, 12:04", or "you, 23 Nov" on another day, from "2026-11-23T11:04:31Z".
std::string made_at(const record::RunInfo& info) {
  std::tm utc{};
  const auto created = info.provenance.find("created");
  if (created == info.provenance.end() || strptime(created->second.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr)
    return "you";
  const std::time_t then = timegm(&utc), now = std::time(nullptr);
  std::tm there{}, here{};
  localtime_r(&then, &there);
  localtime_r(&now, &here);
  const bool today = there.tm_year == here.tm_year && there.tm_yday == here.tm_yday;
  std::array<char, 16> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), today ? "%H:%M" : "%d %b", &there);
  return "you, " + std::string(text.data(), length);
}

}  // namespace

RunOnShow make_run(std::shared_ptr<const record::Recording> recording, RunOnShow::From from, bool names_sweep) {
  RunOnShow run;
  run.from = from;
  run.ledger = std::make_shared<record::Ledger>(*recording);
  run.ledger->update();
  run.recording = std::move(recording);
  const record::Recording& recorded = *run.recording;
  run.label = lessons::settings_line(recorded.info());
  run.where = run.is_readers() ? made_at(recorded.info()) : device_words(recorded.info());
  const bool sweep = !recorded.sweep_points().empty();
  const std::string techniques = sweep ? std::string() : techniques_of(recorded.info());
  if (!techniques.empty()) run.label.insert(0, techniques + "; ");
  if (sweep && names_sweep) run.label.insert(0, "Sweep; ");
  if (recorded.truncated()) run.label.insert(0, lessons::cut_off_words(recorded) + "; ");
  return run;
}

std::string source_of(const RunOnShow& run) {
  using From = RunOnShow::From;
  const record::RunInfo& info = run.recording->info();
  const bool here = run.from == From::kReader || run.from == From::kSweep;
  const std::string when = made_at(info).substr(std::string_view("you").size());
  return here ? "here" + when : device_words(info) + (run.from == From::kPage ? ", stored" : when);
}

bool follow(RunOnShow& run, const std::shared_ptr<const record::Recording>& recording) {
  if (recording == nullptr) return false;
  if (run.recording != recording) {
    run = make_run(recording, run.from);
    return true;
  }
  const std::uint64_t before = run.ledger->size();
  run.ledger->update();
  return run.ledger->size() != before;
}

const RunOnShow* Runs::with(const record::Recording* recording) const {
  const auto found =
      std::ranges::find_if(runs_, [&](const RunOnShow& run) { return run.recording.get() == recording; });
  return recording == nullptr || found == runs_.end() ? nullptr : &*found;
}

int Runs::named(std::string_view name) const {
  const auto found = name.empty() ? runs_.end() : std::ranges::find(runs_, name, &RunOnShow::name);
  return found == runs_.end() ? -1 : static_cast<int>(found - runs_.begin());
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
  if (const int run = runs.named(name); run >= 0) pinned_ = runs[run];
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
