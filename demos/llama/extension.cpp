// Counts MLPs and parameters.
#include "demos/llama/extension.h"

#include <algorithm>

#include "demos/llama/layer_weights.h"

namespace headroom::llama {

std::int64_t Mlps::stored_size() const {
  return plain.stored * plain.size + expert.stored * expert.size + shared.stored * shared.size;
}

std::int64_t Mlps::taken_size() const {
  return plain.taken * plain.size + expert.taken * expert.size + shared.taken * shared.size;
}

std::int64_t Mlps::widest() const {
  std::int64_t widest = 0;
  for (const Mlp& mlp : {plain, expert, shared})
    if (mlp.stored > 0) widest = std::max(widest, mlp.size);
  return widest;
}

Mlps mlps(const Config& config, const Extension& extension) {
  const Experts experts = extension.experts.value_or(Experts{});
  const std::int64_t sparse = experts.layers, plain = config.num_layers - sparse;
  const std::int64_t shared = experts.shared_size > 0 ? sparse : 0;
  return {.plain = {.size = config.intermediate_size, .stored = plain, .taken = plain},
          .expert = {.size = experts.size, .stored = sparse * experts.count, .taken = sparse * experts.per_token},
          .shared = {.size = experts.shared_size, .stored = shared, .taken = shared}};
}

std::int64_t num_parameters(const Config& c, const Extension& extension) {
  std::int64_t sum = (c.tie_word_embeddings ? 1 : 2) * c.vocab_size * c.hidden_size + c.hidden_size;
  for (const LayerWeight& weight : layer_weights(c, extension)) sum += weight.count * weight.elements();
  return sum;
}

}  // namespace headroom::llama
