// Meta kernels: shapes and allocations of the real ones, in their order.
#include "demos/engine/llama/model/meta_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <ATen/Parallel.h>
#include <ATen/ops/add_meta_dispatch.h>
#include <ATen/record_function.h>
#include <torch/library.h>

#include "demos/predict/cards/gpu_extras.h"
#include "demos/predict/forms/step_bytes.h"

namespace headroom::llama {

namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

thread_local int t_open_nodes = 0;     // running autograd nodes, nested
thread_local int t_engine_level = -1;  // t_open_nodes at the innermost engine call; -1: none

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// [B, heads, T, D], stored as [B, T, heads, D] like attention's results.
Tensor empty_like_transposed(const Tensor& x) {
  return at::empty({x.size(0), x.size(2), x.size(1), x.size(3)}, x.options()).transpose(1, 2);
}

Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index) {
  std::vector<std::int64_t> shape = self.sizes().vec();
  shape[static_cast<std::size_t>(dim < 0 ? dim + self.dim() : dim)] = index.numel();
  return at::empty(shape, self.options());
}

Tensor embedding_dense_backward(const Tensor& gradient, const Tensor&, std::int64_t num_weights, std::int64_t, bool) {
  return at::empty({num_weights, gradient.size(-1)}, gradient.options());
}

// --- attention on the CPU: aten/src/ATen/native/cpu/FlashAttentionKernel.cpp

struct CpuTiles {
  std::int64_t queries, keys;
};

CpuTiles cpu_tiles(std::int64_t length) {
  const std::int64_t queries = length >= 768 ? 256 : length >= 192 ? 64 : 32;
  return {.queries = std::min(queries, length), .keys = std::min<std::int64_t>(512, length)};
}

// Number of threads that at::parallel_for uses for `count` items in parts of ⌈count / threads⌉: 2 for 4 items and 3
// threads, in two parts of 2 (ATen/ParallelOpenMP.h).
std::int64_t busy_threads(std::int64_t count) {
  const auto parts_of = [count](std::int64_t size) { return (count + size - 1) / size; };
  return parts_of(parts_of(std::min<std::int64_t>(at::get_num_threads(), count)));
}

std::tuple<Tensor, Tensor> cpu_flash(const Tensor& q, const Tensor&, const Tensor& v, double, bool,
                                     const OptionalTensor&, std::optional<double>) {
  const std::int64_t batch = q.size(0), heads = q.size(1), length = q.size(2), dim = v.size(3);
  const auto fp32 = q.options().dtype(at::kFloat);
  const Tensor out = at::empty({batch, length, heads, dim}, q.options());
  const Tensor log_sum_exp = at::empty({batch, length, heads}, fp32);
  const CpuTiles tile = cpu_tiles(length);
  const Tensor scratch = at::empty({at::get_num_threads(), tile.queries * (tile.keys + 2 + dim)},
                                   fp32);  // scores, row maxima and sums, out
  Tensor probabilities;                    // in 16 bits
  if (q.scalar_type() != at::kFloat) {
    probabilities = at::empty({at::get_num_threads(), tile.queries, tile.keys}, q.options());
  }
  return {out.transpose(1, 2), log_sum_exp.transpose(1, 2)};
}

std::tuple<Tensor, Tensor, Tensor> cpu_flash_backward(const Tensor&, const Tensor& q, const Tensor& k, const Tensor& v,
                                                      const Tensor&, const Tensor&, double, bool, const OptionalTensor&,
                                                      std::optional<double>) {
  const Tensor dq = empty_like_transposed(q), dk = empty_like_transposed(k), dv = empty_like_transposed(v);
  const CpuTiles tile = cpu_tiles(q.size(2));
  const auto fp32 = q.options().dtype(at::kFloat);
  const std::array<std::int64_t, 4> tiles{at::get_num_threads(), 2, tile.queries, tile.keys};
  const Tensor scratch = at::empty(tiles, fp32);
  Tensor in_16_bits;  // `scratch` rounded for GEMMs
  if (q.scalar_type() != at::kFloat) in_16_bits = at::empty(tiles, q.options());
  // Each thread allocates one such tensor per key head, for the query heads that share it; here those of all threads
  // exist at once.
  std::vector<Tensor> row_sums;
  for (int i = 0; i < busy_threads(k.size(0) * k.size(1)); ++i) row_sums.push_back(at::empty({tile.queries}, fp32));
  return {dq, dk, dv};
}

