// Settings of a small step under every scheme of sharing, with the techniques that each must support.
#pragma once

#include <string>
#include <vector>

#include "demos/experiments/combinations.h"
#include "tests/llama/step_fixture.h"

namespace headroom::tests {

inline const std::vector<Settings> kSchemes{
    {}, {"zero=1"}, {"zero=2"}, {"zero=3", "prefetch=0"}, {"zero=3", "prefetch=1"}, {"zero=3", "prefetch=2"},
};

// Some take two settings.
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
};

// Every pair that is not refused, for N ranks.
inline std::vector<Settings> rank_settings(int ranks) {
  std::vector<Settings> all;
  for (const Settings& scheme : kSchemes)
    for (const Settings& beside : kBesideSchemes) {
      const Settings settings =
          joined(joined(kSmallSettings, joined({"device=cpu", "ranks=" + std::to_string(ranks)}, scheme)), beside);
      if (!experiments::refused_combination(params(settings), record::DeviceKind::kCpu)) all.push_back(settings);
    }
  return all;
}

}  // namespace headroom::tests
