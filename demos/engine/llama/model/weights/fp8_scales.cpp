// Scales of fp8 operands.
#include "demos/engine/llama/model/weights/fp8_scales.h"

#include "demos/engine/llama/model/labels.h"
#include "demos/record/scope.h"

namespace headroom::llama {

namespace {

constexpr std::int64_t kTensors = 3;

std::int64_t row_of(std::int64_t projection, Fp8Tensor which) {
  return kTensors * projection + static_cast<std::int64_t>(which);
}

// Gradients need more range and fewer digits.
kernels::Fp8Format format_of(Fp8Tensor which) {
  return which == Fp8Tensor::kGradient ? kernels::Fp8Format::kE5m2 : kernels::Fp8Format::kE4m3;
}

}  // namespace

Fp8Scales::Fp8Scales(std::int64_t projections, predict::Fp8Scaling scaling, at::Device device)
    : scaling_(scaling), scaled_(static_cast<std::size_t>(kTensors * projections)) {
  const record::Scope scope(record::Category::kOther, number_of(Op::kFp8Scales));
  const at::TensorOptions options(device);
  table_ = kernels::fp8_scalings(kTensors * projections, options);
  not_scaled_ = at::zeros({1}, options.dtype(at::kInt));
}

bool Fp8Scales::prepare(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which) {
  const auto row = static_cast<std::size_t>(row_of(projection, which));
  const bool delayed = scaling_ == predict::Fp8Scaling::kDelayed;
  const bool measured = !delayed || scaled_[row] == 0;
  if (measured) kernels::fp8_measure_(x_RC, scaling(projection, which), format_of(which), delayed, not_scaled_);
  scaled_[row] = 1;
  return !measured && training_;
}

kernels::Fp8Codes Fp8Scales::cast(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which,
                                  const kernels::Fp8Layouts& layouts) {
  kernels::Fp8Layouts with = layouts;
  with.measures = prepare(x_RC, projection, which);
  return kernels::fp8_cast(x_RC, scaling(projection, which), format_of(which), with);
}

at::Tensor Fp8Scales::cast_in_place(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which) {
  const bool measures = prepare(x_RC, projection, which);
  return kernels::fp8_cast_in_place(x_RC, scaling(projection, which), format_of(which), measures);
}

kernels::Fp8Codes Fp8Scales::cast_again(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which,
                                        const kernels::Fp8Layouts& layouts) const {
  return kernels::fp8_cast(x_RC, scaling(projection, which), format_of(which), layouts);
}

void Fp8Scales::cast_again_into(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which,
                                at::Tensor& codes_CR) const {
  kernels::fp8_cast_into(x_RC, scaling(projection, which), format_of(which), {.rows = {}, .transposed = codes_CR},
                         /*measures=*/false);
}

at::Tensor Fp8Scales::scaling(std::int64_t projection, Fp8Tensor which) const {
  return table_.select(0, row_of(projection, which));
}

void Fp8Scales::end_step() {
  if (scaling_ == predict::Fp8Scaling::kDelayed) kernels::fp8_advance_(table_, not_scaled_);
}

std::vector<StateTensor> Fp8Scales::state() {
  std::vector<StateTensor> all;
  append(all, "fp8.scales", table_);
  append(all, "fp8.not_scaled", not_scaled_);
  append(all, "fp8.scaled", at::from_blob(scaled_.data(), {static_cast<std::int64_t>(scaled_.size())}, at::kByte));
  return all;
}

std::int64_t Fp8Scales::not_scaled() const { return not_scaled_.is_meta() ? 0 : not_scaled_.item<int>(); }

}  // namespace headroom::llama
