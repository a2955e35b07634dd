// Derives facts about a page.
#include "app/page/page_facts.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "app/common/plan/card_words.h"
#include "app/common/plan/evidence.h"
#include "demos/experiments/attention_taken.h"
#include "demos/experiments/combinations.h"
#include "lessons/shown_unit.h"

namespace headroom::app::page {

namespace {

bool trains(const PageModel& page) { return page.control().demo().trains; }

bool is_evidence_here(const PageModel& page, const RunOnShow& run) {
  return is_evidence(*run.recording, page.control().demo().id, page.settings(), device_of(page));
}

// Memory of this machine or, if unknown, of the machine that made the page's run.
std::optional<PlannedCard> memory_of_cpu(const PageModel& page) {
  if (const protocol::DeviceFacts* const here = device_here(page.control().backend(), record::DeviceKind::kCpu))
    return PlannedCard{.name = "this machine", .memory = here->memory, .process = {}};
  for (const RunOnShow& run : page.runs().all()) {
    const record::RunInfo& info = run.recording->info();
    if (info.device == record::DeviceKind::kCpu && info.device_memory > 0)
      return PlannedCard{.name = "the machine of the page's run", .memory = info.device_memory, .process = {}};
  }
  return std::nullopt;
}

std::optional<PlannedCard> gpu_of(const PageModel& page) {
  const auto of_gpu = [](const std::string& name, record::Bytes memory, const auto& facts) {
    return app::planned_card(name, memory, experiments::capability_in(facts));
  };
  if (const protocol::DeviceFacts* const here = device_here(page.control().backend(), record::DeviceKind::kGpu))
    return of_gpu(here->name, here->memory, page.control().backend()->facts());
  for (const RunOnShow& run : page.runs().all()) {
    const record::RunInfo& info = run.recording->info();
    const auto gpu = info.provenance.find("gpu");
    if (info.device == record::DeviceKind::kGpu && gpu != info.provenance.end() && info.device_memory > 0)
      return of_gpu(gpu->second, info.device_memory, info.provenance);
  }
  return std::nullopt;
}

// The card's memory must be known.
PlannedCard planned_card(const predict::Card& card) {
  return app::planned_card(card.name, *card.memory, card.compute_capability);
}

std::int64_t gpus_of(const backend::Backend* machine) {
  if (machine == nullptr) return 0;
  return std::ranges::count(machine->devices(), record::DeviceKind::kGpu, &protocol::DeviceFacts::kind);
}

// Assumed until a run has finished: FLOP/s of a CPU core in fp32, and the slowdown in 16 bits on processors without
// 16-bit instructions. The order of magnitude decides whether Run asks for confirmation.
constexpr double kCoreRate = 30e9;
constexpr double kSixteenBitSlowdown = 3;

}  // namespace

const protocol::DeviceFacts* device_here(const backend::Backend* machine, record::DeviceKind kind) {
  if (machine == nullptr) return nullptr;
  for (const protocol::DeviceFacts& device : machine->devices())
    if (device.kind == kind) return &device;
  return nullptr;
}

bool has_gpu(const backend::Backend* machine) { return device_here(machine, record::DeviceKind::kGpu) != nullptr; }

bool has_step_settings(const PageModel& page) { return trains(page) && page.control().fixed_settings().empty(); }

bool settings_drive(const PageModel& page) {
  // A sweep in a figure of runs, such as the report's, has no single step's settings.
  const bool sweep = !page.shows_prediction() && page.runs().shows_sweep();
  return page.figures().draws_runs() && has_step_settings(page) && !sweep;
}

bool has_predictions(const PageModel& page) {
  const FigureOnShow& figures = page.figures();
  const bool of_settings = figures.shown().basis == lessons::Basis::kSettings || figures.shown().takes_advice;
  return trains(page) && (figures.draws_runs() || of_settings);
}

bool is_about_step(const PageModel& page) {
  const lessons::Figure& figure = page.figures().shown();
  const bool of_settings = figure.basis == lessons::Basis::kSettings || figure.takes_advice;
  return settings_drive(page) || (has_step_settings(page) && of_settings);
}

bool has_verdict(const PageModel& page) { return is_about_step(page) && !page.question().hides(); }

bool will_compare(const PageModel& page) {
  const RunOnShow *const b = page.on_show(), *const a = page.run_a().beside(b);
  return page.question().hides() && a != nullptr && !compare_runs(*a->ledger, *b->ledger).rows.empty();
}

bool is_growing(const PageModel& page) {
  return page.control().running() && page.runs().shows_own() && !page.shows_prediction();
}

record::DeviceKind device_of(const PageModel& page) {
  const record::Params& settings = page.settings();
  const std::string asked = settings.has("device") ? settings.text("device") : "auto";
  if (asked == "auto") return has_gpu(page.control().backend()) ? record::DeviceKind::kGpu : record::DeviceKind::kCpu;
  return asked == "cpu" ? record::DeviceKind::kCpu : record::DeviceKind::kGpu;
}

std::string why_not_here(const PageModel& page) {
  if (page.page().here.empty() || !has_step_settings(page) || device_of(page) == record::DeviceKind::kCpu) return {};
  const std::int64_t gpus = gpus_of(page.control().backend()), ranks = step_of(page).parallel.ranks;
  if (gpus == 0) return "There is no GPU here";
  if (gpus >= ranks) return {};
  return gpus == 1 ? fmt::format("There is one GPU here for {} ranks", ranks)
                   : fmt::format("There are {} GPUs here for {} ranks", gpus, ranks);
}

bool runs_here(const PageModel& page) { return why_not_here(page).empty(); }

record::Params begin_here(const lessons::Page& page) {
  record::Params here = lessons::settings_of(page);
  for (const lessons::Setting& setting : page.here) (void)here.set(setting.key, std::string_view(setting.value));
  return here;
}

record::Params settings_here(const PageModel& page) {
  const record::Params& now = page.settings();
  record::Params here = begin_here(page.page());
  const record::Params begin = begin_of(page);
  for (const record::ParamSpec& spec : now.schema()) {
    if (spec.role != record::ParamRole::kTechnique || now.as_text(spec.key) == begin.as_text(spec.key)) continue;
    record::Params with = here;
    if (with.set(spec.key, std::string_view(now.as_text(spec.key))) && experiments::conflict_in(with) == nullptr)
      here = std::move(with);
  }
  return here;
}

std::string why_no_engine(const PageModel& page) {
  const backend::Backend* const backend = page.control().backend();
  const Predictions* const service = page.forecast().service();
  const bool never_there = service != nullptr && (backend == nullptr || backend->devices().empty());
  const std::string& why = page.forecast().why_no_service();
  return why.empty() && never_there ? service->trouble() : why;
}

bool can_run(const PageModel& page) { return page.control().can_run() && why_no_engine(page).empty(); }

predict::StepSettings step_of(const PageModel& page) {
  predict::StepSettings step = predict::step_settings(page.settings());
  if (const OwnModel* const own = page.own_model(); own != nullptr) step.model = own->config;
  return step;
}

double run_flops(const predict::StepSettings& settings, bool on_cpu) {
  const llama::Config& model = settings.model;
  const auto parameters = static_cast<double>(llama::num_parameters(model));
  const auto tokens = static_cast<double>(settings.tokens() * settings.micro_batches * settings.steps);
  const auto scores = 12.0 * static_cast<double>(model.num_layers * model.num_heads * model.head_dim) *
                      static_cast<double>(settings.sequence);
  const auto here = static_cast<double>(on_cpu ? settings.parallel.ranks : 1);
  return (6 * parameters + scores) * tokens * here;
}

std::optional<double> estimated_seconds(const PageModel& page) {
  if (!runs_here(page)) return estimated_seconds(page, predict::step_settings(settings_here(page)));
  if (const auto measured = page.control().estimate()) return measured;
  return has_step_settings(page) ? estimated_seconds(page, step_of(page)) : std::nullopt;
}

std::optional<double> estimated_seconds(const PageModel& page, const predict::StepSettings& step) {
  const backend::Backend* const machine = page.control().backend();
  const std::optional<double>& speed = page.control().flops_per_second();
  const bool on_cpu = !has_gpu(machine) || device_of(page) == record::DeviceKind::kCpu || !runs_here(page);
  if (machine == nullptr || (!on_cpu && !speed)) return std::nullopt;
  if (speed) return run_flops(step, on_cpu) / *speed;
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  const bool sixteen_bits = step.precision != predict::Precision::kFp32;
  return run_flops(step, on_cpu) / (cores * kCoreRate) * (sixteen_bits ? kSixteenBitSlowdown : 1);
}

std::optional<Needs> needs_of(const PageModel& page) {
  const StepPlan* const step = plan_of(page);
  const backend::Backend* const machine = page.control().backend();
  if (step == nullptr || !runs_here(page) || machine == nullptr || !(step->params == page.settings()))
    return std::nullopt;
  for (const protocol::DeviceFacts& here : machine->devices()) {
    if (here.kind != device_of(page)) continue;
    const record::Bytes limit = limit_set(page);
    return Needs{std::max(step->allocated, step->reserved), limit > 0 ? limit : here.free_memory};
  }
  return std::nullopt;
}

record::Bytes limit_set(const PageModel& page) {
  return page.settings().has("cap") ? page.settings().integer("cap") : 0;
}

const predict::Card* chosen_card(const PageModel& page) {
  return limit_set(page) > 0 ? nullptr : page.verdict().chosen_card();
}

std::optional<PlannedCard> card_of(const PageModel& page) {
  if (const record::Bytes limit = limit_set(page); limit > 0)
    return PlannedCard{.name = "a limit of " + record::format_bytes(limit), .memory = limit, .process = {}};
  if (device_of(page) == record::DeviceKind::kCpu) return memory_of_cpu(page);
  const predict::Card* const chosen = page.verdict().chosen_card();
  if (chosen != nullptr) return planned_card(*chosen);
  const auto gpu = gpu_of(page);
  if (gpu || !page.page().recordings.empty()) return gpu;
  return planned_card(predict::card_of_size(lessons::kUsualCard));
}

const predict::Card* table_card_of(const PageModel& page) {
  const std::optional<PlannedCard> on = card_of(page);
  if (!on) return nullptr;
  const auto found = std::ranges::find_if(predict::cards(), [&](const predict::Card& card) {
    return card.memory && (card.name == on->name || card.driver_name == on->name);
  });
  return found == predict::cards().end() ? nullptr : &*found;
}

std::optional<lessons::CardLimit> card_of_figures(const PageModel& page) {
  std::optional<PlannedCard> on;
  const predict::Card* const chosen = page.verdict().chosen_card();
  const bool by_formula = page.figures().shown().basis == lessons::Basis::kParameters;
  // A figure by formula alone is on the chosen card, even if the page runs on a CPU. Pages that only calculate have no
  // card unless one is chosen.
  if (chosen != nullptr && (by_formula || !has_step_settings(page)))
    on = planned_card(*chosen);
  else if (has_step_settings(page))
    on = card_of(page);
  if (!on) return std::nullopt;
  return lessons::CardLimit{limit_set(page) > 0 ? lessons::short_bytes(on->memory) : on->name, on->memory, on->process};
}

record::Bytes limit_of_card(const PageModel& page) {
  const auto on = card_of(page);
  return on ? on->memory - on->process.bytes : 0;
}

PlannedRun planned(const PageModel& page, const record::Params& settings) {
  const std::optional<PlannedCard> card = card_of(page);
  return {std::string(page.control().demo().id), card ? settings_on(*card, settings) : settings};
}

const StepPlan* plan_of(const PageModel& page) { return page.question().hides() ? nullptr : page.verdict().plan(); }

bool shows_run(const lessons::Page& page, const record::Recording& recording) {
  if (page.demo.empty() || page.demo != recording.info().demo) return false;
  const auto& points = recording.sweep_points();
  const auto wanted = points.empty()                      ? lessons::Basis::kRun
                      : points.front().series == "ladder" ? lessons::Basis::kLadder
                                                          : lessons::Basis::kSweep;
  return std::ranges::any_of(page.figures, [&](const std::string& id) {
    const lessons::Figure* const figure = lessons::find_figure(id);
    return figure != nullptr && figure->basis == wanted;
  });
}

const lessons::Page* page_of_run(const lessons::Course& course, const record::Recording& recording) {
  if (course.bench() != nullptr && shows_run(*course.bench(), recording)) return course.bench();
  for (const lessons::Page* const page : course.pages())
    if (shows_run(*page, recording)) return page;
  return nullptr;
}

bool left_the_begin(const PageModel& page) {
  const Runs& runs = page.runs();
  if (!settings_drive(page) || runs.empty() || page.question().hides()) return false;
  return !runs.is_sweep(0) && !is_evidence_here(page, runs[0]);  // called every frame, so it checks only one run
}

// A checkpoint's folder sets the model's shape.
bool decides_work(const record::ParamSpec& spec) {
  return spec.role != record::ParamRole::kRun || spec.file == record::FileUse::kCheckpoint;
}

const record::Recording* first_run(const PageModel& page) {
  const std::vector<RunOnShow>& runs = page.runs().all();
  if (!trains(page) || runs.empty() || runs.front().from != RunOnShow::From::kPage) return nullptr;
  const record::Recording& run = *runs.front().recording;
  return run.sweep_points().empty() && !run.info().params.empty() ? &run : nullptr;
}

record::Params begin_of(const PageModel& page) {
  record::Params begin = lessons::settings_of(page.page());
  const record::Recording* const run = first_run(page);
  if (run == nullptr) return begin;
  const record::Params made = record::Params::known_of(begin.schema(), run->info().params);
  for (const record::ParamSpec& spec : made.schema())
    if (spec.role != record::ParamRole::kRun) (void)begin.set(spec.key, std::string_view(made.as_text(spec.key)));
  const bool limited = run->info().cap > 0 && run->outcome() && run->outcome()->out_of_memory;
  (void)begin.set("cap", std::string_view(std::to_string(limited ? run->info().cap : 0)));
  (void)begin.set("device", record::setting_of(run->info().device));
  return begin;
}

std::string value_of(const PageModel& page, const record::ParamSpec& spec) {
  const std::string value = page.settings().as_text(spec.key);
  if (spec.key != "device" || value != "auto" || first_run(page) == nullptr) return value;
  return std::string(record::setting_of(device_of(page)));
}

std::map<std::string, std::string> changes_of(const PageModel& page) {
  std::map<std::string, std::string> changes;
  if (page.page().lesson.in_course && !left_the_begin(page)) return changes;
  const record::Params begin = begin_of(page);
  for (const record::ParamSpec& spec : begin.schema())
    if (const std::string value = value_of(page, spec); travels(spec) && value != begin.as_text(spec.key))
      changes[std::string(spec.key)] = value;
  return changes;
}

bool travels(const record::ParamSpec& spec) { return decides_work(spec) || spec.key == "cap" || spec.key == "device"; }

std::vector<int> evidence_of(const PageModel& page) {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(page.runs().size()); ++i)
    if (is_evidence_here(page, page.runs()[i])) found.push_back(i);
  return found;
}