// --- attention on CUDA: aten/src/ATen/native/transformers/cuda

using FlashResult = std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

// Number of parts into which a forward pass with few blocks splits the keys (flash_attn/flash_api.cpp,
// num_splits_heuristic() and set_params_splitkv()): the fewest with at least 85 % of the best occupancy.
std::int64_t key_splits(std::int64_t heads, std::int64_t length, std::int64_t dim) {
  constexpr std::int64_t kQueries = 64, kMost = 128;
  constexpr std::int64_t kPlaces = 2 * predict::kMultiprocessors;  // concurrent blocks
  const std::int64_t keys = dim <= 64 ? 256 : dim <= 128 ? 128 : 64;
  const auto blocks_of = [](std::int64_t amount, std::int64_t size) { return (amount + size - 1) / size; };
  const std::int64_t blocks = heads * blocks_of(length, kQueries), key_blocks = blocks_of(length, keys);
  if (static_cast<float>(blocks) >= 0.8f * static_cast<float>(kPlaces)) return 1;
  const std::int64_t most = std::min({kMost, kPlaces, key_blocks});
  const auto use = [&](std::int64_t splits) {
    // The last part is empty if each part has as many blocks as with one split less.
    if (splits > 1 && blocks_of(key_blocks, splits) == blocks_of(key_blocks, splits - 1)) return 0.0f;
    const float waves = static_cast<float>(blocks * splits) / static_cast<float>(kPlaces);
    return waves / std::ceil(waves);
  };
  float best = 0;
  for (std::int64_t splits = 1; splits <= most; ++splits) best = std::max(best, use(splits));
  for (std::int64_t splits = 1; splits <= most; ++splits)
    if (use(splits) > 0 && use(splits) >= 0.85f * best) return splits;
  return 1;
}

FlashResult cuda_flash(const Tensor& q, const Tensor& k, const Tensor& v, double, bool, bool, std::optional<double>) {
  const std::int64_t batch = q.size(0), heads = q.size(1), length = q.size(2), dim = v.size(3);
  const Tensor out = at::empty({batch, length, heads, dim}, q.options()).transpose(1, 2);
  const auto fp32 = q.options().dtype(at::kFloat);
  const Tensor log_sum_exp = at::empty({batch, heads, length}, fp32);
  Tensor part_outs, part_sums;
  if (const std::int64_t splits = key_splits(batch * heads, length, dim); splits > 1) {
    part_sums = at::empty({splits, batch, heads, length}, fp32);
    part_outs = at::empty({splits, batch, heads, length, round_up(dim, 32)}, fp32);
  }
  const auto random = q.options().dtype(at::kUInt64);
  const Tensor state = at::empty({2}, random), unused = at::empty({}, random);
  return {out, log_sum_exp, Tensor(), Tensor(), length, k.size(2), state, unused, at::empty({0}, q.options())};
}

std::tuple<Tensor, Tensor, Tensor> cuda_flash_backward(const Tensor&, const Tensor& q, const Tensor& k, const Tensor& v,
                                                       const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                                       c10::SymInt, c10::SymInt, double, bool, const Tensor&,
                                                       const Tensor&, std::optional<double>) {
  const std::int64_t batch = q.size(0), heads = q.size(1), length = q.size(2), dim = q.size(3);
  const Tensor dq = empty_like_transposed(q), dk = empty_like_transposed(k), dv = empty_like_transposed(v);
  const auto fp32 = q.options().dtype(at::kFloat);
  const std::int64_t rows = round_up(length, 128);
  const std::int64_t width = round_up(dim, dim <= 128 ? 32 : 64);
  const Tensor row_sums = at::empty({batch, heads, rows}, fp32);
  const Tensor dq_accumulator = at::empty({batch, rows, heads, width}, fp32);
  Tensor dk_expanded, dv_expanded;  // per query head; summed over the heads that share a key
  if (k.size(1) != heads) {
    dk_expanded = at::empty({batch, k.size(2), heads, dim}, q.options());
    dv_expanded = at::empty({batch, k.size(2), heads, dim}, q.options());
  }
  return {dq, dk, dv};
}

