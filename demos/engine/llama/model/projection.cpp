// Products of a projection, forward and backward, each allocation under its label.
#include "demos/engine/llama/model/projection.h"

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/unmade.h"
#include "demos/record/scope.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;

// The weight in `type`. A quantized one is made for the caller alone and dies with it.
at::Tensor dense_weight(const Projection& p, at::ScalarType type) {
  if (p.weight_OI.defined()) return p.weight_OI;
  const Scope scope(Category::kWorkspace, p.op);
  return kernels::nf4_dequantise(*p.quantised, type);
}

// scale · a · b in one product. A number by itself PyTorch would make a tensor of, on the CPU and only there.
at::Tensor scaled_product(const at::Tensor& a_NM, const at::Tensor& b_MP, double scale) {
  at::Tensor result_NP = at::empty({a_NM.size(0), b_MP.size(1)}, a_NM.options());
  return at::addmm_out(result_NP, result_NP, a_NM, b_MP, /*beta=*/0, /*alpha=*/scale);
}

std::int64_t outputs_of(const Projection& p) {
  return p.weight_OI.defined() ? p.weight_OI.size(0) : p.quantised->shape[0];
}

// x Aᵀ.
at::Tensor low_rank_product(const at::Tensor& x_NI, const Projection& p) {
  const Scope scope(Category::kActivations, p.op);
  return product(x_NI, p.a_RI.t(), {x_NI.size(0), p.a_RI.size(0)});
}

}  // namespace

bool needs_input(const Projection& p) {
  return p.a_RI.defined() || (p.weight_OI.defined() && p.weight_OI.requires_grad());
}

std::vector<at::Tensor> tensors_of(std::span<const Projection> projections) {
  std::vector<at::Tensor> all;
  for (const Projection& p : projections) {
    for (const at::Tensor& tensor : {p.weight_OI, p.bias_O, p.a_RI, p.b_OR})
      if (tensor.defined()) all.push_back(tensor);
  }
  return all;
}

Projected project(const at::Tensor& x, const Projection& p, Category output) {
  const at::Tensor x_NI = rows(x);
  std::vector<std::int64_t> shape = x.sizes().vec();
  Projected result;
  {
    const at::Tensor weight_OI = dense_weight(p, x.scalar_type());
    const Scope scope(output, p.op);
    shape.back() = weight_OI.size(0);
    result.y = product(x_NI, weight_OI.t(), shape);
    if (p.bias_O.defined()) result.y.add_(p.bias_O);
  }
  if (!p.a_RI.defined()) return result;
  result.low_NR = low_rank_product(x_NI, p);
  const Scope scope(Category::kActivations, p.op);
  at::Tensor y_NO = result.y.view({-1, shape.back()});
  at::addmm_out(y_NO, y_NO, result.low_NR, p.b_OR.t(), /*beta=*/1, /*alpha=*/p.scale);
  return result;
}

Projected project_for_backward(const at::Tensor& x, const Projection& p) {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = outputs_of(p);
  return {.y = unmade(shape, x), .low_NR = p.a_RI.defined() ? low_rank_product(rows(x), p) : at::Tensor()};
}

at::Tensor input_gradient(const at::Tensor& dy, const Projection& p, at::Tensor& dx_NI, bool adds) {
  const at::Tensor dy_NO = rows(dy);
  {
    const at::Tensor weight_OI = dense_weight(p, dy.scalar_type());
    if (adds) {
      at::addmm_out(dx_NI, dx_NI, dy_NO, weight_OI);
    } else {
      at::mm_out(dx_NI, dy_NO, weight_OI);
    }
  }
  if (!p.a_RI.defined()) return {};
  const Scope scope(Category::kActivations, p.op);
  at::Tensor dlow_NR = scaled_product(dy_NO, p.b_OR, p.scale);
  at::addmm_out(dx_NI, dx_NI, dlow_NR, p.a_RI);
  return dlow_NR;
}

ProjectionGradients trained_gradients(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& low_NR,
                                      const at::Tensor& dlow_NR, const Projection& p) {
  ProjectionGradients gradients;
  if (p.bias_O.defined() && p.bias_O.requires_grad()) {
    const Scope scope(Category::kWorkspace, p.op);  // a GPU's partial sums
    gradients.dbias_O = rows(dy).sum(0);
    relabel(gradients.dbias_O, Category::kGradients);
  }
  const Scope scope(Category::kGradients, p.op);
  if (p.weight_OI.defined() && p.weight_OI.requires_grad()) gradients.dweight_OI = at::mm(rows(dy).t(), rows(x));
  if (!p.a_RI.defined()) return gradients;
  gradients.da_RI = at::mm(dlow_NR.t(), rows(x));
  gradients.db_OR = scaled_product(rows(dy).t(), low_NR, p.scale);
  return gradients;
}

void append_saved(std::vector<at::Tensor>& saved, const Projection& p, const at::Tensor& low_NR) {
  saved.insert(saved.end(), {p.weight_OI, p.bias_O, p.a_RI, p.b_OR, low_NR});
}

SavedProjection read_saved(const Projection& without_tensors, std::span<const at::Tensor> saved) {
  SavedProjection result{.projection = without_tensors, .low_NR = saved[4]};
  result.projection.weight_OI = saved[0];
  result.projection.bias_O = saved[1];
  result.projection.a_RI = saved[2];
  result.projection.b_OR = saved[3];
  return result;
}

ProjectionHolder::ProjectionHolder(std::span<const Projection> projections) {
  for (const Projection& p : projections)
    without_tensors.push_back({.quantised = p.quantised, .scale = p.scale, .op = p.op});
}

void append_gradients(std::vector<at::Tensor>& gradients, const Projection& p, const ProjectionGradients& of_p) {
  if (p.weight_OI.defined()) gradients.push_back(of_p.dweight_OI);
  if (p.bias_O.defined()) gradients.push_back(of_p.dbias_O);
  if (p.a_RI.defined()) gradients.insert(gradients.end(), {of_p.da_RI, of_p.db_OR});
}

at::Tensor product(const at::Tensor& a_NM, const at::Tensor& b_MP, at::IntArrayRef shape) {
  at::Tensor result = at::empty(shape, a_NM.options());
  at::Tensor result_NP = result.view({-1, shape.back()});
  at::mm_out(result_NP, a_NM, b_MP);
  return result;
}

at::Tensor rows(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}); }

}  // namespace headroom::llama
