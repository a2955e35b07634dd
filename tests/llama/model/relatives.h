// Small models with the additions of Llama's relatives.
#pragma once

#include <array>

#include "demos/llama/config.h"
#include "tests/llama/model/small_config.h"

namespace headroom::tests {

inline llama::Config relative(bool qkv_bias, bool o_bias, bool qk_norm) {
  llama::Config config = kSmallConfig;
  config.qkv_bias = qkv_bias;
  config.o_bias = o_bias;
  config.qk_norm = qk_norm;
  return config;
}

// Configs like Qwen2; Llama with attention_bias; Qwen3; Qwen3 with attention_bias.
inline const std::array<llama::Config, 4> kRelatives{relative(true, false, false), relative(true, true, false),
                                                     relative(false, false, true), relative(true, true, true)};

}  // namespace headroom::tests
