// The fused linear cross entropy on a GPU.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include <cuda_runtime_api.h>

#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"
#include "kernels/fused_linear_cross_entropy/parts.h"

namespace headroom::kernels {

namespace {

// Factor of fp16 dlogits, which the GEMMs' alpha removes.
constexpr float kFp16LogitsScale = 16384;

const void* advance(const void* data, std::int64_t elements, Storage storage) {
  return static_cast<const std::byte*>(data) + elements * bytes_of(storage);
}
void* advance(void* data, std::int64_t elements, Storage storage) {
  return static_cast<std::byte*>(data) + elements * bytes_of(storage);
}

// Queues nothing after the first error.
class Call {
 public:
  Call(const FlceProblem& problem, const FlceMemory& memory, CUstream_st* stream)
      : problem_(problem), memory_(memory), stream_(stream), plan_(flce_scratch_plan(problem)) {}

  int run() {
    if (problem_.tokens == 0) return no_rows();
    check(flce_labels_cuda(labels(), stream_));
    if (problem_.mode == FlceMode::kLean) {
      slices();
    } else {
      chunks();
    }
    check(cross_entropy_total_cuda(row_loss(), flce_rows(problem_), &scalars()->loss_factor, memory_.loss, stream_));
    return error_;
  }

 private:
  void check(int error) {
    if (error_ == 0) error_ = error;
  }

  template <typename T>
  T* scratch(std::int64_t offset) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory_.scratch) + offset);
  }
  FlceScalars* scalars() const { return scratch<FlceScalars>(plan_.scalars); }
  float* row_loss() const { return scratch<float>(plan_.row_loss); }
  std::int64_t* rows() const { return scratch<std::int64_t>(plan_.rows); }
  std::int64_t* row_targets() const { return scratch<std::int64_t>(plan_.row_targets); }
  void* gathered() const { return scratch<void>(plan_.gathered); }

  Storage storage() const { return problem_.storage; }
  Storage dweight_storage() const { return problem_.fp32_weight_gradient ? Storage::kFp32 : problem_.storage; }
  Storage dx_storage() const { return problem_.mode == FlceMode::kLean ? Storage::kFp32 : problem_.storage; }

  FlceLabels labels() const {
    const bool gathers = flce_gathers(problem_);
    return {.targets = memory_.targets,
            .tokens = problem_.tokens,
            .vocab = problem_.vocab,
            .ignore_index = problem_.ignore_index,
            .valid_count = problem_.valid_count,
            .reduction = problem_.reduction,
            .dlogits_scale = problem_.storage == Storage::kFp16 ? kFp16LogitsScale : 1.0f,
            .grad_scale = memory_.grad_scale,
            .error_flag = memory_.error_flag,
            .scalars = scalars(),
            .rows = gathers ? rows() : nullptr,
            .row_targets = gathers ? row_targets() : nullptr};
  }

  Product logits_product(std::int64_t count, std::int64_t columns) const {
    return {.rows = count,
            .columns = columns,
            .inner = problem_.hidden,
            .b_transposed = true,
            .a_stride = problem_.hidden,
            .b_stride = problem_.hidden,
            .d_stride = flce_logits_stride(problem_),
            .operands = storage(),
            .result = storage(),
            .tf32 = problem_.tf32};
  }
  Product dweight_product(std::int64_t count, std::int64_t columns) const {
    return {.rows = columns,
            .columns = problem_.hidden,
            .inner = count,
            .a_transposed = true,
            .a_stride = flce_logits_stride(problem_),
            .b_stride = problem_.hidden,
            .d_stride = problem_.hidden,
            .operands = storage(),
            .result = dweight_storage(),
            .tf32 = problem_.tf32};
  }
  Product dx_product(std::int64_t count, std::int64_t columns) const {
    return {.rows = count,
            .columns = problem_.hidden,
            .inner = columns,
            .a_stride = flce_logits_stride(problem_),
            .b_stride = problem_.hidden,
            .d_stride = problem_.hidden,
            .operands = storage(),
            .result = dx_storage(),
            .tf32 = problem_.tf32};
  }

  ProductMemory operands(const void* a, const void* b, void* d, const float* alpha, bool adds) const {
    return {.a = a,
            .b = b,
            .d = d,
            .alpha = alpha,
            .beta = adds ? &scalars()->one : &scalars()->zero,
            .workspace = memory_.workspace,
            .workspace_bytes = memory_.workspace_bytes};
  }
  void multiply_as(const Product& product, const Product& kind, const ProductMemory& memory) {
    if (error_ == 0) check(multiply(product, kind, memory, stream_));
  }
  // For GEMMs whose result may be overwritten.
  void search(const Product& product, const Product& kind, const ProductMemory& memory) {
    if (problem_.search && error_ == 0) check(find_algorithm(product, kind, std::span(&memory, 1), stream_));
  }
  void search_dweight(const Product& kind, std::int64_t count, std::int64_t columns, const void* x,
                      const Product& logits, const Product& logits_kind, const ProductMemory& logits_memory);

  void chunks();
  void chunk(std::int64_t first, std::int64_t count, bool adds);
  void slices();
  FlceSlice slice_at(std::int64_t first) const;
  int no_rows();
  void clear_dweight();

  const FlceProblem& problem_;
  const FlceMemory& memory_;
  CUstream_st* const stream_;
  const FlceScratchPlan plan_;
  int error_ = 0;
};

