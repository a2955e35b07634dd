// A Llama small enough to train in a test, with grouped heads.
#pragma once

#include "demos/llama/config.h"

namespace headroom::tests {

inline const llama::Config kSmallConfig{.id = "custom",
                                        .hidden_size = 64,
                                        .intermediate_size = 96,
                                        .num_layers = 3,
                                        .num_heads = 4,
                                        .num_kv_heads = 2,
                                        .head_dim = 16,
                                        .vocab_size = 300,
                                        .rope_theta = 10000};

}  // namespace headroom::tests
