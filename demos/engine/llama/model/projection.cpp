// GEMMs of a projection, forward and backward, with labeled allocations.
#include "demos/engine/llama/model/projection.h"

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/weights/unmade.h"
#include "demos/record/scope.h"
#include "kernels/narrow_product/narrow_product_ops.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;

// The weight in `type`; quantized weights are converted to a new tensor.
at::Tensor dense_weight(const Projection& p, at::ScalarType type) {
  if (p.weight_OI.defined()) return p.weight_OI;
  const Scope scope(Category::kWorkspace, p.op);
  return kernels::nf4_dequantise(*p.quantised, type);
}

// alpha · a · b as [..., P], allocated in this shape so that no view enters the graph.
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

bool trains_weight(const Projection& p) { return p.weight_OI.defined() && p.weight_OI.requires_grad(); }

std::int64_t outputs_of(const Projection& p) {
  return p.weight_OI.defined() ? p.weight_OI.size(0) : p.quantised->shape[0];
}

// t, or a copy in an fp32 adapter's type.
at::Tensor for_adapter(const at::Tensor& t, const Projection& p) {
  const Scope scope(Category::kWorkspace, p.op);
  return t.to(p.a_RI.scalar_type());
}

// sum += scale · a · b; a and b have the adapter's type.
void add_share(const Projection& p, at::Tensor& sum_NP, const at::Tensor& a_NR, const at::Tensor& b_RP, double scale) {
  if (sum_NP.scalar_type() == a_NR.scalar_type()) return add_product(p, sum_NP, a_NR, b_RP, scale);
  at::Tensor wide_NP = for_adapter(sum_NP, p);
  add_product(p, wide_NP, a_NR, b_RP, scale);
  sum_NP.copy_(wide_NP);
}

// x Aᵀ.
at::Tensor low_rank_product(const at::Tensor& x_NI, const Projection& p) {
  const at::Tensor read_NI = for_adapter(x_NI, p);
  const Scope scope(Category::kActivations, p.op);
  return product_of(p, read_NI, p.a_RI.t());
}

// In fp8, codes of weights and gradients are workspace.
at::Tensor fp8_output(const ProjectionInput& input, const Projection& p, at::IntArrayRef shape, Category output) {
  kernels::Fp8Codes weight;
  {
    const Scope scope(Category::kWorkspace, p.op);
    weight = p.fp8->cast(p.weight_OI, p.fp8_index, Fp8Tensor::kWeight, {.rows = true});
  }
  const Scope scope(output, p.op);
  at::Tensor y = at::empty(shape, input.x.options());
  at::Tensor y_NO = y.view({-1, shape.back()});
  kernels::fp8_product(y_NO, {input.codes.rows, p.fp8->scaling(input.fp8_index, Fp8Tensor::kInput)},
                       {weight.rows, p.fp8->scaling(p.fp8_index, Fp8Tensor::kWeight)}, {.fast_sums = true});
  return y;
}

// Frees the codes' sources before allocating the gradient, except a dy that an adapter reads.
at::Tensor fp8_weight_gradient(at::Tensor& dy, ProjectionInput& input, const Projection& p) {
  keep_codes_alone(input, p);
  kernels::Fp8Codes of_dy;
  {
    const Scope scope(Category::kWorkspace, p.op);
    of_dy = p.fp8->cast_again(rows(dy).contiguous(), p.fp8_index, Fp8Tensor::kGradient, {.transposed = true});
  }
  const at::TensorOptions options = dy.options();
  if (!p.a_RI.defined()) dy = at::Tensor();
  at::Tensor dweight_OI = at::empty(p.weight_OI.sizes(), options);
  kernels::fp8_product(dweight_OI, {of_dy.transposed, p.fp8->scaling(p.fp8_index, Fp8Tensor::kGradient)},
                       {input.codes.transposed, p.fp8->scaling(input.fp8_index, Fp8Tensor::kInput)});
  return dweight_OI;
}

}  // namespace

