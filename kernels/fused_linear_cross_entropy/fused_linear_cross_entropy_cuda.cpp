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

// Factor of fp16 dlogits, removed by the GEMMs' alpha.
constexpr float kFp16LogitsScale = 16384;

const void* advance(const void* data, std::int64_t elements, Storage storage) {
  return static_cast<const std::byte*>(data) + elements * bytes_of(storage);
}
void* advance(void* data, std::int64_t elements, Storage storage) {
  return static_cast<std::byte*>(data) + elements * bytes_of(storage);
}

// logits = x·Wᵀ, dW = dlogitsᵀ·x, dX = dlogits·W.
struct Products {
  Product logits, dweight, dx;
};

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

  Products products(std::int64_t count, std::int64_t columns) const;
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

  void chunks();
  void chunk(std::int64_t first, std::int64_t count, bool adds);
  void slices();
  FlceSlice slice_at(std::int64_t first) const;
  int no_rows();
  void clear_dweight();

  void search(const Product& product, const Product& kind, const ProductMemory& memory);
  void search_logits_and_dweight(const Products& products, const Products& kinds, const void* x,
                                 const ProductMemory& logits);
  void search_dweight(const Products& products, const Products& kinds, const void* x, const ProductMemory& logits);

  const FlceProblem& problem_;
  const FlceMemory& memory_;
  CUstream_st* const stream_;
  const FlceScratchPlan plan_;
  int error_ = 0;
};

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

// Computes logits, their gradient in place, dW, and only then dX, which may overwrite x.
void Call::chunk(std::int64_t first, std::int64_t count, bool adds) {
  const bool gathers = flce_gathers(problem_);
  const std::int64_t hidden = problem_.hidden, vocab = problem_.vocab;
  const void* x = advance(memory_.x, first * hidden, storage());
  void* dx = problem_.loss_only ? nullptr : advance(memory_.dx, first * hidden, storage());
  if (gathers) {
    check(flce_gather_cuda(storage(), memory_.x, rows() + first, count, hidden, gathered(), stream_));
    x = dx = gathered();
  }
  // Rounded up to a power of two, so another number of valid rows needs no search.
  const auto kind_tokens = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
  const Products now = products(count, vocab), kinds = products(kind_tokens, vocab);
  const ProductMemory logits = operands(x, memory_.weight, memory_.logits, &scalars()->one, false);
  search_logits_and_dweight(now, kinds, x, logits);
  multiply_as(now.logits, kinds.logits, logits);
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
    multiply_as(now.dweight, kinds.dweight, operands(memory_.logits, x, memory_.dweight, &scalars()->alpha, adds));
  }
  const ProductMemory dx_memory = operands(memory_.logits, memory_.weight, dx, &scalars()->alpha, false);
  search(now.dx, kinds.dx, dx_memory);
  multiply_as(now.dx, kinds.dx, dx_memory);
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

// Goes over the vocabulary once for the softmax, and once in reverse for the gradients, to reuse the last slice's
// logits. Each slice of dW is rounded once; dX is accumulated in fp32.
void Call::slices() {
  const std::int64_t tokens = problem_.tokens, hidden = problem_.hidden, vocab = problem_.vocab;
  const std::int64_t step = flce_step(problem_), last = (vocab - 1) / step * step;
  const Products kinds = products(tokens, step);
  const auto logits_memory = [&](std::int64_t first) {
    return operands(memory_.x, advance(memory_.weight, first * hidden, storage()), memory_.logits, &scalars()->one,
                    false);
  };
  const auto dx_memory = [&](std::int64_t first) {
    return operands(memory_.logits, advance(memory_.weight, first * hidden, storage()), memory_.dx, &scalars()->alpha,
                    first != last);
  };
  search_logits_and_dweight(kinds, kinds, memory_.x, logits_memory(0));
  if (!problem_.loss_only && !algorithm_found(kinds.dx)) {
    multiply_as(kinds.logits, kinds.logits, logits_memory(0));
    search(kinds.dx, kinds.dx, operands(memory_.logits, memory_.weight, memory_.dx, &scalars()->alpha, false));
  }
  for (std::int64_t first = 0; first < vocab; first += step) {
    const FlceSlice slice = slice_at(first);
    multiply_as(products(tokens, slice.columns).logits, kinds.logits, logits_memory(first));
    check(flce_slice_parts_cuda(slice, stream_));
  }
  check(flce_slice_loss_cuda(slice_at(0), row_loss(), stream_));
  if (problem_.loss_only) return;
  for (std::int64_t first = last; first >= 0; first -= step) {
    const FlceSlice slice = slice_at(first);
    const Products now = products(tokens, slice.columns);
    if (first != last) multiply_as(now.logits, kinds.logits, logits_memory(first));
    check(flce_slice_gradient_cuda(slice, &scalars()->dlogits_scale, stream_));
    if (problem_.weight_gradient) {
      multiply_as(now.dweight, kinds.dweight,
                  operands(memory_.logits, memory_.x, advance(memory_.dweight, first * hidden, dweight_storage()),
                           &scalars()->alpha, problem_.accumulate));
    }
    multiply_as(now.dx, kinds.dx, dx_memory(first));
  }
}