bool ran_here(const PageModel& page) {
  return std::ranges::any_of(page.runs().all(), [&](const RunOnShow& run) {
    return run.is_readers() && run.recording->outcome() && is_evidence_here(page, run);
  });
}

bool shows_evidence(const PageModel& page) {
  const RunOnShow* const shown = page.shows_prediction() ? nullptr : page.runs().shown_run();
  return shown != nullptr && is_evidence_here(page, *shown);
}

record::Bytes measured_peak(const PageModel& page) {
  if (!shows_evidence(page) || is_growing(page)) return 0;
  const record::Ledger& run = *page.runs().shown_run()->ledger;
  const auto step = record::last_whole_step(run.recording());
  return step ? run.peak(step->first, step->last).totals.allocated : 0;
}

bool can_pin(const PageModel& page) {
  const RunOnShow* run = page.on_show();
  return page.runs().shown() >= 0 && !page.shows_prediction() && !is_growing(page) && !page.question().hides() &&
         run != nullptr && !compare_runs(*run->ledger, *run->ledger).rows.empty();
}

void toggle_pin(PageModel& page) { page.run_a().toggle(can_pin(page) ? page.on_show() : nullptr); }

bool awaits_prediction(const PageModel& page) { return page.shows_prediction() && page.forecast().is_late(); }