ProjectionInput input_of(const at::Tensor& x, std::span<const Projection> projections, bool for_y, bool for_gradients) {
  const Projection& first = projections.front();
  ProjectionInput input{.x = x, .fp8_index = first.fp8_index};
  if (first.fp8 == nullptr || (!for_y && !for_gradients)) return input;
  const Scope scope(Category::kWorkspace, first.op);
  input.codes = first.fp8->cast(rows(x).contiguous(), first.fp8_index, Fp8Tensor::kInput,
                                {.rows = for_y, .transposed = for_gradients});
  if (for_gradients) relabel(input.codes.transposed, Category::kActivations);
  return input;
}

ProjectionInput input_used_up(const at::Tensor& x, const Projection& p) {
  ProjectionInput input{.x = x, .fp8_index = p.fp8_index};
  if (p.fp8 == nullptr) return input;
  const Scope scope(Category::kWorkspace, p.op);
  input.codes.rows = p.fp8->cast_in_place(rows(x), p.fp8_index, Fp8Tensor::kInput);
  return input;
}

void keep_codes_alone(ProjectionInput& input, const Projection& p) {
  if (p.fp8 == nullptr || !trains_weight(p)) return;
  const Scope scope(Category::kWorkspace, p.op);
  if (!input.codes.transposed.defined())
    input.codes.transposed =
        p.fp8->cast_again(rows(input.x).contiguous(), input.fp8_index, Fp8Tensor::kInput, {.transposed = true})
            .transposed;
  input.x = at::Tensor();
}

bool needs_input(const Projection& p) { return p.a_RI.defined() || trains_weight(p); }

std::vector<at::Tensor> tensors_of(std::span<const Projection> projections) {
  std::vector<at::Tensor> all;
  for (const Projection& p : projections) {
    for (const at::Tensor& tensor : {p.weight_OI, p.bias_O, p.a_RI, p.b_OR})
      if (tensor.defined()) all.push_back(tensor);
  }
  return all;
}

Projected project(const ProjectionInput& input, const Projection& p, Category output) {
  const at::Tensor& x = input.x;
  const at::Tensor x_NI = rows(x);
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = outputs_of(p);
  Projected result;
  if (p.fp8 != nullptr) {
    result.y = fp8_output(input, p, shape, output);
    if (p.bias_O.defined()) result.y.add_(p.bias_O);
  } else {
    const at::Tensor weight_OI = dense_weight(p, x.scalar_type());
    const Scope scope(output, p.op);
    result.y = product_of(p, x_NI, weight_OI.t(), shape);
    if (p.bias_O.defined()) result.y.add_(p.bias_O);
  }
  if (!p.a_RI.defined()) return result;
  result.low_NR = low_rank_product(x_NI, p);
  const Scope scope(Category::kActivations, p.op);
  at::Tensor y_NO = result.y.view({-1, shape.back()});
  add_share(p, y_NO, result.low_NR, p.b_OR.t(), p.scale);
  return result;
}

Projected project_for_backward(const at::Tensor& x, const Projection& p) {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = outputs_of(p);
  return {.y = unmade(shape, x), .low_NR = p.a_RI.defined() ? low_rank_product(rows(x), p) : at::Tensor()};
}

at::Tensor input_gradient(const at::Tensor& dy, const Projection& p, at::Tensor& dx_NI, bool adds) {
  const at::Tensor dy_NO = rows(dy);
  if (p.fp8 != nullptr) {
    Fp8InputGradient(dy, p).rows(dx_NI, 0, adds);
  } else {
    const at::Tensor weight_OI = dense_weight(p, dy.scalar_type());
    kernels::product(dx_NI, dy_NO, weight_OI, {.adds = adds, .tf32 = p.tf32});
  }
  if (!p.a_RI.defined()) return {};
  at::Tensor dlow_NR;
  {
    const at::Tensor read_NO = for_adapter(dy_NO, p);
    const Scope scope(Category::kActivations, p.op);
    dlow_NR = product_of(p, read_NO, p.b_OR, p.scale);
  }
  add_share(p, dx_NI, dlow_NR, p.a_RI, 1);
  return dlow_NR;
}

