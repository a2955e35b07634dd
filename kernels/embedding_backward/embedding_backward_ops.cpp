// The embedding gradient on tensors.
#include "kernels/embedding_backward/embedding_backward_ops.h"

#include <algorithm>
#include <limits>

#include <ATen/Parallel.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"
#include "kernels/embedding_backward/embedding_backward.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kGrainColumns = 64;
constexpr std::int64_t kEmbeddingBackwardGrain = 16'384;

struct Storages {
  Storage gradient, table;
};

Storages checked(const at::Tensor& dy, const at::Tensor& ids, const at::Tensor& dweight) {
  TORCH_CHECK(dy.dim() == 2 && ids.dim() == 1 && dweight.dim() == 2 && dy.size(0) == ids.size(0) &&
                  dy.size(1) == dweight.size(1),
              "embedding_backward: the shapes must be dy [N, H], ids [N], dweight [V, H]");
  TORCH_CHECK(ids.scalar_type() == at::kLong, "embedding_backward: ids must be int64, not ", ids.scalar_type());
  TORCH_CHECK(dy.device() == ids.device() && dy.device() == dweight.device(),
              "embedding_backward: dy, ids and dweight are on different devices");
  TORCH_CHECK(dy.is_contiguous() && ids.is_contiguous() && dweight.is_contiguous(),
              "embedding_backward: the tensors must be contiguous");
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  TORCH_CHECK(dy.size(0) < kMost && dweight.size(0) < kMost, "embedding_backward: N and V must be below 2^31");
  const auto gradient = storage_of(dy.scalar_type()), table = storage_of(dweight.scalar_type());
  TORCH_CHECK(gradient && table && (*table == *gradient || *table == Storage::kFp32),
              "embedding_backward: dy must be fp32, bf16 or fp16, and dweight the same type or fp32, not ",
              dy.scalar_type(), " and ", dweight.scalar_type());
  return {*gradient, *table};
}

void check_ids(const EmbeddingBackwardArgs& args) {
  for (std::int64_t n = 0; n < args.tokens; ++n) {
    TORCH_CHECK(args.ids[n] >= 0 && args.ids[n] < args.vocab_size, "embedding_backward: token ", n, " has the id ",
                args.ids[n], "; the table has ", args.vocab_size, " rows");
  }
}

}  // namespace

void embedding_backward(const at::Tensor& dy_NH, const at::Tensor& ids_N, const at::Tensor& dweight_VH,
                        bool accumulate) {
  const Storages storages = checked(dy_NH, ids_N, dweight_VH);
  const std::int64_t tokens = dy_NH.size(0), width = dy_NH.size(1), vocab_size = dweight_VH.size(0);
  const at::Tensor integers = at::empty({embedding_integers(tokens, vocab_size)}, dy_NH.options().dtype(at::kInt));
  const at::Tensor segment_sums = at::empty({embedding_segments(tokens), width}, dy_NH.options().dtype(at::kFloat));
  if (dy_NH.is_meta()) return;
  const EmbeddingBackwardArgs args{.dy = dy_NH.const_data_ptr(),
                                   .ids = ids_N.const_data_ptr<std::int64_t>(),
                                   .dweight = dweight_VH.mutable_data_ptr(),
                                   .tokens = tokens,
                                   .width = width,
                                   .vocab_size = vocab_size,
                                   .gradient = storages.gradient,
                                   .table = storages.table,
                                   .accumulate = accumulate,
                                   .integers = integers.mutable_data_ptr<std::int32_t>(),
                                   .segment_sums = segment_sums.mutable_data_ptr<float>()};
  const Traced traced("embedding_backward", {dy_NH, ids_N, dweight_VH});
  if (dy_NH.is_cuda()) {
    const c10::cuda::CUDAGuard guard(dy_NH.device());
    const int error = embedding_backward_cuda(args, c10::cuda::getCurrentCUDAStream().stream());
    TORCH_CHECK(error == 0, "embedding_backward: a launch failed with CUDA error ", error);
    return;
  }
  check_ids(args);
  embedding_backward_sort_cpu(args);
  at::parallel_for(0, vocab_size, kEmbeddingBackwardGrain / std::max<std::int64_t>(1, width) + 1,
                   [&](std::int64_t begin, std::int64_t end) { embedding_backward_zero_cpu(args, begin, end); });
  at::parallel_for(0, width, kGrainColumns,
                   [&](std::int64_t begin, std::int64_t end) { embedding_backward_cpu(args, begin, end); });
}

at::Tensor embedding_backward_reference(const at::Tensor& dy_NH, const at::Tensor& ids_N, std::int64_t vocab_size) {
  const at::Tensor table = at::zeros({vocab_size, dy_NH.size(1)}, dy_NH.options().dtype(at::kDouble));
  return table.index_add(0, ids_N, dy_NH.to(at::kDouble));
}

}  // namespace headroom::kernels
