// Settings of a small step under every scheme of sharing, with the techniques that each must support.
#pragma once

#include <string>
#include <vector>

#include "demos/experiments/combinations.h"
#include "tests/llama/step_fixture.h"

namespace headroom::tests {

inline const std::vector<Settings> kSchemes{{}, {"zero=1"}, {"zero=2"}, {"zero=3"}};

inline const std::vector<Settings> kBesideSchemes{
    {},
    {"accumulate=3"},
    {"clip=0.01"},
    {"precision=bf16_mixed"},
    {"precision=fp16_mixed", "loss_scale=1024"},
    {"precision=fp16_mixed", "clip=0.01"},
    {"precision=bf16", "reduce=fp32"},
    {"precision=bf16", "reduce=fp32", "accumulate=2"},
    {"checkpointing=layer"},
    {"checkpointing=every", "checkpoint_every=2"},
    {"checkpointing=selective"},
    {"loss=flce"},
    {"loss=flce", "loss_mode=lean"},
    {"loss=hf_2024"},
    {"loss=hf_2025"},
    {"loss=flce", "precision=bf16", "weight_gradient=fp32"},
    {"optimizer=adamw_8bit"},
    {"optimizer=adamw_foreach"},
    {"fused.adamw=off"},
    {"adapters=lora"},
    {"adapters=qlora", "precision=bf16"},
    {"adapters=lora", "precision=bf16", "lora_precision=fp32"},
    {"eval_every=1"},
    {"bucket=100KiB"},
    {"fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.cross_entropy=on", "fused.embedding=on"},
    {"attention=eager"},
    {"optimizer_in_backward=on"},
    {"offload.optimizer=host"},
    {"offload.optimizer=host", "precision=fp16_mixed"},
    {"offload.optimizer=host", "precision=bf16", "loss=flce", "weight_gradient=fp32"},
    {"offload.checkpoints=on", "checkpointing=layer"},
    {"offload.parameters=on", "offload.optimizer=host", "checkpointing=layer"},
};

// How far ahead weights are gathered matters where the order of layers differs.
inline const std::vector<Settings> kAhead{{"zero=3", "prefetch=0"}, {"zero=3", "prefetch=2"}};
inline const std::vector<Settings> kOrders{{},
                                           {"accumulate=2"},
                                           {"checkpointing=layer"},
                                           {"checkpointing=every", "checkpoint_every=2"},
                                           {"checkpointing=every", "checkpoint_every=3"},
                                           {"eval_every=1"},
                                           {"num_layers=1"}};

// Two groups, each with one copy of the states.
inline const std::vector<Settings> kHybrids{
    {"zero=1", "zero_group=2"}, {"zero=2", "zero_group=2"}, {"zero=3", "zero_group=2"}};
inline const std::vector<Settings> kBesideHybrids{
    {}, {"accumulate=2"}, {"clip=0.01"}, {"precision=bf16", "reduce=fp32"}};

// Every pair that is not refused.
inline std::vector<Settings> pairs_of(int ranks, const std::vector<Settings>& schemes,
                                      const std::vector<Settings>& beside) {
  std::vector<Settings> all;
  for (const Settings& scheme : schemes)
    for (const Settings& each : beside) {
      const Settings settings =
          joined(joined(kSmallSettings, joined({"device=cpu", "ranks=" + std::to_string(ranks)}, scheme)), each);
      if (!experiments::refused_combination(params(settings), record::DeviceKind::kCpu)) all.push_back(settings);
    }
  return all;
}

// For 2 or 4 ranks.
inline std::vector<Settings> rank_settings(int ranks) {
  if (ranks == 4) return pairs_of(ranks, kHybrids, kBesideHybrids);
  std::vector<Settings> all = pairs_of(ranks, kSchemes, kBesideSchemes);
  const std::vector<Settings> ahead = pairs_of(ranks, kAhead, kOrders);
  all.insert(all.end(), ahead.begin(), ahead.end());
  return all;
}

// The largest relative difference of losses that rounding explains. A sum of gradients in another order differs in the
// last bits, which 16-bit weights round to whole steps of 2^-8.
inline double tolerance(const Settings& settings) {
  for (const std::string& setting : settings)
    if (setting.starts_with("precision=") && setting != "precision=fp32") return 5e-3;
  for (const std::string& setting : settings)
    if (setting == "optimizer=adamw_8bit") return 1e-3;
  return 1e-6;
}

}  // namespace headroom::tests