using EfficientResult = std::tuple<Tensor, Tensor, Tensor, Tensor>;

EfficientResult cuda_efficient(const Tensor& q, const Tensor&, const Tensor& v, const OptionalTensor&, bool, double,
                               bool, std::optional<double>) {
  const std::int64_t batch = q.size(0), heads = q.size(1), length = q.size(2), dim = v.size(3);
  const Tensor out = at::empty({batch, length, heads, dim}, q.options()).transpose(1, 2);
  const Tensor log_sum_exp = at::empty({batch, heads, round_up(length, 32)}, q.options().dtype(at::kFloat));
  const auto on_host = at::dtype(at::kLong);  // for seed and offset, without dropout and outside a CUDA graph
  return {out, log_sum_exp, at::empty({}, on_host), at::empty({}, on_host)};
}

EfficientResult cuda_efficient_backward(const Tensor&, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor&,
                                        const Tensor&, const Tensor& log_sum_exp, const Tensor&, const Tensor&, double,
                                        std::array<bool, 4>, bool, std::optional<double>) {
  const Tensor dq = empty_like_transposed(q), dk = empty_like_transposed(k), dv = empty_like_transposed(v);
  const std::int64_t batch = q.size(0), heads = q.size(1), length = q.size(2), dim = q.size(3);
  Tensor workspace, row_sums;
  if (q.scalar_type() != at::kFloat) {
    row_sums = at::empty({batch, heads, length}, log_sum_exp.options());
    return {dq, dk, dv, Tensor()};
  }
  {  // An operator computes the sums of dout · out for the fp32 kernel.
    const Tensor products = at::empty({batch, length, heads, dim}, q.options());
    const Tensor sums = at::empty({batch, length, heads}, q.options());
    row_sums = at::empty({batch, heads, length}, q.options());
  }
  const record::Bytes tiles = predict::fp32_attention_tiles(batch * heads, length, dim);
  workspace = at::empty({tiles}, q.options().dtype(at::kByte));
  return {dq, dk, dv, Tensor()};
}

