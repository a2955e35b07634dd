// A linear layer's weight (trained or frozen, in the model's type or four bits, with or without an adapter) and its
// GEMMs.
// Letters: N rows, I inputs, O outputs, R the adapter's rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include "demos/engine/llama/model/weights/fp8_scales.h"
#include "demos/record/units.h"
#include "kernels/nf4/nf4_ops.h"

namespace headroom::llama {

// y = x Wᵀ + b + scale · x Aᵀ Bᵀ. Hu et al. 2021, arXiv:2106.09685, §4.1.
struct Projection {
  at::Tensor weight_OI;                           // undefined if quantized
  const kernels::Nf4Matrix* quantised = nullptr;  // not owned
  at::Tensor bias_O;                              // undefined: none
  at::Tensor a_RI, b_OR;                          // undefined: no adapter; in the weight's type or fp32
  double scale = 0;                               // α / r
  std::uint16_t op = 0;
  bool tf32 = false;         // GEMMs read fp32 as tf32
  Fp8Scales* fp8 = nullptr;  // not owned; null: no fp8
  std::int64_t fp8_index = 0;
};

// True if a gradient of the weight or the adapter needs the input.
bool needs_input(const Projection& p);

// Each projection's defined W, b, A and B, for the graph.
std::vector<at::Tensor> tensors_of(std::span<const Projection> projections);

// An input shared by projections, with its fp8 codes, cast with the first projection's scale.
struct ProjectionInput {
  at::Tensor x;             // [..., I]; in backward undefined if only codes were kept
  kernels::Fp8Codes codes;  // `rows` for y, `transposed` for weight gradients
  std::int64_t fp8_index = 0;
};
ProjectionInput input_of(const at::Tensor& x, std::span<const Projection> projections, bool for_y, bool for_gradients);
// Makes the input for y alone. Only if nothing else reads x, because fp8 codes overwrite it.
ProjectionInput input_used_up(const at::Tensor& x, const Projection& p);
// For a trained fp8 weight in backward: computes the input's codes for the weight gradient, unless they exist, and
// frees x.
void keep_codes_alone(ProjectionInput& input, const Projection& p);

struct Projected {
  at::Tensor y;       // [..., O]
  at::Tensor low_NR;  // x Aᵀ, for backward; undefined without an adapter
};

// An fp32 adapter of 16-bit weights computes in fp32, like PEFT's: inputs are converted before each GEMM and freed
// after it, and the sum with W's share is rounded once.
//
// x [..., I], in fp8 with codes for y. `output`: category of y. The bias is added in place after the GEMM, in which
// cuBLASLt would need a workspace. A quantized weight exists in x's type only during the GEMM, as workspace. The same
// holds for a weight's fp8 codes: keeping them would take a byte per weight; casting again takes a pass over the
// weight.
Projected project(const ProjectionInput& input, const Projection& p, record::Category output);
// Computes only what backward needs: y is unmade (unmade.h), and without an adapter x may be unmade, too.
Projected project_for_backward(const at::Tensor& x, const Projection& p);

// Writes dy W + scale · dy B A to dx_NI, or adds it if `adds` is set. dy [..., O]. Returns scale · dy B, [N, R], for
// trained_gradients(); undefined without an adapter.
at::Tensor input_gradient(const at::Tensor& dy, const Projection& p, at::Tensor& dx_NI, bool adds);

// Like input_gradient() in fp8 without an adapter, but for some rows at a time; casts the operands once.
class Fp8InputGradient {
 public:
  Fp8InputGradient(const at::Tensor& dy, const Projection& p);
  // Computes dx for as many rows as dx_nI has, from row `first` of dy on.
  void rows(at::Tensor& dx_nI, std::int64_t first, bool adds) const;

 private:
  Projection projection_;
  at::Tensor dy_NO_, weight_IO_;  // codes
};
// In fp8, a tensor for the codes of all input rows, which add_input_codes() fills in and trained_gradients() reads.
at::Tensor no_input_codes(std::int64_t rows, const Projection& p);
void add_input_codes(const at::Tensor& x_nI, const Projection& p, std::int64_t first, at::Tensor& codes_IN);

struct ProjectionGradients {
  at::Tensor dweight_OI, dbias_O, da_RI, db_OR;  // undefined if not trained
};

// Call after input_gradient(). Reads the input only if needs_input(), and leaves its codes in `input`. In fp8 it casts
// dy once more, transposed, for dW, and frees dy. Making both layouts of dy at once would add a byte per element at
// backward's peak.
ProjectionGradients trained_gradients(at::Tensor& dy, ProjectionInput& input, const at::Tensor& low_NR,
                                      const at::Tensor& dlow_NR, const Projection& p);

// Keeps projections between forward and backward as kSavedPerProjection tensors each, which autograd frees, and a
// holder for the rest.
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

// In the order of tensors_of().
void append_gradients(std::vector<at::Tensor>& gradients, const Projection& p, const ProjectionGradients& of_p);

// x [..., C] as [N, C].
at::Tensor rows(const at::Tensor& x);

}  // namespace headroom::llama