Products Call::products(std::int64_t count, std::int64_t columns) const {
  const std::int64_t hidden = problem_.hidden, stride = flce_logits_stride(problem_);
  return {.logits = {.rows = count,
                     .columns = columns,
                     .inner = hidden,
                     .b_transposed = true,
                     .a_stride = hidden,
                     .b_stride = hidden,
                     .d_stride = stride,
                     .operands = storage(),
                     .result = storage(),
                     .tf32 = problem_.tf32},
          .dweight = {.rows = columns,
                      .columns = hidden,
                      .inner = count,
                      .a_transposed = true,
                      .a_stride = stride,
                      .b_stride = hidden,
                      .d_stride = hidden,
                      .operands = storage(),
                      .result = dweight_storage(),
                      .tf32 = problem_.tf32},
          .dx = {.rows = count,
                 .columns = hidden,
                 .inner = columns,
                 .a_stride = stride,
                 .b_stride = hidden,
                 .d_stride = hidden,
                 .operands = storage(),
                 .result = dx_storage(),
                 .tf32 = problem_.tf32}};
}

// Only for GEMMs whose result may be overwritten.
void Call::search(const Product& product, const Product& kind, const ProductMemory& memory) {
  if (error_ == 0) check(find_algorithm(product, kind, std::span(&memory, 1), stream_));
}

// Runs before the first logits are computed, because a search overwrites them.
void Call::search_logits_and_dweight(const Products& products, const Products& kinds, const void* x,
                                     const ProductMemory& logits) {
  search(products.logits, kinds.logits, logits);
  if (problem_.weight_gradient) search_dweight(products, kinds, x, logits);
}

// dW accumulates, so a search must not write to it. The search times fewer columns, with logits and result both in the
// logits' memory. Example: chunks of 1024, H 2048, bf16: 42,752 of 128,256 columns, still 20 waves of tiles.
void Call::search_dweight(const Products& products, const Products& kinds, const void* x, const ProductMemory& logits) {
  if (error_ != 0 || algorithm_found(kinds.dweight)) return;
  constexpr std::int64_t kStep = 64;
  Product product = products.dweight;
  const std::int64_t bytes_a_column =
      product.inner * bytes_of(storage()) + problem_.hidden * bytes_of(dweight_storage());
  const std::int64_t timed = std::min(flce_logits_bytes(problem_) / bytes_a_column, product.rows) / kStep * kStep;
  if (timed == 0) return;
  product.rows = product.a_stride = timed;
  multiply_as(products.logits, kinds.logits, logits);
  void* const result = advance(memory_.logits, product.inner * timed, storage());
  const std::int64_t result_bytes = timed * problem_.hidden * bytes_of(dweight_storage());
  check(cudaMemsetAsync(result, 0, static_cast<std::size_t>(result_bytes), stream_));
  const ProductMemory memory = operands(memory_.logits, x, result, &scalars()->one, true);
  check(find_algorithm(product, kinds.dweight, std::span(&memory, 1), stream_));
}

}  // namespace

int flce_cuda(const FlceProblem& problem, const FlceMemory& memory, CUstream_st* stream) {
  return Call(problem, memory, stream).run();
}

}  // namespace headroom::kernels
