// Compares single runs and summarizes the rows.
#include "app/common/validation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "app/common/session.h"
#include "app/common/validation_draw.h"
#include "demos/experiments/demo.h"
#include "demos/predict/allocator/placed.h"
#include "demos/predict/fits.h"
#include "demos/record/file/split.h"
#include "demos/record/ledger.h"

namespace headroom::app {

using backend::RunState;
using record::Bytes;
using record::OutcomeKind;

namespace {

using Ranks = std::vector<std::shared_ptr<const record::Recording>>;

// Returns the recordings of all ranks; empty if the run did not start.
Ranks run_to_end(backend::Backend& engine, const record::Params& params, const std::function<bool()>& stop,
                 std::string& trouble) {
  const backend::RunRequest request = run_request(experiments::training_step().id, params);
  if (const record::Status started = engine.start(request); !started) {
    trouble = started.error().message;
    return {};
  }
  bool stopped = false;
  while (engine.state() != RunState::kFinished) {
    backend::wait_and_poll(engine);
    if (stopped || !stop()) continue;
    stopped = true;
    engine.cancel();
  }
  Ranks ranks = engine.recording()->other_ranks();
  ranks.insert(ranks.begin(), engine.recording());
  return ranks;
}

// Visits the (predicted, measured) pairs in column order.
template <class Run, class Visit>
void for_each_pair(Run& run, Visit visit) {
  visit("requested", run.requested);
  visit("allocated", run.allocated);
  visit("reserved", run.reserved);
  for (int c = 0; c < record::kNumCategories; ++c)
    visit(record::key_of(static_cast<record::Category>(c)), run.by_category[static_cast<std::size_t>(c)]);
}

void keep_larger(double& worst, double error) {
  if (std::abs(error) > std::abs(worst)) worst = error;
}

// The process's bytes by the driver's count, minus reserved segments. A sample may be taken while segments are freed,
// hence the median of the last five.
Bytes process_bytes(const record::Recording& run, const record::Ledger& ledger) {
  constexpr std::size_t kCounts = 5;
  std::vector<Bytes> beside;
  for (const record::CounterSample& sample : run.counters()) {
    if (sample.kind != record::CounterKind::kProcessBytes) continue;
    const auto later = std::ranges::upper_bound(run.events(), sample.time, {}, &record::MemEvent::time);
    const auto events = static_cast<std::uint64_t>(later - run.events().begin());
    const Bytes segments = events == 0 ? 0 : ledger.at(events - 1).reserved;
    beside.push_back(sample.value < segments ? sample.value : sample.value - segments);
  }
  if (beside.empty()) return 0;
  if (beside.size() > kCounts) beside.erase(beside.begin(), beside.end() - kCounts);
  std::ranges::nth_element(beside, beside.begin() + static_cast<std::ptrdiff_t>(beside.size() / 2));
  return beside[beside.size() / 2];
}

// If the run had no cap, the card is the limit of the prediction.
std::shared_ptr<const record::Recording> under_card(const Prediction& predicted, const record::Recording& measured) {
  const std::string gpu = record::fact_of(measured.info().provenance, "gpu");
  const Bytes memory = measured.info().device_memory;
  if (measured.info().cap > 0 || gpu.empty() || memory == 0) return predicted.recording;
  const Bytes limit = memory - predict::process_bytes(gpu).bytes;
  if (record::Ledger(*predicted.recording).peak_reserved() <= limit) return predicted.recording;
  return std::make_shared<const record::Recording>(predict::placed(*predicted.requests, limit));
}

bool ran_out(const record::Recording& run) { return run.outcome() && run.outcome()->kind == OutcomeKind::kOutOfMemory; }

ComparedRun compare_peaks(const record::Params& params, const record::Recording& predicted,
                          const record::Recording& measured) {
  const record::Ledger said(predicted), is(measured);
  ComparedRun run{.params = params, .predicted_to_run_out = ran_out(predicted), .ran_out = ran_out(measured)};
  const record::Totals a = said.peak().totals, b = is.peak().totals;
  run.requested = {said.peak_requested(), is.peak_requested()};
  run.allocated = {a.allocated, b.allocated};
  run.reserved = {said.peak_reserved(), is.peak_reserved()};
  for (std::size_t c = 0; c < run.by_category.size(); ++c) run.by_category[c] = {a.by_category[c], b.by_category[c]};
  run.process = process_bytes(measured, is);
  return run;
}

bool refused_a_request(const record::Recording& run) {
  return !run.events().empty() && run.events().back().kind == record::EventKind::kOutOfMemory;
}

// Runs in a fresh engine; returns the recordings that a prediction must equal if the run completes or runs out of
// memory: those of all ranks, or of the ranks that ran out. Otherwise returns none and sets `trouble` to the reason, or
// leaves it empty if the user stopped the run.
Ranks measured_run(const record::Params& params, const ValidationTools& tools, std::string& trouble) {
  std::unique_lock lock(tools.device, std::defer_lock);  // held until the engine has exited
  const std::unique_ptr<backend::Backend> engine = tools.make();
  lock.lock();
  Ranks ranks = run_to_end(*engine, params, tools.stop, trouble);
  if (ranks.empty() || tools.stop()) return {};
  const record::Outcome outcome = ranks.front()->outcome().value_or(record::Outcome{OutcomeKind::kEngineLost, {}, {}});
  if (outcome.kind == OutcomeKind::kCompleted) return ranks;
  if (outcome.kind == OutcomeKind::kOutOfMemory) {
    // The others were stopped somewhere.
    if (ranks.size() > 1) std::erase_if(ranks, [](const auto& run) { return !refused_a_request(*run); });
    return ranks;
  }
  trouble = outcome.message.empty() ? "The engine ended unexpectedly." : outcome.message;
  return {};
}

bool as_predicted(const ComparedRun& run) {
  return run.requested.equal() && run.allocated.equal() && run.reserved.equal();
}

// Empty if stopped or in trouble.
std::optional<bool> completes(record::Params params, std::int64_t batch, const ValidationTools& tools,
                              std::string& trouble) {
  if (auto set = params.set("batch", record::ParamValue(batch)); !set) {
    trouble = set.error().message;
    return std::nullopt;
  }
  const Ranks ranks = measured_run(params, tools, trouble);
  return ranks.empty() ? std::nullopt : std::optional(!ran_out(*ranks.front()));
}

std::string as_cell(std::string text) {
  for (char& c : text)
    if (c == ',' || c == '\n') c = ';';
  return text;
}

std::int64_t whole(const std::string& cell) { return std::strtoll(cell.c_str(), nullptr, 10); }

std::string trouble_text(int with_trouble) {
  return with_trouble == 0 ? "" : fmt::format("{} could not be compared: see the column trouble\n", with_trouble);
}

}  // namespace

double ComparedBytes::error() const {
  if (measured == 0) return predicted == 0 ? 0 : 1;
  return static_cast<double>(predicted - measured) / static_cast<double>(measured);
}

std::optional<ComparedRun> validate_one(const record::Params& params, Predictions& predictions,
                                        const ValidationTools& tools, const std::string& name) {
  const auto predicted = predictions.wait({std::string(experiments::training_step().id), params}, tools.stop);
  if (predicted == nullptr) return std::nullopt;
  ComparedRun run{.params = params, .trouble = predicted->refusal};
  if (!run.trouble.empty()) return run;
  const Ranks ranks = measured_run(params, tools, run.trouble);
  if (tools.stop()) return std::nullopt;
  for (const auto& measured : ranks) {  // the first rank that differs, or else the last
    run = compare_peaks(params, *under_card(*predicted, *measured), *measured);
    if (as_predicted(run)) continue;
    if (!tools.folder.empty())
      if (const auto kept = measured->write(tools.folder / (name + ".hrec")); !kept) run.trouble = kept.error().message;
    break;
  }
  return run;
}

std::optional<ComparedBorder> validate_border(const record::Params& params, StepPlanner& planner,
                                              const ValidationTools& tools) {
  ComparedBorder border{.params = params, .trouble = {}};
  record::Params without_cap = params;
  (void)without_cap.set("cap", record::ParamValue(std::int64_t{0}));
  const PlannedCard limit{.name = {}, .memory = params.integer("cap"), .process = {}};
  const auto predicted = planner.largest(without_cap, "batch", limit);
  if (tools.stop()) return std::nullopt;
  if (!predicted) {
    border.trouble = "The planner refused a batch during the search for the largest batch.";
    return border;
  }
  border.predicted = *predicted;
  std::int64_t fits = border.predicted;
  bool from_below = false;
  for (;; --fits) {  // down to a batch that runs
    const auto runs = fits == 0 ? true : completes(params, fits, tools, border.trouble);
    if (!runs) return tools.stop() ? std::nullopt : std::optional(border);
    if (*runs) break;
    from_below = true;
  }
  while (!from_below) {  // up until one more sequence does not run
    const auto runs = completes(params, fits + 1, tools, border.trouble);
    if (!runs) return tools.stop() ? std::nullopt : std::optional(border);
    if (!*runs) break;
    ++fits;
  }
  border.measured = fits;
  return border;
}

std::string ComparedRun::head() {
  std::string head = "settings,trouble,predicted_outcome,outcome,process_bytes";
  ComparedRun any;
  for_each_pair(any, [&](std::string_view name, const ComparedBytes&) {
    head += fmt::format(",predicted_{0}_bytes,{0}_bytes,{0}_error_percent", name);
  });
  return head + "\n";
}

std::string ComparedRun::row() const {
  const auto outcome = [](bool out) { return out ? "out_of_memory" : "completed"; };
  std::string row = fmt::format("{},{},{},{},{}", as_line(params), as_cell(trouble), outcome(predicted_to_run_out),
                                outcome(ran_out), process);
  for_each_pair(*this, [&](std::string_view, const ComparedBytes& bytes) {
    row += fmt::format(",{},{},{:.6f}", bytes.predicted, bytes.measured, 100 * bytes.error());
  });
  return row + "\n";
}

std::optional<ComparedRun> ComparedRun::of_row(const std::string& row) {
  const std::vector<std::string> cells = record::split(row, ',');
  constexpr std::size_t kFirst = 5, kPerPair = 3, kPairs = 3 + record::kNumCategories;
  if (cells.size() != kFirst + kPerPair * kPairs) return std::nullopt;
  auto params = from_line(cells[0]);
  if (!params) return std::nullopt;
  ComparedRun run{.params = std::move(params).value(),
                  .trouble = cells[1],
                  .predicted_to_run_out = cells[2] == "out_of_memory",
                  .ran_out = cells[3] == "out_of_memory",
                  .process = whole(cells[4])};
  std::size_t cell = kFirst;
  for_each_pair(run, [&](std::string_view, ComparedBytes& bytes) {
    bytes = {whole(cells[cell]), whole(cells[cell + 1])};
    cell += kPerPair;
  });
  return run;
}

std::string ComparedRun::said() const { return fmt::format("allocated {:+.4f} %", 100 * allocated.error()); }

std::string ComparedBorder::head() { return "settings,trouble,predicted_largest_batch,largest_batch\n"; }

std::string ComparedBorder::row() const {
  return fmt::format("{},{},{},{}\n", as_line(params), as_cell(trouble), predicted, measured);
}

std::optional<ComparedBorder> ComparedBorder::of_row(const std::string& row) {
  const std::vector<std::string> cells = record::split(row, ',');
  if (cells.size() != 4) return std::nullopt;
  auto params = from_line(cells[0]);
  if (!params) return std::nullopt;
  return ComparedBorder{std::move(params).value(), cells[1], whole(cells[2]), whole(cells[3])};
}

std::string ComparedBorder::said() const {
  return fmt::format("largest batch {} predicted, {} measured", predicted, measured);
}

void ValidationSummary::Agreement::add(const ComparedBytes& bytes) {
  equal += bytes.equal() ? 1 : 0;
  keep_larger(worst, bytes.error());
}

void ValidationSummary::add(const ComparedRun& run) {
  if (!run.trouble.empty()) {
    ++with_trouble;
    return;
  }
  ++compared;
  ran_out += run.ran_out ? 1 : 0;
  wrong_outcome += run.ran_out == run.predicted_to_run_out ? 0 : 1;
  requested.add(run.requested);
  allocated.add(run.allocated);
  reserved.add(run.reserved);
  for (const ComparedBytes& bytes : run.by_category)
    if (run.allocated.measured > 0)
      keep_larger(worst_category,
                  static_cast<double>(bytes.predicted - bytes.measured) / static_cast<double>(run.allocated.measured));
}

std::string ValidationSummary::text() const {
  const auto line = [this](const char* what, const Agreement& all) {
    return fmt::format("  {:<22} equal in {} of {}, worst {:+.3f} %\n", what, all.equal, compared, 100 * all.worst);
  };
  std::string text = fmt::format("{} compared, {} of them ran out of memory, {} did not end as predicted\n", compared,
                                 ran_out, wrong_outcome);
  text += trouble_text(with_trouble) + line("peak of requested", requested) + line("peak of allocated", allocated) +
          line("reserved", reserved);
  text += fmt::format("  {:<22} worst {:+.3f} % of the peak\n", "a category at the peak", 100 * worst_category);
  return text;
}

void BorderSummary::add(const ComparedBorder& border) {
  if (!border.trouble.empty()) {
    ++with_trouble;
    return;
  }
  ++compared;
  exact += border.predicted == border.measured ? 1 : 0;
  one_off += std::abs(border.predicted - border.measured) == 1 ? 1 : 0;
  too_large += border.predicted > border.measured ? 1 : 0;
}

std::string BorderSummary::text() const {
  return fmt::format(
             "{} largest batches compared: {} exact, {} off by one, {} off by more; {} predicted to fit ran out of "
             "memory\n",
             compared, exact, one_off, compared - exact - one_off, too_large) +
         trouble_text(with_trouble);
}

}  // namespace headroom::app
