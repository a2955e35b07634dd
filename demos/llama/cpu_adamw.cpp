// Chunk by chunk: cast, step, cast back.
#include "demos/llama/cpu_adamw.h"

#include <algorithm>
#include <optional>

#include <ATen/Parallel.h>

namespace headroom::llama {

namespace {

// What a thread steps at a time: 1 MiB of gradients in fp32 and as much of masters stay in the core's own cache between
// cast, step and cast back. Half of it made steps a sixth slower: calling PyTorch takes a while, too.
constexpr std::int64_t kChunk = std::int64_t{1} << 18;
// Shares end between blocks, so that a loop's vector part takes the same elements whatever the number of threads.
constexpr std::int64_t kBlock = std::int64_t{1} << 15;

}  // namespace

StepThreads::StepThreads() : count_(at::get_num_threads()) { count_ = std::max(1, count_ - std::max(1, count_ / 8)); }

void StepThreads::take() const { at::set_num_threads(count_); }

CpuAdamW::CpuAdamW(const AdamWOptions& options, at::ScalarType state_type, bool scaled, std::int64_t most_to_widen,
                   HostArena& arena)
    : options_(options), scaled_(scaled) {
  static const std::uint16_t op = record::intern_operator("adamw.scratch");
  const record::Scope scope(record::Tag{.category = record::Category::kOptimizerState, .op = op});
  count_ = arena.empty({}, at::kFloat, HostPages::kPageable);
  scale_ = arena.empty({}, at::kFloat, HostPages::kPageable);
  if (most_to_widen == 0) return;
  most_threads_ = std::clamp<std::int64_t>((most_to_widen + kChunk - 1) / kChunk, 1, kMostThreads);
  wide_gradients_ = arena.empty({most_threads_, kChunk}, state_type, HostPages::kPageable);
}

void CpuAdamW::begin_step(std::int64_t t, double loss_scale) {
  if (count_.is_meta()) return;
  count_.fill_(static_cast<double>(t));
  scale_.fill_(loss_scale);
}

// One parallel loop over all of it, in which PyTorch's operators find themselves on one thread each. A loop for each
// chunk and operator would wake all threads every 0.1 ms, which with 16 of them takes half as long again.
void CpuAdamW::step(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, bool decays) const {
  const std::int64_t blocks = (size + kBlock - 1) / kBlock, grain = (blocks + most_threads_ - 1) / most_threads_;
  at::parallel_for(0, blocks, grain, [&](std::int64_t first, std::int64_t last) {
    const at::NoGradGuard no_grad;
    const std::int64_t end = std::min(last * kBlock, size);
    for (std::int64_t at = first * kBlock; at < end; at += kChunk) {
      step_chunk(state, begin + at, std::min(kChunk, end - at), decays);
    }
  });
}

void CpuAdamW::step_chunk(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, bool decays) const {
  const AdamWOptions& o = options_;
  const auto chunk = [&](const at::Tensor& whole) { return whole.narrow(0, begin, size); };
  const at::Tensor master = chunk(state.master);
  at::Tensor gradient = chunk(state.gradient);
  if (gradient.scalar_type() != master.scalar_type()) {
    gradient = wide_gradients_.select(0, at::get_thread_num()).narrow(0, 0, size).copy_(gradient);
  }
  at::_fused_adamw_({master}, {gradient}, {chunk(state.first_moment)}, {chunk(state.second_moment)},
                    /*max_exp_avg_sqs=*/{}, {count_}, o.learning_rate, o.beta1, o.beta2, decays ? o.weight_decay : 0,
                    o.epsilon, /*amsgrad=*/false, /*maximize=*/false, scaled_ ? std::optional(scale_) : std::nullopt);
  if (state.working.const_data_ptr() != state.master.const_data_ptr()) chunk(state.working).copy_(master);
}

}  // namespace headroom::llama
