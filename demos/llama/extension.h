// What published relatives of Llama have and the step here does not: the closed form alone counts it.
#pragma once

#include <cstdint>
#include <optional>

#include "demos/llama/config.h"

namespace headroom::llama {

// A mixture of experts in place of a layer's MLP (Jiang et al. 2024, arXiv:2401.04088 §2.1): a router [E, H] picks
// `per_token` of `count` MLPs for each token and adds up their results by the router's weights.
struct Experts {
  std::int64_t layers = 0;     // that have them; the others have one MLP of Config::intermediate_size
  std::int64_t count = 0;      // E
  std::int64_t per_token = 0;  // k
  std::int64_t size = 0;       // F of one expert
  // F of an MLP beside them that every token takes, with a gate [1, H] (Qwen2-MoE); 0: none.
  std::int64_t shared_size = 0;
};

struct Extension {
  std::optional<Experts> experts;
  bool mlp_bias = false;    // gate, up and down have biases
  bool post_norms = false;  // attention's and the MLP's results are normed before they are added (Gemma 2 and 3)
};

// An MLP of all layers together: 32 layers of 8 experts of 14,336 are 256 of these.
struct Mlp {
  std::int64_t size = 0;    // F
  std::int64_t stored = 0;  // how many have weights
  std::int64_t taken = 0;   // how many a token goes through
};
struct Mlps {
  Mlp plain, expert, shared;  // stored 0: there are none

  std::int64_t stored_size() const;  // F of all that have weights, together
  std::int64_t taken_size() const;   // F of all that a token goes through
  std::int64_t widest() const;       // F of the largest single matrix
  std::int64_t taken() const { return plain.taken + expert.taken + shared.taken; }
};
Mlps mlps(const Config& config, const Extension& extension);

// Beside the seven matrices, the norms and the biases of a Config, in all layers: routers and gates; biases of MLPs;
// norms of results.
std::int64_t extra_parameters(const Config& config, const Extension& extension);

// Mixtral 8x7B: 46,702,792,704. Qwen3-30B-A3B: 30,532,122,624.
std::int64_t num_parameters(const Config& config, const Extension& extension);

}  // namespace headroom::llama