// cuDNN's workspace as recorded on an H200: 256 bytes in forward; in backward: dQ in fp32, row sums and, if query heads
// share a key head, dK and dV per query head.
FlashResult cuda_cudnn(const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor&, bool, double, bool,
                       bool, std::optional<double>) {
  const std::int64_t batch = q.size(0), heads = q.size(1), length = q.size(2), dim = v.size(3);
  const auto integers = q.options().dtype(at::kLong);
  const Tensor seed = at::empty({}, integers), offset = at::empty({}, integers);
  const Tensor out = at::empty({batch, length, heads, dim}, q.options()).transpose(1, 2);
  const Tensor log_sum_exp = at::empty({batch, heads, length, 1}, q.options().dtype(at::kFloat));
  const Tensor workspace = at::empty({256}, q.options().dtype(at::kByte));
  return {out, log_sum_exp, Tensor(), Tensor(), length, k.size(2), seed, offset, Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> cuda_cudnn_backward(const Tensor&, const Tensor& q, const Tensor& k, const Tensor& v,
                                                       const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                                       const Tensor&, const Tensor&, const Tensor&, c10::SymInt,
                                                       c10::SymInt, double, bool, std::optional<double>) {
  const Tensor dq = empty_like_transposed(q), dk = empty_like_transposed(k), dv = empty_like_transposed(v);
  constexpr std::int64_t kFloatBytes = 4, kAligning = 256;
  const std::int64_t rows = q.size(0) * q.size(1) * q.size(2), elements = rows * q.size(3);
  const std::int64_t expanded = k.size(1) == q.size(1) ? 0 : 2 * q.element_size() * elements;
  const std::int64_t bytes = kFloatBytes * rows + kAligning + kFloatBytes * elements + expanded;
  const Tensor workspace = at::empty({bytes}, q.options().dtype(at::kByte));
  return {dq, dk, dv};
}

// InputBuffer::accumulate adds in place if the buffer holds the last reference, except to meta tensors, which it
// mistakes for subclasses. Returning the buffer here allocates nothing, like adding in place.
Tensor add(const Tensor& self, const Tensor& other, const at::Scalar& alpha) {
  const bool called_by_engine = !at::GradMode::is_enabled() && t_engine_level >= 0 && t_open_nodes == t_engine_level;
  if (called_by_engine && self.use_count() == 1 && self.storage().use_count() == 1 &&
      self.is_non_overlapping_and_dense() && self.sizes() == other.sizes() &&
      self.scalar_type() == other.scalar_type()) {
    return self;
  }
  return at::meta::add(self, other, alpha);
}

std::unique_ptr<at::ObserverContext> node_begins(const at::RecordFunction&) {
  ++t_open_nodes;
  return nullptr;
}

void node_ends(const at::RecordFunction&, at::ObserverContext*) { --t_open_nodes; }

// --- numbers as operands: wrapped_scalar_tensor() in ScalarOps.h, compute_types() in TensorIterator.cpp

struct NumberTensors final : at::ObserverContext {
  Tensor whole;     // 8 bytes, like numbers in Python and C++
  Tensor narrowed;  // in the other operand's type; freed first
  at::TensorOptions divided = {};
  bool divides = false;  // a mean, which divides its sum by a number at the end (ReduceOps.cpp)

  void make(const at::TensorOptions& other, at::ScalarType number) {
    whole = at::empty({}, other.dtype(number));
    if (number != other.dtype()) narrowed = at::empty({}, other);
  }
};

std::unique_ptr<at::ObserverContext> operator_begins(const at::RecordFunction& function) {
  const Tensor *number = nullptr, *other = nullptr;
  for (const c10::IValue& input : function.inputs()) {
    if (!input.isTensor() || !input.toTensor().defined()) continue;
    const Tensor& tensor = input.toTensor();
    if (tensor.is_meta()) other = &tensor;
    if (tensor.is_cpu() && tensor.unsafeGetTensorImpl()->is_wrapped_number()) number = &tensor;
  }
  const bool mean = std::string_view(function.name()) == "aten::mean";
  if (other == nullptr || (number == nullptr && !mean)) return nullptr;
  auto tensors = std::make_unique<NumberTensors>();
  tensors->divides = mean;
  tensors->divided = other->options();
  if (!mean) tensors->make(other->options(), number->scalar_type());
  return tensors;
}

void operator_ends(const at::RecordFunction&, at::ObserverContext* context) {
  auto* const tensors = static_cast<NumberTensors*>(context);
  if (tensors != nullptr && tensors->divides) tensors->make(tensors->divided, at::kLong);
}

torch::Library register_kernels() {
  torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__);
  library.impl("index_select", TORCH_FN(index_select));
  library.impl("embedding_dense_backward", TORCH_FN(embedding_dense_backward));
  library.impl("_scaled_dot_product_flash_attention_for_cpu", TORCH_FN(cpu_flash));
  library.impl("_scaled_dot_product_flash_attention_for_cpu_backward", TORCH_FN(cpu_flash_backward));
  library.impl("_scaled_dot_product_flash_attention", TORCH_FN(cuda_flash));
  library.impl("_scaled_dot_product_flash_attention_backward", TORCH_FN(cuda_flash_backward));
  library.impl("_scaled_dot_product_efficient_attention", TORCH_FN(cuda_efficient));
  library.impl("_scaled_dot_product_efficient_attention_backward", TORCH_FN(cuda_efficient_backward));
  library.impl("_scaled_dot_product_cudnn_attention", TORCH_FN(cuda_cudnn));
  library.impl("_scaled_dot_product_cudnn_attention_backward", TORCH_FN(cuda_cudnn_backward));
  library.impl("add.Tensor", TORCH_FN(add));
  at::addGlobalCallback(
      at::RecordFunctionCallback(node_begins, node_ends).scopes({at::RecordScope::BACKWARD_FUNCTION}));
  return library;
}

}  // namespace

void install_meta_kernels() { static const torch::Library library = register_kernels(); }

NumbersOnCpu::NumbersOnCpu()
    : callback_(at::addThreadLocalCallback(at::RecordFunctionCallback(operator_begins, operator_ends)
                                               .needsInputs(true)
                                               .scopes({at::RecordScope::FUNCTION}))) {}

NumbersOnCpu::~NumbersOnCpu() { at::removeCallback(callback_); }

EngineCall::EngineCall() : outer_(t_engine_level) { t_engine_level = t_open_nodes; }

EngineCall::~EngineCall() { t_engine_level = outer_; }

}  // namespace headroom::llama
