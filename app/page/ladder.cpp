// Fills rungs from runs, predictions or the closed form.
#include "app/page/ladder.h"

#include <algorithm>
#include <utility>

#include "app/common/plan/evidence.h"
#include "app/common/plan/step_plan.h"
#include "app/common/sweep.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/technique_table.h"
#include "demos/predict/forms/form_recording.h"
#include "demos/predict/optimizers.h"
#include "lessons/measurements/sweep.h"
#include "lessons/wording.h"

namespace headroom::app::page {

using record::OutcomeKind;
using record::Params;
using record::Source;
using record::SweepPoint;

namespace {

constexpr std::size_t kMostAnswers = 300;

// Naive techniques; the rest from `settings`.
Params first_rung(const Params& settings) {
  Params params = naive_settings();
  for (const record::ParamSpec& spec : params.schema())
    if (spec.role != record::ParamRole::kTechnique)
      (void)params.set(spec.key, std::string_view(settings.as_text(spec.key)));
  return params;
}

SweepPoint without_result(const PlannedPoint& planned, OutcomeKind kind, std::string message) {
  SweepPoint point;
  point.series = planned.series;
  point.label = planned.label;
  point.params = planned.params.to_map();
  point.outcome = {kind, std::move(message), std::nullopt};
  return point;
}

SweepPoint computed_point(const PlannedPoint& planned, const record::Recording& run, Source source) {
  SweepPoint point = sweep_point_of(planned, run);
  const bool ran_out = run.outcome() && run.outcome()->kind == OutcomeKind::kOutOfMemory;
  if (!ran_out) point.outcome = {};
  point.tokens_per_second = point.tokens_per_second_low = point.tokens_per_second_high = 0;  // nothing was timed
  point.loss.reset();
  point.provenance = {{std::string(lessons::kSourceOfPoint), std::string(record::key_of(source))}};
  return point;
}

// Rungs may come from runs on several machines.
void note_machine(SweepPoint& point, const record::RunInfo& ran_on) {
  for (const std::string_view key : lessons::kMachineKeys)
    if (const auto fact = ran_on.provenance.find(std::string(key)); fact != ran_on.provenance.end())
      point.provenance.insert(*fact);
}

}  // namespace

Ladder::Ladder() {
  for (const experiments::Technique* each : experiments::ladder_techniques())
    switches_.push_back({each->id, each->rung.by_default});
}

Ladder::~Ladder() {
  if (around_ && around_->predictions != nullptr) around_->predictions->drop(this);
}

void Ladder::move(std::size_t from, std::size_t to) {
  if (from >= switches_.size() || to >= switches_.size() || from == to) return;
  Switch taken = std::move(switches_[from]);
  switches_.erase(switches_.begin() + static_cast<std::ptrdiff_t>(from));
  switches_.insert(switches_.begin() + static_cast<std::ptrdiff_t>(to), std::move(taken));
}

void Ladder::turn(std::size_t place) {
  if (place < switches_.size()) switches_[place].on = !switches_[place].on;
}

void Ladder::take_order(const record::Recording& ladder) {
  std::vector<Switch> order;
  const auto has = [&](std::string_view id) { return std::ranges::find(order, id, &Switch::id) != order.end(); };
  for (const SweepPoint& point : ladder.sweep_points())
    if (std::ranges::find(switches_, point.label, &Switch::id) != switches_.end() && !has(point.label))
      order.push_back({point.label, true});
  for (const experiments::Technique* each : experiments::ladder_techniques())
    if (!has(each->id)) order.push_back({each->id, false});
  switches_ = std::move(order);
}

record::Result<SweepPlan> Ladder::plan() const {
  const Params base = first_rung(around_ ? around_->settings : Params(experiments::training_step().schema));
  std::vector<std::string> order;
  for (const Switch& each : switches_)
    if (each.on) order.push_back(each.id);
  auto plan = plan_ladder(base, order);
  if (plan && order.empty()) {  // without an order, plan_ladder() turns on all switches
    SweepPlan first = std::move(plan).value();
    first.points.resize(1, PlannedPoint{});
    return first;
  }
  return plan;
}

std::string Ladder::why_not(std::size_t place) const {
  if (place + 1 >= rows_.size() || !rows_[place + 1].on) return {};
  return lessons::conflict_in_words(rows_[place + 1].planned.params);
}

std::optional<record::Params> Ladder::settings_to(std::size_t place) const {
  if (place + 1 >= rows_.size() || !rows_[place + 1].on || !why_not(place).empty()) return std::nullopt;
  return rows_[place + 1].planned.params;
}

std::optional<Ladder::Last> Ladder::last() const {
  std::optional<Last> last;
  for (const Row& row : rows_) {
    if (!row.known || lessons::ran_out(*row.known)) return std::nullopt;
    if (!lessons::completed(*row.known)) continue;  // off, or in conflict
    const auto source = row.known->provenance.find(std::string(lessons::kSourceOfPoint));
    const bool by_formula = source != row.known->provenance.end() && source->second == record::key_of(Source::kFormula);
    last = Last{.settings = row.planned.params,
                .peak = row.known->peak.allocated,
                .by = source == row.known->provenance.end() ? "measured"
                      : by_formula                          ? "by closed form"
                                                            : "predicted"};
  }
  return last;
}

bool Ladder::follow(const Around& around) {
  const bool climbs = around.climbing != nullptr || running_ != nullptr;
  const bool same = around_ && *around_ == around && planned_ == switches_ && climbs_ == climbs;
  if (!same) {
    if (around_ && around_->predictions != nullptr) around_->predictions->drop(this);
    around_ = around;
    planned_ = switches_;
    climbs_ = climbs;
    begin();
  }
  const bool filled = fill(), grown = grow(), more = filled || grown;
  if (!same || more) rebuild();
  return !same || more;
}

// Makes a row for each switch; the plan contains only switches that are on.
void Ladder::begin() {
  rows_.clear();
  why_formula_.clear();
  const auto planned = plan();
  if (!planned) return;
  auto next = planned.value().points.begin();
  rows_.push_back({*next++, true, std::nullopt});
  for (const Switch& each : switches_)
    rows_.push_back(each.on ? Row{*next++, true, std::nullopt}
                            : Row{{"ladder", each.id, rows_.back().planned.params}, false, std::nullopt});
  for (Row& row : rows_) {
    if (!row.on)
      row.known = without_result(row.planned, OutcomeKind::kCancelled, "off");
    else if (std::string why = lessons::conflict_in_words(row.planned.params); !why.empty())
      row.known = without_result(row.planned, OutcomeKind::kRefused, std::move(why));
    else
      measure(row);
  }
}

void Ladder::measure(Row& row) const {
  const auto take = [&](SweepPoint point, const Made& made) {
    point.series = row.planned.series;
    point.label = row.planned.label;
    point.params = row.planned.params.to_map();
    note_machine(point, made.recording->info());
    point.provenance[std::string(lessons::kMadePoint)] = made.source;
    row.known = std::move(point);
    row.climbed = made.recording == around_->climbing;
  };
  for (const Made& made : around_->runs) {
    const auto& run = made.recording;
    if (climbs_ && run != around_->climbing) continue;
    if (is_evidence(*run, experiments::training_step().id, row.planned.params, around_->device)) {
      SweepPoint point = sweep_point_of(row.planned, *run);
      if (lessons::completed(point) || lessons::ran_out(point)) return take(std::move(point), made);
    }
    for (const SweepPoint& point : run->sweep_points()) {
      const bool result = lessons::completed(point) || lessons::ran_out(point);
      if (result && is_evidence(point, run->info(), row.planned.params, around_->device)) return take(point, made);
    }
  }
}

// Fills rungs up to the first pending one. True if any became known.
bool Ladder::fill() {
  bool more = false;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].known) continue;
    if (around_->hidden && i > 0) break;
    rows_[i].known = computed(rows_[i].planned);
    if (!rows_[i].known) break;  // pending
    more = true;
  }
  return more;
}

