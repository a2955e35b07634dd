// Chunk by chunk: cast, step, cast back.
#include "demos/llama/cpu_adamw.h"

#include <algorithm>
#include <optional>

namespace headroom::llama {

namespace {

// 20 bytes a weight: so that the gradient's cast, the step and the cast back meet in the cores' own caches.
constexpr std::int64_t kChunk = std::int64_t{1} << 20;

}  // namespace

CpuAdamW::CpuAdamW(const AdamWOptions& options, at::ScalarType state_type, bool scaled, HostArena& arena)
    : options_(options), scaled_(scaled) {
  static const std::uint16_t op = record::intern_operator("adamw.scratch");
  const record::Scope scope(record::Tag{.category = record::Category::kOptimizerState, .op = op});
  count_ = arena.empty({}, at::kFloat, HostPages::kPageable);
  scale_ = arena.empty({}, at::kFloat, HostPages::kPageable);
  wide_gradient_ = arena.empty({kChunk}, state_type, HostPages::kPageable);
}

void CpuAdamW::begin_step(std::int64_t t, double loss_scale) {
  if (count_.is_meta()) return;
  count_.fill_(static_cast<double>(t));
  scale_.fill_(loss_scale);
}

void CpuAdamW::step(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, bool decays) const {
  const AdamWOptions& o = options_;
  for (std::int64_t done = 0; done < size; done += kChunk) {
    const auto chunk = [&](const at::Tensor& whole) {
      return whole.narrow(0, begin + done, std::min(kChunk, size - done));
    };
    const at::Tensor master = chunk(state.master);
    at::Tensor gradient = chunk(state.gradient);
    if (gradient.scalar_type() != master.scalar_type()) {
      gradient = wide_gradient_.narrow(0, 0, master.numel()).copy_(gradient);
    }
    at::_fused_adamw_({master}, {gradient}, {chunk(state.first_moment)}, {chunk(state.second_moment)},
                      /*max_exp_avg_sqs=*/{}, {count_}, o.learning_rate, o.beta1, o.beta2,
                      decays ? o.weight_decay : 0, o.epsilon, /*amsgrad=*/false, /*maximize=*/false,
                      scaled_ ? std::optional(scale_) : std::nullopt);
    if (state.working.const_data_ptr() != state.master.const_data_ptr()) chunk(state.working).copy_(master);
  }
}

}  // namespace headroom::llama
