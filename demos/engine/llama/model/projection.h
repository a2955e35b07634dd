// A linear layer's weight, trained or frozen, in the model's type or in four bits, with or without an adapter beside it;
// and its products, which the autograd functions of linear.cpp and fused.cpp share.
// Letters: N rows, I inputs, O outputs, R the adapter's rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include "demos/engine/llama/model/fp8_scales.h"
#include "demos/record/units.h"
#include "kernels/nf4/nf4_ops.h"

namespace headroom::llama {

// y = x Wᵀ + b + scale · x Aᵀ Bᵀ. Hu et al. 2021, arXiv:2106.09685, §4.1.
struct Projection {
  at::Tensor weight_OI;                           // undefined where it is quantized
  const kernels::Nf4Matrix* quantised = nullptr;  // not owned: the model's
  at::Tensor bias_O;                              // undefined: none
  at::Tensor a_RI, b_OR;                          // undefined: no adapter; in the weight's type or fp32
  double scale = 0;                               // α / r
  std::uint16_t op = 0;
  bool tf32 = false;           // its products read fp32 as tf32
  Fp8Scales* fp8 = nullptr;    // not owned: the model's; null: products are as stored
  std::int64_t fp8_index = 0;  // among these
};

// Whether backward needs the projection's input: for a gradient of the weight or of the adapter.
bool needs_input(const Projection& p);

// The tensors that the graph must see: those that are there of W, b, A, B, projection by projection.
std::vector<at::Tensor> tensors_of(std::span<const Projection> projections);

// What the projections of one input read; in fp8 its codes, made once for all of them with the scale of the first.
struct ProjectionInput {
  at::Tensor x;             // [..., I]; in backward undefined where only codes were kept
  kernels::Fp8Codes codes;  // as it is for y, transposed for the weights' gradients
  std::int64_t fp8_index = 0;
};
ProjectionInput input_of(const at::Tensor& x, std::span<const Projection> projections, bool for_y, bool for_gradients);
// The same for y alone, of an x that nothing else reads: in fp8 its codes are in its place.
ProjectionInput input_used_up(const at::Tensor& x, const Projection& p);
// In backward, in fp8 where the weight is trained: the codes that its gradient reads, made if they are not there, and x no
// more.
void keep_codes_alone(ProjectionInput& input, const Projection& p);

struct Projected {
  at::Tensor y;       // [..., O]
  at::Tensor low_NR;  // x Aᵀ, which backward needs; undefined without an adapter
};

// An adapter in fp32 beside 16 bits is multiplied in fp32, as PEFT does it: what it reads is widened for its products and let go,
// and its sum with W's share is rounded once.
//
// x [..., I], with its codes for y in fp8. `output` is the category of y. A bias is added in y's memory: within the product, cuBLASLt would take a
// separate workspace. A quantized weight exists in x's type, as workspace, for the product only, and so do a weight's codes
// in fp8: to keep them would take a byte per weight, and to make them again is a pass over the weight.
Projected project(const ProjectionInput& input, const Projection& p, record::Category output);
// What backward needs of it: y is unmade. x may be unmade, too, where there is no adapter.
Projected project_for_backward(const at::Tensor& x, const Projection& p);

// dx_NI = dy W + scale · dy B A, or that added to it. dy [..., O]. Returns scale · dy B, [N, R], for
// trained_gradients(); undefined without an adapter.
at::Tensor input_gradient(const at::Tensor& dy, const Projection& p, at::Tensor& dx_NI, bool adds);

// The same in fp8 for some rows at a time: the operands' codes are made once. Without an adapter.
class Fp8InputGradient {
 public:
  Fp8InputGradient(const at::Tensor& dy, const Projection& p);
  // dx of as many rows of dy as dx_nI has, from `first` on.
  void rows(at::Tensor& dx_nI, std::int64_t first, bool adds) const;

 private:
  Projection projection_;
  at::Tensor dy_NO_, weight_IO_;  // codes
};
// In fp8, of rows of x as they become known: codes of all rows of the input, for trained_gradients(). Empty at first.
at::Tensor no_input_codes(std::int64_t rows, const Projection& p);
void add_input_codes(const at::Tensor& x_nI, const Projection& p, std::int64_t first, at::Tensor& codes_IN);

struct ProjectionGradients {
  at::Tensor dweight_OI, dbias_O, da_RI, db_OR;  // undefined where nothing is trained
};

// Of what is trained, after input_gradient(). Nothing of the input is read unless needs_input(); its codes are made and
// left there where they were not kept. In fp8 dy is cast once for dx and once more, transposed, for dW: both layouts
// together would take another byte for each of its elements where backward is highest. Then dy is let go as well.
ProjectionGradients trained_gradients(at::Tensor& dy, ProjectionInput& input, const at::Tensor& low_NR,
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
