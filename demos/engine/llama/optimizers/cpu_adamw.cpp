// Steps in chunks: cast, step, cast back.
#include "demos/engine/llama/optimizers/cpu_adamw.h"

#include <algorithm>
#include <utility>

#include "demos/engine/llama/model/labels.h"

namespace headroom::llama {

namespace {

// Elements that a thread steps at once: 1 MiB of fp32 gradients and 1 MiB of masters stay in the core's cache between
// cast, step and cast back. Chunks of half that size were a sixth slower, because each PyTorch call costs time. Small
// models have smaller chunks, to save memory.
constexpr std::int64_t kMostChunk = std::int64_t{1} << 18, kLeastChunk = kMostChunk / StepThreads::kMost;

}  // namespace

CpuAdamW::CpuAdamW(const AdamWOptions& options, at::ScalarType state_type, std::int64_t most_to_widen, HostArena& arena)
    : options_(options), chunk_(kMostChunk) {
  const record::Scope scope(record::Tag{.category = record::Category::kOptimizerState, .op = number_of(Op::kScratch)});
  if (most_to_widen == 0) return;
  chunk_ = std::min(kMostChunk, (most_to_widen + kMostChunk - 1) / kMostChunk * kLeastChunk);
  wide_gradients_ = arena.empty({StepThreads::kMost, chunk_}, state_type, HostPages::kPageable);
}

// Chunks begin at multiples of their size, so that vectorized loops cover the same elements for any number of threads.
void CpuAdamW::step(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, const CpuAdamWStep& how,
                    StepThreads& threads, std::function<void()> then) const {
  threads.share((size + chunk_ - 1) / chunk_,
                [this, state, begin, size, how](std::size_t thread, std::int64_t i) {
                  step_chunk(state, begin + i * chunk_, std::min(chunk_, size - i * chunk_), how, thread);
                },
                std::move(then));
}

void CpuAdamW::step_chunk(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, const CpuAdamWStep& how,
                          std::size_t thread) const {
  const at::NoGradGuard no_grad;
  const AdamWOptions& o = options_;
  const auto chunk = [&](const at::Tensor& whole) { return whole.narrow(0, begin, size); };
  const at::Tensor master = chunk(state.master);
  at::Tensor gradient = chunk(state.gradient);
  if (gradient.scalar_type() != master.scalar_type()) {
    gradient = wide_gradients_.select(0, static_cast<std::int64_t>(thread)).narrow(0, 0, size).copy_(gradient);
  }
  // Scales the gradients in the core's cache: PyTorch's kernel would divide, which is a quarter slower. The factor is a
  // tensor, because for a plain number PyTorch would allocate two tensors here at unpredictable moments.
  float inverse_scale = 1 / how.loss_scale;
  if (how.loss_scale != 1) gradient.mul_(at::from_blob(&inverse_scale, {}, at::kFloat));
  auto t = static_cast<float>(how.t);
  at::_fused_adamw_({master}, {gradient}, {chunk(state.first_moment)}, {chunk(state.second_moment)},
                    /*max_exp_avg_sqs=*/{}, {at::from_blob(&t, {}, at::kFloat)}, o.learning_rate, o.beta1, o.beta2,
                    how.decays ? o.weight_decay : 0, o.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  if (state.working.const_data_ptr() != state.master.const_data_ptr()) chunk(state.working).copy_(master);
}

}  // namespace headroom::llama
