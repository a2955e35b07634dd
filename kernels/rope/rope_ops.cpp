// RoPE on tensors.
#include "kernels/rope/rope_ops.h"

#include <ATen/MemoryOverlap.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"
#include "kernels/rope/rope.h"

namespace headroom::kernels {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kRopeGrain = 16384;

void check(const at::Tensor& q, const at::Tensor& k, const at::Tensor& cos, const at::Tensor& sin) {
  for (const at::Tensor* x : {&q, &k}) {
    TORCH_CHECK(x->dim() == 4, "rope: q and k must be [B, T, heads, D], not of ", x->dim(), " dimensions");
    TORCH_CHECK(x->size(0) == q.size(0) && x->size(1) == q.size(1) && x->size(3) == q.size(3),
                "rope: q and k differ in B, T or D");
    TORCH_CHECK(x->scalar_type() == q.scalar_type() && x->device() == q.device(),
                "rope: q and k differ in type or device");
    TORCH_CHECK(x->size(3) <= 1 || x->stride(3) == 1, "rope: the elements of a head must be contiguous");
    // An expanded tensor's memory would be rotated more than once.
    TORCH_CHECK(at::has_internal_overlap(*x) != at::MemOverlap::Yes,
                "rope: q and k cannot have elements that share memory");
  }
  TORCH_CHECK(q.size(3) % 2 == 0, "rope: the head width must be even, not ", q.size(3));
  for (const at::Tensor* table : {&cos, &sin}) {
    TORCH_CHECK(table->dim() == 2 && table->size(0) == q.size(1) && table->size(1) == q.size(3) / 2,
                "rope: cos and sin must be [T, D/2]");
    TORCH_CHECK(table->scalar_type() == at::kFloat && table->is_contiguous() && table->device() == q.device(),
                "rope: cos and sin must be fp32, contiguous and on q's device");
  }
}

RopeTensor raw(const at::Tensor& x) {
  return {.data = x.mutable_data_ptr(),
          .heads = x.size(2),
          .batch_stride = x.stride(0),
          .time_stride = x.stride(1),
          .head_stride = x.stride(2)};
}

// A tensor on the same memory, unknown to autograd.
at::Tensor same_memory(const at::Tensor& x) { return x.variable_data(); }

// True if no other handle refers to the memory.
bool exclusive(const at::Tensor& x) { return x.use_count() == 1 && x.storage().use_count() == 1; }

// A copy if the layout does not fit or another tensor may read the gradient.
at::Tensor to_turn(const at::Tensor& gradient) {
  const bool takes = gradient.stride(3) == 1 && gradient.is_non_overlapping_and_dense();
  return takes && exclusive(gradient) ? gradient : gradient.clone(at::MemoryFormat::Contiguous);
}

struct RopeFunction : torch::autograd::Function<RopeFunction> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& q, const at::Tensor& k, const at::Tensor& cos,
                               const at::Tensor& sin) {
    ctx->save_for_backward({cos, sin});
    rope_apply_(q, k, cos, sin, /*inverse=*/false);
    // mark_dirty() would copy a view's whole base in backward, and is refused with two results. The version counter
    // reports the change to operators that saved q or k.
    q.unsafeGetTensorImpl()->bump_version();
    k.unsafeGetTensorImpl()->bump_version();
    return {same_memory(q), same_memory(k)};
  }

  // By reference, so the list has the only handles to the gradients.
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor dq = to_turn(gradients[0]), dk = to_turn(gradients[1]);
    rope_apply_(dq, dk, saved[0], saved[1], /*inverse=*/true);
    return {dq, dk, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

void rope_apply_(const at::Tensor& q_BTAD, const at::Tensor& k_BTKD, const at::Tensor& cos_TD2,
                 const at::Tensor& sin_TD2, bool inverse) {
  check(q_BTAD, k_BTKD, cos_TD2, sin_TD2);
  const auto storage = storage_of(q_BTAD.scalar_type());
  TORCH_CHECK(storage.has_value(), "rope: q and k must be fp32, bf16 or fp16, not ", q_BTAD.scalar_type());
  if (q_BTAD.is_meta()) return;
  const RopeArgs args{.q = raw(q_BTAD),
                      .k = raw(k_BTKD),
                      .cos = cos_TD2.const_data_ptr<float>(),
                      .sin = sin_TD2.const_data_ptr<float>(),
                      .batch = q_BTAD.size(0),
                      .length = q_BTAD.size(1),
                      .head_dim = q_BTAD.size(3),
                      .inverse = inverse,
                      .storage = *storage};
  const Traced traced(inverse ? "rope_backward" : "rope", {q_BTAD, k_BTKD, q_BTAD, k_BTKD, cos_TD2, sin_TD2});
  const std::int64_t token_elements = std::max<std::int64_t>(1, (args.q.heads + args.k.heads) * args.head_dim);
  run_kernel(
      q_BTAD.device(), "rope", args.batch * args.length, std::max<std::int64_t>(1, kRopeGrain / token_elements),
      [&](CUstream_st* stream) { return rope_cuda(args, stream); },
      [&](std::int64_t begin, std::int64_t end) { rope_cpu(args, begin, end); });
}

std::pair<at::Tensor, at::Tensor> rope_(const at::Tensor& q_BTAD, const at::Tensor& k_BTKD, const at::Tensor& cos_TD2,
                                        const at::Tensor& sin_TD2) {
  for (const at::Tensor* x : {&q_BTAD, &k_BTKD}) {
    TORCH_CHECK(!(x->is_leaf() && x->requires_grad()),
                "rope_: a leaf that requires a gradient cannot be changed in "
                "place");
  }
  const variable_list turned = RopeFunction::apply(q_BTAD, k_BTKD, cos_TD2, sin_TD2);
  return {turned[0], turned[1]};
}

// Equation 34 of the paper for pairs (j, j + D/2).
at::Tensor rope_reference(const at::Tensor& x_BTAD, const at::Tensor& cos_TD2, const at::Tensor& sin_TD2) {
  const at::Tensor x = x_BTAD.to(at::kDouble);
  const at::Tensor cos = cos_TD2.to(at::kDouble).unsqueeze(1), sin = sin_TD2.to(at::kDouble).unsqueeze(1);
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor low = x.narrow(-1, 0, half), high = x.narrow(-1, half, half);
  return at::cat({low * cos - high * sin, high * cos + low * sin}, -1);
}

}  // namespace headroom::kernels