// True if the running rung's memory grew.
bool Ladder::grow() {
  if (running_ == nullptr) return std::exchange(growing_, RunOnShow{}).recording != nullptr;
  return page::follow(growing_, running_);
}

std::optional<SweepPoint> Ladder::computed(const PlannedPoint& planned) {
  if (around_->predictions == nullptr) return by_closed_form(planned, around_->why_none);
  const Params asked = with_every_kind_of_step(planned.params);
  const auto found = answers_.find(asked.to_map());
  if (found != answers_.end()) {
    SweepPoint point = found->second;
    point.label = planned.label;
    return point;
  }
  const auto answer = around_->predictions->ask(this, {std::string(experiments::training_step().id), asked});
  if (answer == nullptr) return std::nullopt;
  if (!*answer) return by_closed_form(planned, answer->refusal);
  if (answers_.size() >= kMostAnswers) answers_.clear();
  return answers_[asked.to_map()] = computed_point(planned, *answer->recording, Source::kPredicted);
}

SweepPoint Ladder::by_closed_form(const PlannedPoint& planned, const std::string& why) {
  const auto form = closed_form_of(planned.params);
  if (!form) return without_result(planned, OutcomeKind::kRefused, why);
  why_formula_ = why;
  return computed_point(planned, predict::recording_of(*form, planned.params), Source::kFormula);
}

