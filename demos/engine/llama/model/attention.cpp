// Attention as an autograd function over PyTorch's fused kernels.
#include "demos/engine/llama/model/attention.h"

#include <cmath>
#include <limits>

#include <torch/csrc/autograd/custom_function.h>

#include "demos/engine/llama/model/labels.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kNoDropout = 0;
constexpr bool kCausal = true;

struct Kept {
  at::Tensor out_BATD;
  at::Tensor log_sum_exp;   // fp32, one per row
  at::Tensor seed, offset;  // of dropout; CUDA kernels always return them
};

struct Gradients {
  at::Tensor q, k, v;
};

Kept attention_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::kCpuFlash: {
      auto [out, lse] = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, kNoDropout, kCausal);
      return {.out_BATD = out, .log_sum_exp = lse, .seed = {}, .offset = {}};
    }
    case AttentionKernel::kCudaFlash: {
      auto result = at::_scaled_dot_product_flash_attention(q, k, v, kNoDropout, kCausal);
      return {.out_BATD = std::get<0>(result),
              .log_sum_exp = std::get<1>(result),
              .seed = std::get<6>(result),
              .offset = std::get<7>(result)};
    }
    case AttentionKernel::kCudaCudnn: {
      auto result = at::_scaled_dot_product_cudnn_attention(q, k, v, /*attn_bias=*/{}, /*compute_log_sumexp=*/true,
                                                            kNoDropout, kCausal);
      return {.out_BATD = std::get<0>(result),
              .log_sum_exp = std::get<1>(result),
              .seed = std::get<6>(result),
              .offset = std::get<7>(result)};
    }
    case AttentionKernel::kCudaEfficient: {
      auto [out, lse, seed, offset] = at::_scaled_dot_product_efficient_attention(
          q, k, v, /*attn_bias=*/{}, /*compute_log_sumexp=*/true, kNoDropout, kCausal);
      return {.out_BATD = out, .log_sum_exp = lse, .seed = seed, .offset = offset};
    }
    case AttentionKernel::kEager:
      break;
  }
  TORCH_CHECK(false, "attention kernel ", static_cast<int>(kernel));
}

Gradients attention_backward(const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const Kept& kept, AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::kCpuFlash: {
      auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
          dout, q, k, v, kept.out_BATD, kept.log_sum_exp, kNoDropout, kCausal);
      return {.q = dq, .k = dk, .v = dv};
    }
    case AttentionKernel::kCudaFlash: {
      // All sequences have length T: no cumulative lengths.
      auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_backward(
          dout, q, k, v, kept.out_BATD, kept.log_sum_exp, /*cum_seq_q=*/{}, /*cum_seq_k=*/{}, q.size(2), k.size(2),
          kNoDropout, kCausal, kept.seed, kept.offset);
      return {.q = dq, .k = dk, .v = dv};
    }
    case AttentionKernel::kCudaCudnn: {
      auto [dq, dk, dv] = at::_scaled_dot_product_cudnn_attention_backward(
          dout, q, k, v, kept.out_BATD, kept.log_sum_exp, kept.seed, kept.offset, /*attn_bias=*/{}, /*cum_seq_q=*/{},
          /*cum_seq_k=*/{}, q.size(2), k.size(2), kNoDropout, kCausal);
      return {.q = dq, .k = dk, .v = dv};
    }
    case AttentionKernel::kCudaEfficient: {
      auto [dq, dk, dv, dbias] = at::_scaled_dot_product_efficient_attention_backward(
          dout, q, k, v, /*attn_bias=*/{}, kept.out_BATD, kept.log_sum_exp, kept.seed, kept.offset, kNoDropout,
          {true, true, true, false}, kCausal);
      return {.q = dq, .k = dk, .v = dv};
    }
    case AttentionKernel::kEager:
      break;
  }
  TORCH_CHECK(false, "attention kernel ", static_cast<int>(kernel));
}

