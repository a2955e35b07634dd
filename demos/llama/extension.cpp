// Parameters of parts that the step does not support.
#include "demos/llama/extension.h"

#include <algorithm>

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

std::int64_t extra_parameters(const Config& config, const Extension& extension) {
  const std::int64_t h = config.hidden_size;
  const Experts experts = extension.experts.value_or(Experts{});
  std::int64_t sum = experts.layers * h * (experts.count + (experts.shared_size > 0 ? 1 : 0));
  if (extension.mlp_bias) {
    const Mlps all = mlps(config, extension);
    sum += 2 * all.stored_size() + h * (all.plain.stored + all.expert.stored + all.shared.stored);
  }
  if (extension.post_norms) sum += config.num_layers * 2 * h;
  return sum;
}

std::int64_t num_parameters(const Config& config, const Extension& extension) {
  const std::int64_t of_plain = config.num_layers * config.intermediate_size;
  const std::int64_t more = mlps(config, extension).stored_size() - of_plain;
  return num_parameters(config) + 3 * config.hidden_size * more + extra_parameters(config, extension);
}

}  // namespace headroom::llama