// dW accumulates, so a search must not write to it. It times fewer columns, with operand (logits) and result in the
// logits' memory, before the first logits are computed. C 1024, H 2048, bf16: 42,752 of 128,256 columns, still 20
// waves of tiles.
void Call::search_dweight(const Product& kind, std::int64_t count, std::int64_t columns, const void* x,
                          const Product& logits, const Product& logits_kind, const ProductMemory& logits_memory) {
  if (!problem_.search || error_ != 0 || algorithm_found(kind)) return;
  constexpr std::int64_t kStep = 64;
  const std::int64_t bytes_a_column = count * bytes_of(storage()) + problem_.hidden * bytes_of(dweight_storage());
  const std::int64_t timed = std::min(flce_logits_bytes(problem_) / bytes_a_column, columns) / kStep * kStep;
  if (timed == 0) return;
  multiply_as(logits, logits_kind, logits_memory);
  void* const result = advance(memory_.logits, count * timed, storage());
  const std::int64_t result_bytes = timed * problem_.hidden * bytes_of(dweight_storage());
  check(cudaMemsetAsync(result, 0, static_cast<std::size_t>(result_bytes), stream_));
  Product product = dweight_product(count, timed);
  product.a_stride = timed;
  const ProductMemory memory = operands(memory_.logits, x, result, &scalars()->one, true);
  check(find_algorithm(product, kind, std::span(&memory, 1), stream_));
}

void Call::clear_dweight() {
  if (problem_.accumulate || !problem_.weight_gradient) return;
  const std::int64_t bytes = problem_.vocab * problem_.hidden * bytes_of(dweight_storage());
  check(cudaMemsetAsync(memory_.dweight, 0, static_cast<std::size_t>(bytes), stream_));
}

int Call::no_rows() {
  clear_dweight();
  check(cudaMemsetAsync(memory_.loss, 0, sizeof(float), stream_));
  return error_;
}

void Call::chunks() {
  const std::int64_t all = flce_rows(problem_), step = flce_step(problem_);
  if (all == 0) clear_dweight();
  for (std::int64_t first = 0; first < all; first += step) {
    chunk(first, std::min(step, all - first), first > 0 || problem_.accumulate);
  }
  // The gradient of ignored rows is zero; their x is not read again.
  if (flce_gathers(problem_) && !problem_.loss_only) {
    check(flce_zero_ignored_cuda(storage(), memory_.targets, problem_.ignore_index, problem_.tokens, problem_.hidden,
                                 memory_.dx, stream_));
  }
}

// Logits, their gradient in place, then dW and only then dX, which may overwrite the chunk's x.
void Call::chunk(std::int64_t first, std::int64_t count, bool adds) {
  const bool gathers = flce_gathers(problem_);
  const std::int64_t hidden = problem_.hidden, vocab = problem_.vocab;
  const void* x = advance(memory_.x, first * hidden, storage());
  void* dx = problem_.loss_only ? nullptr : advance(memory_.dx, first * hidden, storage());
  if (gathers) {
    check(flce_gather_cuda(storage(), memory_.x, rows() + first, count, hidden, gathered(), stream_));
    x = dx = gathered();
  }
  // Rounded up to a power of two, so that a batch with other labels needs no search.
  const auto kind_tokens = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
  const Product logits_kind = logits_product(kind_tokens, vocab), dweight_kind = dweight_product(kind_tokens, vocab),
                dx_kind = dx_product(kind_tokens, vocab);
  const Product logits = logits_product(count, vocab);
  const ProductMemory logits_memory = operands(x, memory_.weight, memory_.logits, &scalars()->one, false);
  search(logits, logits_kind, logits_memory);
  if (problem_.weight_gradient) search_dweight(dweight_kind, count, vocab, x, logits, logits_kind, logits_memory);
  multiply_as(logits, logits_kind, logits_memory);
  check(cross_entropy_cuda({.storage = storage(),
                            .logits = memory_.logits,
                            .dlogits = problem_.loss_only ? nullptr : memory_.logits,
                            .targets = (gathers ? row_targets() : memory_.targets) + first,
                            .loss = row_loss() + first,
                            .scale = &scalars()->dlogits_scale,
                            .rows = count,
                            .vocab = vocab,
                            .stride = flce_logits_stride(problem_),
                            .ignore_index = problem_.ignore_index,
                            .label_smoothing = problem_.label_smoothing},
                           stream_));
  if (problem_.loss_only) return;
  if (problem_.weight_gradient) {
    multiply_as(dweight_product(count, vocab), dweight_kind,
                operands(memory_.logits, x, memory_.dweight, &scalars()->alpha, adds));
  }
  const Product dx_of_chunk = dx_product(count, vocab);
  const ProductMemory dx_memory = operands(memory_.logits, memory_.weight, dx, &scalars()->alpha, false);
  search(dx_of_chunk, dx_kind, dx_memory);
  multiply_as(dx_of_chunk, dx_kind, dx_memory);
  if (gathers) check(flce_scatter_cuda(storage(), gathered(), rows() + first, count, hidden, memory_.dx, stream_));
}

