// headroom bench: compares our kernels with eager compositions and LibTorch's.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/cli/commands/bench.h"
#include "app/cli/drive.h"
#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/common/session.h"
#include "app/common/settings_json.h"
#include "demos/experiments/demo.h"
#include "kernels/kernel.h"
#include "lessons/measurements/product_peaks.h"

namespace headroom::app {

using record::Error;
using record::ErrorKind;
using record::OutcomeKind;
using record::Params;

namespace {

constexpr std::string_view kStep = "step", kProducts = "products";

void declare_bench(BenchOptions& options, OptionList& list) {
  list.words("KERNEL", options.kernels,
             "What to time (default: all). `headroom list` shows the kernels. `step` compares a training step with "
             "the sum of its kernels, `train_step` compares one with its lower bound, `products` times a GEMM in each "
             "number format");
  list.set("Parameters of the demo `bench` (panel, storage, rows, width, …) or of `products` (format, largest)");
  list.device();
  list.record("Save the measurements to a recording");
  list.time_limit("Time limit per KERNEL; exit code 5 if reached");
  list.quick("Measure one shape per kernel, with few repeats");
  list.json();
  list.engine();
}

bool is_comparison(std::string_view name) {
  return name == kStep || name == kProducts || name == experiments::training_step().id;
}

record::Status check_kernel(const std::string& name) {
  if (kernels::find_kernel(name) != nullptr) return record::Ok{};
  if (is_comparison(name)) return Error{fmt::format("bench {} runs alone: remove the other kernels.", name)};
  return unknown_id("kernel", name, kernels::kernels());
}

bool names_only(const BenchOptions& options, std::string_view word) {
  return options.kernels.size() == 1 && options.kernels.front() == word;
}

std::string_view demo_of(const BenchOptions& options) {
  return names_only(options, kProducts) ? "product_rates" : "bench";
}

// One run per named kernel, or one run for all kernels, on all cores: there is no window to keep responsive.
record::Result<std::vector<Params>> bench_asked(const BenchOptions& options) {
  if (names_only(options, kStep) || names_only(options, experiments::training_step().id)) {
    Params step(experiments::training_step().schema);
    if (auto set = set_params(step, experiments::training_step().id, options); !set) return set.error();
    return std::vector{step};
  }
  const auto* demo = experiments::find_demo(demo_of(options));
  Params params(demo->schema);
  const bool products = names_only(options, kProducts);
  if (!products)
    if (auto set = params.set("cores", "all"); !set) return set.error();
  if (auto set = set_params(params, demo->id, options); !set) return set.error();
  if (options.quick)
    if (auto set = params.set("quick", "on"); !set) return set.error();
  if (products || options.kernels.empty()) return std::vector{params};
  std::vector<Params> runs;
  for (const std::string& kernel : options.kernels) {
    if (auto known = check_kernel(kernel); !known) return known.error();
    if (auto set = params.set("kernel", std::string_view(kernel)); !set) return set.error();
    runs.push_back(params);
  }
  return runs;
}

OutcomeKind outcome_of(const record::Recording& recording) {
  return recording.outcome() ? recording.outcome()->kind : OutcomeKind::kEngineLost;
}

// Adds a run's measurements to those of earlier runs, but the copy's measurement only once.
void add_run(record::Recording& all, const record::Recording& run) {
  if (all.info().demo.empty()) all.set_info(run.info());
  for (const record::Measurement& row : run.measurements())
    if (row.panel != record::Measurement::kCopy ||
        std::ranges::find(all.measurements(), row.panel, &record::Measurement::panel) == all.measurements().end())
      all.append(row);
  if (run.outcome()) all.set_outcome(*run.outcome());
}

nlohmann::json json_of(const record::Recording& recording, OutcomeKind outcome) {
  nlohmann::json rows = nlohmann::json::array();
  for (const record::Measurement& row : recording.measurements()) {
    const BenchRow shown = bench_row(recording, row);
    nlohmann::json entry = {
        {"panel", row.panel},   {"kernel", row.kernel},   {"variant", row.variant},  {"pass", row.pass},
        {"timing", row.timing}, {"storage", row.storage}, {"label", row.label},      {"rows", row.rows},
        {"width", row.width},   {"vocab", row.vocab},     {"median_ns", row.median}, {"p20_ns", row.low},
        {"p80_ns", row.high},   {"samples", row.samples}, {"bytes", row.bytes},      {"flops", row.flops}};
    const auto known = [](double value) { return value >= 0 ? nlohmann::json(value) : nlohmann::json(nullptr); };
    entry["extra_memory_bytes"] = row.extra_memory >= 0 ? nlohmann::json(row.extra_memory) : nlohmann::json(nullptr);
    entry["error"] = known(row.error);
    entry["bytes_per_second"] = known(shown.bytes_per_second);
    entry["part_of_copy"] = known(shown.part_of_copy);
    entry["speedup_over_eager"] = known(shown.over_eager);
    entry["ratio_to_products"] = known(shown.to_products);
    rows.push_back(std::move(entry));
  }
  const record::RunInfo& info = recording.info();
  return {{"demo", info.demo},
          {"outcome", record::key_of(outcome)},
          {"device", record::key_of(info.device)},
          {"params", settings_json(info.demo, info.params, info.provenance)},
          {"provenance", info.provenance},
          {"measurements", std::move(rows)}};
}

std::string table_of(const record::Recording& recording) {
  return lessons::has_product_rates(recording) ? product_table(recording) : bench_table(recording);
}

record::Result<ExitCode> bench(const BenchOptions& options) {
  if (names_only(options, kStep)) return bench_step(options);
  if (names_only(options, experiments::training_step().id)) return bench_train_step(options);
  const auto runs = bench_asked(options);
  if (!runs) return runs.error();
  if (options.record)
    if (auto writer = record::RecordingWriter::create(*options.record); !writer) return writer.error();
  Session session(choose_engine(options.engine));
  const InterruptGuard guard;
  const auto engine = ready_engine(session, runs.value().front());
  if (!engine) return engine.error();