struct AttentionFunction : torch::autograd::Function<AttentionFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q_BATD, const at::Tensor& k_BKTD,
                            const at::Tensor& v_BKTD, AttentionKernel kernel) {
    const Scope scope(Category::kWorkspace, number_of(Op::kScores));  // the kernel's scratch
    ctx->set_materialize_grads(false);
    const Kept kept = attention_forward(q_BATD, k_BKTD, v_BKTD, kernel);
    relabel(kept.out_BATD, Category::kActivations);
    relabel(kept.log_sum_exp, Category::kActivations);
    ctx->save_for_backward({q_BATD, k_BKTD, v_BKTD, kept.out_BATD, kept.log_sum_exp, kept.seed, kept.offset});
    ctx->saved_data["kernel"] = static_cast<std::int64_t>(kernel);
    return kept.out_BATD;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const Scope scope(Category::kWorkspace, number_of(Op::kScores));
    const auto kernel = static_cast<AttentionKernel>(ctx->saved_data["kernel"].toInt());
    const variable_list saved = ctx->get_saved_variables();
    const Kept kept{.out_BATD = saved[3], .log_sum_exp = saved[4], .seed = saved[5], .offset = saved[6]};
    const Gradients result = attention_backward(gradients[0], saved[0], saved[1], saved[2], kept, kernel);
    for (const at::Tensor& gradient : {result.q, result.k, result.v}) relabel(gradient, Category::kActivations);
    return {result.q, result.k, result.v, at::Tensor()};
  }
};

// [B, K, T, D] → [B, A, T, D]: copies every key/value head for the A / K query heads that share it.
at::Tensor repeat_heads(const at::Tensor& x_BKTD, std::int64_t num_heads) {
  const std::int64_t batch = x_BKTD.size(0), kv_heads = x_BKTD.size(1), length = x_BKTD.size(2), dim = x_BKTD.size(3);
  const Scope scope(Category::kActivations, number_of(Op::kRepeatKv));
  return x_BKTD.unsqueeze(2)
      .expand({batch, kv_heads, num_heads / kv_heads, length, dim})
      .reshape({batch, num_heads, length, dim});
}

at::Tensor eager_attention(const at::Tensor& q_BATD, const at::Tensor& k_BATD, const at::Tensor& v_BATD,
                           const at::Tensor& mask_TT) {
  const std::uint16_t op = number_of(Op::kScores);
  const Scope scope(Category::kActivations, op);
  const std::int64_t batch = q_BATD.size(0), heads = q_BATD.size(1), length = q_BATD.size(2), dim = q_BATD.size(3);
  const auto matrices = [&](const at::Tensor& x) { return x.reshape({batch * heads, length, dim}); };
  at::Tensor scores = at::bmm(matrices(q_BATD), matrices(k_BATD).transpose(1, 2));  // [B A, T, T]
  scores = scores * (1 / std::sqrt(static_cast<double>(dim)));
  scores = scores + mask_TT;
  scores = at::softmax(scores.to(at::kFloat), -1).to(q_BATD.scalar_type());
  const at::Tensor out_BATD = at::bmm(scores, matrices(v_BATD)).view({batch, heads, length, dim});
  return label_backward(out_BATD.transpose(1, 2).contiguous(), Category::kActivations, op).transpose(1, 2);
}

}  // namespace

at::Tensor causal_mask(std::int64_t length, const at::TensorOptions& options) {
  const Scope scope(Category::kOther, number_of(Op::kMask));
  double lowest = std::numeric_limits<float>::lowest();
  if (options.dtype() == at::kHalf) lowest = std::numeric_limits<at::Half>::lowest();
  if (options.dtype() == at::kBFloat16) lowest = std::numeric_limits<at::BFloat16>::lowest();
  return at::full({length, length}, lowest, options).triu(1);
}

AttentionKernel attention_kernel(Attention asked, record::DeviceKind target, at::ScalarType type) {
  if (asked == Attention::kEager) return AttentionKernel::kEager;
  if (target == record::DeviceKind::kCpu) return AttentionKernel::kCpuFlash;
  if (type == at::kFloat) return AttentionKernel::kCudaEfficient;
  return asked == Attention::kCudnn ? AttentionKernel::kCudaCudnn : AttentionKernel::kCudaFlash;
}

at::Tensor causal_attention(const at::Tensor& q_BATD, const at::Tensor& k_BKTD, const at::Tensor& v_BKTD,
                            AttentionKernel kernel, const at::Tensor& mask_TT) {
  const bool head_each = kernel == AttentionKernel::kCudaEfficient || kernel == AttentionKernel::kEager;
  at::Tensor k = k_BKTD, v = v_BKTD;
  if (head_each && q_BATD.size(1) != k_BKTD.size(1)) {
    k = repeat_heads(k_BKTD, q_BATD.size(1));
    v = repeat_heads(v_BKTD, q_BATD.size(1));
  }
  if (kernel == AttentionKernel::kEager) return eager_attention(q_BATD, k, v, mask_TT);
  return AttentionFunction::apply(q_BATD, k, v, kernel);
}

}  // namespace headroom::llama
