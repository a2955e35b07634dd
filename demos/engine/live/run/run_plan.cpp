// Turns requests into plans.
#include "demos/engine/live/run/run_plan.h"

#include <array>
#include <chrono>
#include <ctime>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "demos/engine/live/trace/kernel_support.h"
#include "demos/experiments/attention_taken.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/predict/allocator/placed.h"
#include "demos/record/run_recordings.h"

namespace headroom::live {

using record::DeviceKind;
using record::Error;
using record::ErrorKind;

namespace {

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// Compute capability that all precisions except fp32 need on a GPU: PyTorch's flash attention requires Ampere.
constexpr double kLeastCapability = 8.0;

// Why this GPU does not support the run's precision; empty: it does.
std::string lacks_format(const RunPlan& plan, const Machine& machine) {
  const std::optional<double> has = experiments::capability_in(machine.facts().facts);
  if (plan.kind() != DeviceKind::kGpu || !has || *has >= kLeastCapability || !plan.params.has("precision")) return {};
  const std::string_view precision = plan.params.text("precision");
  if (precision == "fp32") return {};
  return fmt::format("{} has compute capability {:.1f}, but {} needs {:.1f}: use precision=fp32 or device=cpu.",
                     plan.device->name, *has, precision.substr(0, precision.find('_')), kLeastCapability);
}

// Replaces attention=auto by the device's kernel.
void take_attention(RunPlan& plan, const Machine& machine) {
  record::Params taken =
      experiments::with_attention_taken(plan.params, plan.kind(), experiments::capability_in(machine.facts().facts));
  if (taken == plan.params) return;
  const std::string kernel = taken.text("attention");
  plan.attention_taken = fmt::format("auto chose {} on {}", kernel, plan.device->name);
  plan.params = std::move(taken);
}

}  // namespace

int RunPlan::ranks_here(const Machine& machine) const {
  const auto& rank = machine.facts().rank;
  return ranks > 1 && rank && rank->local_ranks ? *rank->local_ranks : ranks;
}

record::Result<RunPlan> understand(const protocol::StartRun& start, const Machine& machine) {
  const experiments::DemoInfo* demo = experiments::find_demo(start.demo);
  const experiments::DemoRunner* runner = experiments::find_runner(start.demo);
  if (demo == nullptr || runner == nullptr) {
    return Error{
        fmt::format(
            "This engine has no demo '{}', so app and engine come from different builds: rebuild both with ./run.",
            start.demo),
        ErrorKind::kRefused};
  }
  record::Result<record::Params> params = record::Params::from_map(demo->schema, start.params);
  if (!params) return params.error();
  RunPlan plan{.runner = runner, .recorded = start.record && demo->records_memory, .params = std::move(params).value()};
  plan.device = machine.device(plan.params.text("device"));
  if (plan.device == nullptr) {
    return Error{"This machine has no usable NVIDIA GPU: use device=cpu (`headroom doctor` shows what is missing).",
                 ErrorKind::kRefused};
  }
  if (!machine.facts().rank_trouble.empty()) return Error{machine.facts().rank_trouble, ErrorKind::kRefused};
  take_attention(plan, machine);
  if (const std::string lack = lacks_format(plan, machine); !lack.empty()) return Error{lack, ErrorKind::kRefused};
  if (auto refused = experiments::refused_combination(plan.params, plan.kind()))
    return Error{*refused, ErrorKind::kRefused};
  if (const std::string lack = lacks_kernels(*plan.device, machine.facts()); !lack.empty()) {
    if (demo->needs_kernels) return Error{lack + ": use device=cpu.", ErrorKind::kRefused};
    if (const std::string alone = only_by_kernels(plan.params); !alone.empty())
      return Error{lack + "; " + alone, ErrorKind::kRefused};
    if (compose(plan.params)) plan.kernels_trouble = lack + ": this run uses PyTorch's operators instead.";
  }
  if (demo->ranks != nullptr) plan.ranks = static_cast<int>(demo->ranks(plan.params));
  if (plan.params.has("cap")) plan.cap = plan.params.integer("cap");
  if (plan.params.has(predict::kExpandableSegments))
    plan.expandable_segments = plan.params.on(predict::kExpandableSegments);
  return plan;
}

Traces traces_of(const RunPlan& plan, const Machine& machine) {
  if (!plan.params.has("trace") || !plan.params.on("trace") || !plan.recorded || machine.planner()) return {};
  const KernelTrace* tracer = machine.kernel_trace();
  if (tracer == nullptr) return {.trouble = "This engine was not started with --trace, so it traces nothing."};
  if (plan.kind() != DeviceKind::kGpu) return {.operators = true};
  return {.kernels = tracer->trouble().empty(), .trouble = tracer->trouble()};
}

record::RunInfo info_of(const protocol::StartRun& start, const RunPlan& plan, const Machine& machine) {
  record::RunInfo info{.demo = start.demo,
                       .params = plan.params.to_map(),
                       .provenance = machine.facts().facts,
                       .device = plan.kind(),
                       .source = machine.planner() ? record::Source::kPredicted : record::Source::kLive,
                       .cap = plan.cap,
                       .device_memory = plan.device->memory};
  if (const auto& rank = machine.facts().rank) {
    info.rank = rank->rank;
    info.ranks = rank->ranks;
    info.provenance[std::string(record::kRunName)] = rank->run;
  }
  if (plan.kind() == DeviceKind::kCpu) {
    for (const char* key : {"gpu", "gpu_trouble", "compute_capability", "driver", "driver_cuda"})
      info.provenance.erase(key);
  }
  info.provenance["device"] = plan.device->name;
  info.provenance["created"] = utc_now();
  const Traces traces = traces_of(plan, machine);
  if (traces.kernels) info.provenance["traced"] = "kernels, by " + machine.kernel_trace()->version();
  if (traces.operators) info.provenance["traced"] = "operators";
  if (!plan.attention_taken.empty()) info.provenance["attention"] = plan.attention_taken;
  if (!plan.kernels_trouble.empty()) info.provenance["kernels_trouble"] = plan.kernels_trouble;
  if (!traces.trouble.empty()) info.provenance["trace_trouble"] = traces.trouble;
  return info;
}

}  // namespace headroom::live