  record::Recording all;
  OutcomeKind outcome = OutcomeKind::kCompleted;
  bool time_limit_met = false;
  for (const Params& params : runs.value()) {
    const auto driven = drive(*engine.value(), run_request(demo_of(options), params), options.time_limit);
    if (!driven) return driven.error();
    const record::Recording& run = *driven.value().recording;
    add_run(all, run);
    outcome = outcome_of(run);
    time_limit_met = time_limit_met || driven.value().time_limit_met;
    if (outcome == OutcomeKind::kCompleted) continue;
    say(run.outcome() && !run.outcome()->message.empty() ? run.outcome()->message
        : time_limit_met ? "The time limit was reached. Measurements up to that point are kept."
                         : "The run ended early. Measurements up to that point are kept.");
    break;
  }
  if (options.kernels.size() > 1) {
    record::RunInfo info = all.info();
    info.params["kernel"] = fmt::format("{}", fmt::join(options.kernels, ", "));
    all.set_info(std::move(info));
  }
  if (options.record && !all.measurements().empty())
    if (auto written = all.write(*options.record); !written) return written.error();
  if (options.json)
    put_json(json_of(all, outcome));
  else if (!all.measurements().empty())
    put(table_of(all));
  if (time_limit_met && outcome == OutcomeKind::kCancelled) return ExitCode::kTimeLimit;
  return exit_code_of(outcome);
}

}  // namespace

extern const Command kBench;
constinit const Command kBench{.name = "bench",
                               .summary = "Time fused and eager kernels, and a copy",
                               .example = "headroom bench rms_norm swiglu --record b.hrec",
                               .make = make_invocation<BenchOptions, declare_bench, bench, bench_asked>};

}  // namespace headroom::app
