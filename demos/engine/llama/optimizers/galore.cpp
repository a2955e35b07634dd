// GaLore from GEMMs, PyTorch's eigenvectors and kernels/adamw.
#include "demos/engine/llama/optimizers/galore.h"

#include <algorithm>
#include <utility>

#include "demos/engine/llama/model/labels.h"
#include "demos/predict/forms/eigenvectors.h"

namespace headroom::llama {

namespace {

// Eigenvectors of a symmetric matrix as columns, by rising eigenvalue.
at::Tensor eigenvectors(const at::Tensor& square) {
  if (!square.is_meta()) return std::get<1>(at::linalg_eigh(square));
  // The CPU allocates results, a status and the work arrays of LAPACK's syevd (BatchLinearAlgebraKernel.cpp), then
  // checks the status (BatchLinearAlgebra.cpp, _linalg_check_errors()). For a GPU the prediction replaces the work
  // arrays by cuSOLVER's.
  const std::int64_t n = square.size(0);
  const at::Tensor vectors = at::empty({n, n}, square.options()), values = at::empty({n}, square.options());
  const at::Tensor status = at::empty({}, square.options().dtype(at::kInt));
  {
    constexpr std::int64_t kNumber = 4;  // bytes
    const at::Tensor work = at::empty({predict::lapack_work(n) / kNumber}, square.options());
    const at::Tensor integers = at::empty({predict::lapack_integers(n) / kNumber}, square.options().dtype(at::kInt));
  }
  const at::Tensor as_truth = at::empty({}, square.options().dtype(at::kBool)), any = at::empty_like(as_truth);
  return vectors;
}

// Square matrices are projected on the right, as in the authors' code (galore_torch 1.0, GaLoreProjector, 'std').
bool is_wide(const at::Tensor& matrix) { return matrix.size(0) < matrix.size(1); }

}  // namespace

GaLore::GaLore(std::vector<Parameter> parameters, const AdamWOptions& adamw, const GaLoreOptions& galore)
    : AdamWFamily(std::move(parameters), adamw), galore_(galore), updates_(this->parameters().size()) {
  const at::AutoGradMode grad_mode(false);
  for (std::size_t i = 0; i < this->parameters().size(); ++i) {
    const Parameter& parameter = this->parameters()[i];
    const at::Tensor& weight = parameter.tensor;
    std::vector<std::int64_t> shape = weight.sizes().vec();
    at::ScalarType type = moment_type(i);
    at::Tensor& projection = projections_.emplace_back();
    if (weight.dim() == 2 && parameter.layer != record::kNoLayer) {
      std::int64_t& shorter = is_wide(weight) ? shape[0] : shape[1];
      const std::int64_t side = shorter;
      shorter = std::min(galore_.rank, side);
      type = at::kFloat;
      projection = zeros(parameter, number_of(Op::kProjection), {side, shorter}, type);
    }
    add_moments(shape, type);
  }
}

std::vector<StateTensor> GaLore::state() {
  std::vector<StateTensor> all = AdamWFamily::state();
  // The moments are the last entries. In files the update counts come before them, and each projection after its
  // weight's moments.
  auto place = all.end() - 2 * static_cast<std::ptrdiff_t>(updates_.size());
  const auto count = at::from_blob(updates_.data(), {static_cast<std::int64_t>(updates_.size())}, at::kLong);
  place = all.insert(place, {"updates", count}) + 1;
  for (std::size_t i = 0; i < projections_.size(); ++i) {
    place += 2;
    if (projections_[i].defined())
      place = all.insert(place, {parameters()[i].name + ".projection", projections_[i].detach()}) + 1;
  }
  return all;
}

void GaLore::update(std::span<const std::size_t> which) {
  const at::AutoGradMode grad_mode(false);
  const kernels::AdamWControl control = control_for(which);
  std::vector<std::size_t> plain;
  for (const std::size_t i : which) {
    if (projections_[i].defined()) {
      projected_update(i, control);
    } else {
      plain.push_back(i);
    }
  }
  fused_update(plain, control);
}

void GaLore::projected_update(std::size_t i, const kernels::AdamWControl& control) {
  const Parameter& parameter = parameters()[i];
  at::Tensor& projection = projections_[i];
  const record::Scope scope(record::Tag{.phase = record::Phase::kOptimizer,
                                        .category = record::Category::kWorkspace,
                                        .layer = parameter.layer,
                                        .op = number_of(Op::kProjectedUpdate)});
  at::Tensor gradient = parameter.tensor.grad().to(at::kFloat);
  if (updates_[i]++ % galore_.interval == 0) refresh(projection, gradient, parameter.layer);
  const bool wide = is_wide(gradient);
  const at::Tensor projected = wide ? at::mm(projection.t(), gradient) : at::mm(gradient, projection);
  gradient = at::Tensor();
  // Adam's step from 0: −η m̂ / (√v̂ + ε).
  const at::Tensor change = at::zeros_like(projected);
  kernels::adamw(std::vector<kernels::AdamWParameter>{{.param = change,
                                                       .gradient = projected,
                                                       .first_moment = moments(i).first,
                                                       .second_moment = moments(i).second,
                                                       .decays = false}},
                 step_constants(), control);
  at::Tensor weight = stepped(i).detach().to(at::kFloat);
  const at::Tensor left = wide ? projection : change;
  const at::Tensor right = wide ? change : projection.t();
  // The decay is separate, since a GEMM's rounding of β W depends on the library and the processor. With β = 1 the sum
  // is rounded once everywhere, as in kernels/adamw.
  weight.mul_(step_constants().decay).addmm_(left, right, /*beta=*/1, /*alpha=*/galore_.scale);
  if (!weight.is_alias_of(parameter.tensor)) parameter.tensor.detach().copy_(weight);
}

void GaLore::refresh(at::Tensor& projection, const at::Tensor& gradient, std::uint16_t layer) const {
  const std::int64_t rank = projection.size(1);
  if (galore_.identity) {
    at::eye_out(projection, projection.size(0), rank);
    return;
  }
  const record::Scope scope(record::Tag{.phase = record::Phase::kOptimizer,
                                        .category = record::Category::kWorkspace,
                                        .layer = layer,
                                        .op = number_of(Op::kProjection)});
  const at::Tensor square = is_wide(gradient) ? at::mm(gradient, gradient.t()) : at::mm(gradient.t(), gradient);
  const at::Tensor vectors = eigenvectors(square);
  projection.copy_(vectors.narrow(1, vectors.size(1) - rank, rank));
}

}  // namespace headroom::llama
