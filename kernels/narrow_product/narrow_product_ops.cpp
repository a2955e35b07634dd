// Takes products to LibTorch, with the setting that they need, or to tiles on the CPU.
#include "kernels/narrow_product/narrow_product_ops.h"

#include <optional>

#include <ATen/Context.h>

#include "kernels/common/both.h"
#include "kernels/common/traced.h"
#include "kernels/narrow_product/tiles.h"

namespace headroom::kernels {

namespace {

// For the products of one scope alone: attention and the optimizers keep fp32.
class AllowTf32 {
 public:
  AllowTf32() : before_(at::globalContext().allowTF32CuBLAS()) { at::globalContext().setAllowTF32CuBLAS(true); }
  ~AllowTf32() { at::globalContext().setAllowTF32CuBLAS(before_); }
  AllowTf32(const AllowTf32&) = delete;
  AllowTf32& operator=(const AllowTf32&) = delete;

 private:
  bool before_;
};

// To 10 bits of fraction, nearest, ties away from zero: PTX's cvt.rna.tf32.f32. Infinity and NaN stay.
float tf32_of(float value) {
  const std::uint32_t bits = bits_of(value);
  return (bits & 0x7f800000u) == 0x7f800000u ? value : float_of((bits + 0x1000u) & ~0x1fffu);
}

void emulate_tf32(at::Tensor& result, const at::Tensor& a, const at::Tensor& b, const ProductOptions& options) {
  TORCH_CHECK(result.scalar_type() == at::kFloat && a.scalar_type() == at::kFloat && b.scalar_type() == at::kFloat,
              "product: tf32 is for operands and results of fp32");
  const Traced traced("tf32_product", {a, b, result});
  ProductTiles().multiply<float, float, float>(
      result, a, b, static_cast<float>(options.alpha), options.adds, tf32_of,
      [](float& place, float value, bool adds) { place = adds ? place + value : value; });
}

}  // namespace

void product(at::Tensor& result_NP, const at::Tensor& a_NM, const at::Tensor& b_MP, const ProductOptions& options) {
  if (options.tf32 && result_NP.is_cpu()) return emulate_tf32(result_NP, a_NM, b_MP, options);
  std::optional<AllowTf32> allow;
  if (options.tf32 && result_NP.is_cuda()) allow.emplace();
  if (!options.adds && options.alpha == 1) {
    at::mm_out(result_NP, a_NM, b_MP);
  } else {
    at::addmm_out(result_NP, result_NP, a_NM, b_MP, options.adds ? 1 : 0, options.alpha);
  }
}

}  // namespace headroom::kernels
