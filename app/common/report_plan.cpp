#include "app/common/report_plan.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace headroom::app {

using record::Params;

namespace {

// Without the output kept from one step to the next, the first two would be smaller than the report's.
struct Strategy {
  std::string_view series;
  std::array<std::string_view, 6> settings;
};
constexpr std::array<Strategy, 3> kStrategies{{
    {"hf", {"loss=hf_2024", "keep_output=on"}},
    {"liger_without_flce", {"loss=hf_2024", "keep_output=on", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on"}},
    {"liger_all", {"loss=flce", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.embedding=on"}},
}};

// 23.2 GiB: the report's card has 24,564 MiB, of which its CUDA context and the driver take the rest.
constexpr std::array<std::string_view, 8> kFull{
    "model=llama-3.2-1b",     "precision=fp16_mixed",  "loss_scale=128", "checkpointing=layer",
    "offload.optimizer=host", "offload.parameters=on", "cap=23.2GiB",    "steps=4"};
// bf16 for fp16, whose products are slow on CPUs.
constexpr std::array<std::string_view, 8> kQuick{"model=tiny",
                                                 "precision=bf16_mixed",
                                                 "checkpointing=layer",
                                                 "offload.optimizer=host",
                                                 "offload.parameters=on",
                                                 "cap=96MiB",
                                                 "steps=3",
                                                 "device=cpu"};

struct Shapes {
  std::int64_t seq;  // of the sweep over the batch
  std::vector<std::int64_t> batches;
  std::vector<std::int64_t> further;  // batches that the report did not try, with everything on
  std::int64_t batch;                 // of the sweep over the length
  std::vector<std::int64_t> seqs;
};
Shapes shapes(bool quick) {
  if (quick) return {128, {1, 2, 4, 8, 16}, {}, 2, {64, 128, 256, 512, 1024}};
  return {1024, {1, 4, 8, 16, 32, 64, 96, 112}, {128, 144}, 4, {512, 1024, 2048, 4096, 8192, 12288, 16384, 24576}};
}

void set_known(Params& params, std::string_view assignment) {
  if (auto set = params.set_assignment(assignment); !set) throw std::logic_error(set.error().message);
}

// The timelines of the report's figures 12 and 15, or in a quick run the ones like them.
bool has_timeline(std::string_view series, std::int64_t batch, std::int64_t seq, bool quick) {
  if (quick) return seq == 128 && batch == 4 && series != "liger_without_flce";
  if (seq != 1024) return false;
  return (series == "hf" && batch == 8) || (series == "liger_all" && (batch == 4 || batch == 8 || batch == 112));
}

}  // namespace

Params report_settings(const experiments::DemoInfo& train_step, bool quick) {
  Params params(train_step.schema);
  if (quick)
    for (const std::string_view assignment : kQuick) set_known(params, assignment);
  else
    for (const std::string_view assignment : kFull) set_known(params, assignment);
  return params;
}

SweepPlan plan_report(const Params& base, bool quick, const std::filesystem::path& timelines) {
  SweepPlan plan;
  plan.name = "report";
  plan.demo = "train_step";
  const Shapes sizes = shapes(quick);
  for (const Strategy& strategy : kStrategies) {
    const auto add = [&](std::int64_t batch, std::int64_t seq) {
      PlannedPoint point;
      point.series = strategy.series;
      point.label = fmt::format("{} × {}", batch, seq);
      point.params = base;
      const auto same = [&](const PlannedPoint& p) { return p.series == point.series && p.label == point.label; };
      if (std::any_of(plan.points.begin(), plan.points.end(), same)) return;  // both sweeps have one in common
      for (const std::string_view setting : strategy.settings)
        if (!setting.empty()) set_known(point.params, setting);
      set_known(point.params, fmt::format("batch={}", batch));
      set_known(point.params, fmt::format("seq={}", seq));
      if (!timelines.empty() && has_timeline(strategy.series, batch, seq, quick))
        point.keep = timelines / std::filesystem::path(fmt::format("{}_b{}_t{}.hrec", strategy.series, batch, seq));
      plan.points.push_back(std::move(point));
    };
    for (const std::int64_t batch : sizes.batches) add(batch, sizes.seq);
    if (strategy.series == "liger_all")
      for (const std::int64_t batch : sizes.further) add(batch, sizes.seq);
    for (const std::int64_t seq : sizes.seqs) add(sizes.batch, seq);
  }
  return plan;
}

}  // namespace headroom::app
