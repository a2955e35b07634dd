// Parts of Llama's published relatives that only the closed form supports.
#pragma once

#include <cstdint>
#include <optional>

#include "demos/llama/config.h"

namespace headroom::llama {

// Mixture of experts (Jiang et al. 2024, arXiv:2401.04088 §2.1): a router [E, H] picks `per_token` of `count` MLPs
// for each token and sums their results, weighted by the router.
struct Experts {
  std::int64_t layers = 0;     // layers with experts; the others have one MLP of Config::intermediate_size
  std::int64_t count = 0;      // E
  std::int64_t per_token = 0;  // k
  std::int64_t size = 0;       // F of one expert
  // F of an additional MLP for every token, with a gate [1, H] (Qwen2-MoE); 0: none.
  std::int64_t shared_size = 0;
};

struct Extension {
  std::optional<Experts> experts;
  bool mlp_bias = false;    // biases of gate, up and down
  bool post_norms = false;  // norms on attention's and the MLP's results (Gemma 2 and 3)
};

// MLPs of one kind, summed over layers: 32 layers of 8 experts have 256.
struct Mlp {
  std::int64_t size = 0;    // F
  std::int64_t stored = 0;  // number whose weights are stored
  std::int64_t taken = 0;   // number used per token
};
struct Mlps {
  Mlp plain, expert, shared;  // absent if `stored` is 0

  std::int64_t stored_size() const;  // summed F of all MLPs
  std::int64_t taken_size() const;   // summed F of a token's MLPs
  std::int64_t widest() const;
};
Mlps mlps(const Config& config, const Extension& extension);

// Mixtral 8x7B: 46,702,792,704. Qwen3-30B-A3B: 30,532,122,624.
std::int64_t num_parameters(const Config& config, const Extension& extension);

}  // namespace headroom::llama