Fp8InputGradient::Fp8InputGradient(const at::Tensor& dy, const Projection& p) : projection_(p) {
  const Scope scope(Category::kWorkspace, p.op);
  dy_NO_ = p.fp8->cast(llama::rows(dy).contiguous(), p.fp8_index, Fp8Tensor::kGradient, {.rows = true}).rows;
  weight_IO_ = p.fp8->cast_again(p.weight_OI, p.fp8_index, Fp8Tensor::kWeight, {.transposed = true}).transposed;
}

void Fp8InputGradient::rows(at::Tensor& dx_nI, std::int64_t first, bool adds) const {
  const Projection& p = projection_;
  kernels::fp8_product(dx_nI,
                       {dy_NO_.narrow(0, first, dx_nI.size(0)), p.fp8->scaling(p.fp8_index, Fp8Tensor::kGradient)},
                       {weight_IO_, p.fp8->scaling(p.fp8_index, Fp8Tensor::kWeight)}, {.adds = adds});
}

at::Tensor no_input_codes(std::int64_t rows, const Projection& p) {
  const Scope scope(Category::kWorkspace, p.op);
  const at::TensorOptions options = p.weight_OI.options().dtype(kernels::type_of(kernels::Fp8Format::kE4m3));
  return at::empty({p.weight_OI.size(1), rows}, options.requires_grad(false));
}

void add_input_codes(const at::Tensor& x_nI, const Projection& p, std::int64_t first, at::Tensor& codes_IN) {
  at::Tensor part = codes_IN.narrow(1, first, x_nI.size(0));
  p.fp8->cast_again_into(x_nI, p.fp8_index, Fp8Tensor::kInput, part);
}

ProjectionGradients trained_gradients(at::Tensor& dy, ProjectionInput& input, const at::Tensor& low_NR,
                                      const at::Tensor& dlow_NR, const Projection& p) {
  const at::Tensor& x = input.x;
  ProjectionGradients gradients;
  if (p.bias_O.defined() && p.bias_O.requires_grad()) {
    const Scope scope(Category::kWorkspace, p.op);  // a GPU's partial sums
    gradients.dbias_O = rows(dy).sum(0);
    relabel(gradients.dbias_O, Category::kGradients);
  }
  const Scope scope(Category::kGradients, p.op);
  if (trains_weight(p))
    gradients.dweight_OI = p.fp8 != nullptr ? fp8_weight_gradient(dy, input, p) : product_of(p, rows(dy).t(), rows(x));
  if (!p.a_RI.defined()) return gradients;
  gradients.da_RI = product_of(p, dlow_NR.t(), for_adapter(rows(x), p));
  gradients.db_OR = product_of(p, for_adapter(rows(dy), p).t(), low_NR, p.scale);
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
    without_tensors.push_back({.quantised = p.quantised,
                               .scale = p.scale,
                               .op = p.op,
                               .tf32 = p.tf32,
                               .fp8 = p.fp8,
                               .fp8_index = p.fp8_index});
}

void append_gradients(std::vector<at::Tensor>& gradients, const Projection& p, const ProjectionGradients& of_p) {
  if (p.weight_OI.defined()) gradients.push_back(of_p.dweight_OI);
  if (p.bias_O.defined()) gradients.push_back(of_p.dbias_O);
  if (p.a_RI.defined()) gradients.insert(gradients.end(), {of_p.da_RI, of_p.db_OR});
}

at::Tensor rows(const at::Tensor& x) { return x.reshape({-1, x.size(-1)}); }

}  // namespace headroom::llama