record::Params with_set(const PageModel& page, const AdvisedSet& set) {
  record::Params with = set.params;
  (void)with.set("cap", std::string_view(page.settings().as_text("cap")));
  return with;
}

void turn(PageModel& page, const WayOut& way) {
  if (!way.turned) return;
  page.verdict().note_turned(way, page.settings());
  page.adopt(record::Params(*way.turned));
}

void turn_last(PageModel& page) {
  if (const auto back = page.verdict().turned_back(page.settings())) return page.adopt(*back);
  if (const WayOut* const way = page.verdict().last_turned(); way != nullptr) turn(page, *way);
}

std::optional<record::Params> with_changes(const PageModel& page, std::span<const lessons::Setting> changes) {
  record::Params wanted = page.settings();
  for (const lessons::Setting& change : changes)
    if (!wanted.has(change.key) || !wanted.set(change.key, std::string_view(change.value))) return std::nullopt;
  return wanted;
}

void preview(PageModel& page, const std::optional<record::Params>& wanted) {
  if (!wanted || page.forecast().planner() == nullptr || !has_verdict(page) || *wanted == page.settings())
    page.forecast().drop_preview();
  else if (!page.forecast().has_preview_for(*wanted))
    page.forecast().preview(*wanted, planned(page, *wanted));
}

lessons::FigureData figure_among_words(const PageModel& page, const lessons::FigureBlock& block, int columns) {
  const lessons::Figure& figure = *lessons::find_figure(block.figure);
  record::Params params(figure.schema);
  for (const lessons::Setting& setting : block.settings) (void)params.set(setting.key, std::string_view(setting.value));
  lessons::FigureInput input = page.input_of(figure, columns);
  input.params = &params;
  return figure.build(input);
}

void show_figure(PageModel& page, const lessons::FigureBlock& block) {
  const auto& figures = page.figures().all();
  const auto found = std::ranges::find(figures, block.figure, &lessons::Figure::id);
  if (found == figures.end()) return;
  page.show_tab(static_cast<int>(found - figures.begin()));
  page.figures().reset_params();
  for (const lessons::Setting& setting : block.settings) (void)page.figures().set_param(setting.key, setting.value);
}

void trace(PageModel& page, double now) {
  if (!can_run(page)) return;
  if (!runs_here(page)) page.adopt(settings_here(page));
  (void)page.set_param("trace", "on");
  page.run(now);
}

}  // namespace headroom::app::page