FlceSlice Call::slice_at(std::int64_t first) const {
  return {.storage = storage(),
          .logits = memory_.logits,
          .rows = problem_.tokens,
          .columns = std::min(flce_step(problem_), problem_.vocab - first),
          .stride = flce_logits_stride(problem_),
          .first = first,
          .vocab = problem_.vocab,
          .targets = memory_.targets,
          .ignore_index = problem_.ignore_index,
          .label_smoothing = problem_.label_smoothing,
          .parts = scratch<float>(plan_.slice_parts)};
}

// Once over the vocabulary for the softmax, and once backwards for the gradients, to reuse the last slice. A slice of
// dW is one GEMM, rounded once; dX is accumulated in fp32.
void Call::slices() {
  const std::int64_t tokens = problem_.tokens, hidden = problem_.hidden, vocab = problem_.vocab;
  const std::int64_t step = flce_step(problem_), last = (vocab - 1) / step * step;
  const Product logits_kind = logits_product(tokens, step), dweight_kind = dweight_product(tokens, step),
                dx_kind = dx_product(tokens, step);
  const auto logits_memory = [&](std::int64_t first) {
    return operands(memory_.x, advance(memory_.weight, first * hidden, storage()), memory_.logits, &scalars()->one,
                    false);
  };
  const auto dx_memory = [&](std::int64_t first) {
    return operands(memory_.logits, advance(memory_.weight, first * hidden, storage()), memory_.dx, &scalars()->alpha,
                    first != last);
  };
  search(logits_kind, logits_kind, logits_memory(0));
  if (problem_.weight_gradient) {
    search_dweight(dweight_kind, tokens, step, memory_.x, logits_kind, logits_kind, logits_memory(0));
  }
  if (problem_.search && !problem_.loss_only && !algorithm_found(dx_kind)) {
    multiply_as(logits_kind, logits_kind, logits_memory(0));
    search(dx_kind, dx_kind, operands(memory_.logits, memory_.weight, memory_.dx, &scalars()->alpha, false));
  }
  for (std::int64_t first = 0; first < vocab; first += step) {
    const FlceSlice slice = slice_at(first);
    multiply_as(logits_product(tokens, slice.columns), logits_kind, logits_memory(first));
    check(flce_slice_parts_cuda(slice, stream_));
  }
  check(flce_slice_loss_cuda(slice_at(0), row_loss(), stream_));
  if (problem_.loss_only) return;
  for (std::int64_t first = last; first >= 0; first -= step) {
    const FlceSlice slice = slice_at(first);
    if (first != last) multiply_as(logits_product(tokens, slice.columns), logits_kind, logits_memory(first));
    check(flce_slice_gradient_cuda(slice, &scalars()->dlogits_scale, stream_));
    if (problem_.weight_gradient) {
      multiply_as(dweight_product(tokens, slice.columns), dweight_kind,
                  operands(memory_.logits, memory_.x, advance(memory_.dweight, first * hidden, dweight_storage()),
                           &scalars()->alpha, problem_.accumulate));
    }
    multiply_as(dx_product(tokens, slice.columns), dx_kind, dx_memory(first));
  }
}

}  // namespace

int flce_cuda(const FlceProblem& problem, const FlceMemory& memory, CUstream_st* stream) {
  return Call(problem, memory, stream).run();
}

}  // namespace headroom::kernels