// Returns the info of a sweep on this device if any rung was measured.
record::RunInfo Ladder::info() const {
  for (const Row& row : rows_) {
    if (!row.known || row.known->provenance.contains(std::string(lessons::kSourceOfPoint))) continue;
    if (!lessons::completed(*row.known) && !lessons::ran_out(*row.known)) continue;
    for (const auto& [run, source] : around_->runs)
      if (run->info().device == around_->device && !run->sweep_points().empty()) return run->info();
  }
  record::RunInfo info;
  info.demo = experiments::training_step().id;
  info.device = around_->device;
  info.source = why_formula_.empty() ? Source::kPredicted : Source::kFormula;
  if (!rows_.empty()) info.params = rows_.front().planned.params.to_map();
  for (const record::ParamSpec& spec : experiments::training_step().schema)
    if (spec.role == record::ParamRole::kTechnique) info.params.erase(std::string(spec.key));
  return info;
}

// Null before its first allocation.
const Ladder::Row* Ladder::running_row() const {
  if (growing_.recording == nullptr || growing_.ledger->peak().totals.allocated == 0) return nullptr;
  const auto runs = [&](const Row& row) {
    return is_evidence(*growing_.recording, experiments::training_step().id, row.planned.params, around_->device);
  };
  const auto next = std::ranges::find_if(rows_, [&](const Row& row) { return row.on && !row.climbed && runs(row); });
  return next == rows_.end() ? nullptr : &*next;
}

SweepPoint Ladder::running_point(const Row& row) const {
  SweepPoint point = without_result(row.planned, OutcomeKind::kCompleted, "");
  const record::Totals& peak = growing_.ledger->peak().totals;
  point.peak.allocated = peak.allocated;
  point.peak.by_category = peak.by_category;
  point.provenance = {{std::string(lessons::kRunningPoint), "on"}};
  note_machine(point, growing_.recording->info());
  return point;
}

void Ladder::rebuild() {
  auto rungs = std::make_shared<record::Recording>();
  rungs->set_info(info());
  bool complete = !rows_.empty();
  const Row* const running = running_row();
  for (const Row& row : rows_) {
    complete = complete && row.known;
    SweepPoint point = row.known ? *row.known : without_result(row.planned, OutcomeKind::kCancelled, "");
    if (&row == running)
      point = running_point(row);
    else if (climbs_ && !row.climbed)
      point.provenance[std::string(lessons::kPendingPoint)] = "on";
    rungs->append(std::move(point));
  }
  if (complete) rungs->set_outcome({});
  recording_ = std::move(rungs);
}

}  // namespace headroom::app::page
