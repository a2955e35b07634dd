// Products of a projection, forward and backward, each allocation under its label.
#include "demos/engine/llama/model/projection.h"

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/unmade.h"
#include "demos/record/scope.h"
#include "kernels/narrow_product/narrow_product_ops.h"

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

// a · b [..., P], or that multiplied by alpha: the result is allocated whole, so that no view of it goes into the graph.
at::Tensor product_of(const Projection& p, const at::Tensor& a_NM, const at::Tensor& b_MP, at::IntArrayRef shape,
                      double alpha = 1) {
  at::Tensor result = at::empty(shape, a_NM.options());
  at::Tensor result_NP = result.view({-1, shape.back()});
  kernels::product(result_NP, a_NM, b_MP, {.alpha = alpha, .tf32 = p.tf32});
  return result;
}
at::Tensor product_of(const Projection& p, const at::Tensor& a_NM, const at::Tensor& b_MP, double alpha = 1) {
  return product_of(p, a_NM, b_MP, {a_NM.size(0), b_MP.size(1)}, alpha);
}

void add_product(const Projection& p, at::Tensor& sum_NP, const at::Tensor& a_NM, const at::Tensor& b_MP,
                 double alpha = 1) {
  kernels::product(sum_NP, a_NM, b_MP, {.adds = true, .alpha = alpha, .tf32 = p.tf32});
}

std::int64_t outputs_of(const Projection& p) {
  return p.weight_OI.defined() ? p.weight_OI.size(0) : p.quantised->shape[0];
}

// x Aᵀ.
at::Tensor low_rank_product(const at::Tensor& x_NI, const Projection& p) {
  const Scope scope(Category::kActivations, p.op);
  return product_of(p, x_NI, p.a_RI.t());
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
    result.y = product_of(p, x_NI, weight_OI.t(), shape);
    if (p.bias_O.defined()) result.y.add_(p.bias_O);
  }
  if (!p.a_RI.defined()) return result;
  result.low_NR = low_rank_product(x_NI, p);
  const Scope scope(Category::kActivations, p.op);
  at::Tensor y_NO = result.y.view({-1, shape.back()});
  add_product(p, y_NO, result.low_NR, p.b_OR.t(), p.scale);
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
    kernels::product(dx_NI, dy_NO, weight_OI, {.adds = adds, .tf32 = p.tf32});
  }
  if (!p.a_RI.defined()) return {};
  const Scope scope(Category::kActivations, p.op);
  at::Tensor dlow_NR = product_of(p, dy_NO, p.b_OR, p.scale);
  add_product(p, dx_NI, dlow_NR, p.a_RI);
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
  if (p.weight_OI.defined() && p.weight_OI.requires_grad()) gradients.dweight_OI = product_of(p, rows(dy).t(), rows(x));
  if (!p.a_RI.defined()) return gradients;
  gradients.da_RI = product_of(p, dlow_NR.t(), rows(x));
  gradients.db_OR = product_of(p, rows(dy).t(), low_NR, p.scale);
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
    without_tensors.push_back({.quantised = p.quantised, .scale = p.scale, .op = p.op, .tf32 = p.tf32});
}

void append_gradients(std::vector<at::Tensor>& gradients, const Projection& p, const ProjectionGradients& of_p) {
  if (p.weight_OI.defined()) gradients.push_back(of_p.dweight_OI);
  if (p.bias_O.defined()) gradients.push_back(of_p.dbias_O);
  if (p.a_RI.defined()) gradients.insert(gradients.end(), {of_p.da_RI, of_p.db_OR});
}

at::Tensor rows(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}); }

}  // namespace headroom::llama
