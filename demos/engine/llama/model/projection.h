// A linear layer's weight, trained or frozen, in the model's type or in four bits, with or without an adapter beside it;
// and its products, which the autograd functions of linear.cpp and fused.cpp share.
// Letters: N rows, I inputs, O outputs, R the adapter's rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include "demos/record/units.h"
#include "kernels/nf4/nf4_ops.h"

namespace headroom::llama {

// y = x Wᵀ + b + scale · x Aᵀ Bᵀ. Hu et al. 2021, arXiv:2106.09685, §4.1.
struct Projection {
  at::Tensor weight_OI;                           // undefined where it is quantized
  const kernels::Nf4Matrix* quantised = nullptr;  // not owned: the model's
  at::Tensor bias_O;                              // undefined: none
  at::Tensor a_RI, b_OR;                          // undefined: no adapter
  double scale = 0;                               // α / r
  std::uint16_t op = 0;
  bool tf32 = false;  // its products read fp32 as tf32
};

// Whether backward needs the projection's input: for a gradient of the weight or of the adapter.
bool needs_input(const Projection& p);

// The tensors that the graph must see: those that are there of W, b, A, B, projection by projection.
std::vector<at::Tensor> tensors_of(std::span<const Projection> projections);

struct Projected {
  at::Tensor y;       // [..., O]
  at::Tensor low_NR;  // x Aᵀ, which backward needs; undefined without an adapter
};

// x [..., I]. `output` is the category of y. A bias is added in y's memory: within the product, cuBLASLt would take a
// separate workspace. A quantized weight exists in x's type, as workspace, for the product only.
Projected project(const at::Tensor& x, const Projection& p, record::Category output);
// What backward needs of it: y is unmade. x may be unmade, too, where there is no adapter.
Projected project_for_backward(const at::Tensor& x, const Projection& p);

// dx_NI = dy W + scale · dy B A, or that added to it. dy [..., O]. Returns scale · dy B, [N, R], for
// trained_gradients(); undefined without an adapter.
at::Tensor input_gradient(const at::Tensor& dy, const Projection& p, at::Tensor& dx_NI, bool adds);

struct ProjectionGradients {
  at::Tensor dweight_OI, dbias_O, da_RI, db_OR;  // undefined where nothing is trained
};

// Of what is trained. x [..., I], undefined unless needs_input().
ProjectionGradients trained_gradients(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& low_NR,
                                      const at::Tensor& dlow_NR, const Projection& p);

// What an autograd function keeps of its projections from forward to backward: tensors where autograd watches and frees
// them, kSavedPerProjection each, and the rest in a holder.
inline constexpr std::size_t kSavedPerProjection = 5;
void append_saved(std::vector<at::Tensor>& saved, const Projection& p, const at::Tensor& low_NR);

struct ProjectionHolder : torch::CustomClassHolder {
  explicit ProjectionHolder(std::span<const Projection> projections);
  std::vector<Projection> without_tensors;
};

struct SavedProjection {
  Projection projection;
  at::Tensor low_NR;
};
SavedProjection read_saved(const Projection& without_tensors, std::span<const at::Tensor> saved);

// The gradients in the order of tensors_of().
void append_gradients(std::vector<at::Tensor>& gradients, const Projection& p, const ProjectionGradients& of_p);

// [..., C] as [N, C].
at::Tensor rows(const at::Tensor& x);

}  // namespace headroom::llama
