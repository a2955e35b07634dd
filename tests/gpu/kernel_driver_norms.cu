// Drives RMSNorm, RMSNorm after a residual addition, and LayerNorm.
#include <string>
#include <vector>

#include "kernels/add_rms_norm/add_rms_norm.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/rms_norm/rms_norm.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

namespace {

using kernels::NormBackward;
using kernels::NormForward;
using kernels::Storage;

constexpr float kEpsilon = 1e-5f;

struct Size {
  std::int64_t rows, width;
  std::int64_t offset = 0;  // elements before each tensor; 1 misaligns it for 16-byte loads
};

// A tensor that begins `offset` elements into a separate buffer.
class Tensor {
 public:
  Tensor(Storage storage, std::int64_t n, std::int64_t offset, std::uint64_t seed)
      : storage_(storage),
        offset_bytes_(offset * kernels::bytes_of(storage)),
        buffer_(offset_bytes_ + n * kernels::bytes_of(storage)) {
    if (seed != 0)
      buffer_.fill(storage, seed);
    else
      buffer_.poison();
  }
  void* data() const { return buffer_.as<char>() + offset_bytes_; }
  std::vector<char> bits() const { return buffer_.bits(offset_bytes_); }
  std::vector<double> numbers() const { return buffer_.numbers(storage_, offset_bytes_); }

 private:
  Storage storage_;
  std::int64_t offset_bytes_;
  DeviceBuffer buffer_;
};

// All norms' tensors at one size; only LayerNorm uses all.
struct Norms {
  Storage storage;
  Size size;
  std::int64_t n = size.rows * size.width;
  Tensor x{storage, n, size.offset, 1}, residual{storage, n, size.offset, 2}, dy{storage, n, size.offset, 3},
      d_sum{storage, n, size.offset, 4};
  Tensor weight{storage, size.width, size.offset, 5}, bias{storage, size.width, size.offset, 6};
  Tensor sum{storage, n, size.offset, 0}, y{storage, n, size.offset, 0}, dx{storage, n, size.offset, 0};
  Tensor dweight{storage, size.width, size.offset, 0}, dbias{storage, size.width, size.offset, 0};
  Tensor mean{Storage::kFp32, size.rows, 0, 0}, rstd{Storage::kFp32, size.rows, 0, 0};
  Tensor partials{Storage::kFp32, 2 * kernels::partial_rows(size.rows) * size.width, 0, 0};

  NormForward forward(bool add, bool layer) const {
    return {.storage = storage,
            .rows = size.rows,
            .width = size.width,
            .epsilon = kEpsilon,
            .x = x.data(),
            .residual = add ? residual.data() : nullptr,
            .weight = weight.data(),
            .bias = layer ? bias.data() : nullptr,
            .sum = add ? sum.data() : nullptr,
            .y = y.data(),
            .mean = layer ? static_cast<float*>(mean.data()) : nullptr,
            .rstd = static_cast<float*>(rstd.data())};
  }
  NormBackward backward(bool add, bool layer, bool in_place) const {
    float* const parts = static_cast<float*>(partials.data());
    return {.storage = storage,
            .rows = size.rows,
            .width = size.width,
            .dy = dy.data(),
            .x = x.data(),
            .weight = weight.data(),
            .d_sum = add ? d_sum.data() : nullptr,
            .mean = layer ? static_cast<const float*>(mean.data()) : nullptr,
            .rstd = static_cast<const float*>(rstd.data()),
            .dx = in_place ? dy.data() : dx.data(),
            .dweight = dweight.data(),
            .dbias = layer ? dbias.data() : nullptr,
            .dweight_partials = parts,
            .dbias_partials = layer ? parts + kernels::partial_rows(size.rows) * size.width : nullptr};
  }
};

std::string named(const char* kernel, Storage storage, const Size& size) {
  constexpr const char* kNames[] = {"fp32", "bf16", "fp16"};
  return std::string(kernel) + " " + kNames[static_cast<int>(storage)] + " " + std::to_string(size.rows) + "x" +
         std::to_string(size.width) + (size.offset == 0 ? "" : " off by " + std::to_string(size.offset));
}

struct Norm {
  const char* name;
  bool adds, is_layer;
  int (*forward)(const NormForward&, CUstream_st*);
  int (*backward)(const NormBackward&, CUstream_st*);
};
constexpr Norm kRms{"rms_norm", false, false, &kernels::rms_norm_forward_cuda, &kernels::rms_norm_backward_cuda};
constexpr Norm kAddRms{"add_rms_norm", true, false, &kernels::add_rms_norm_forward_cuda,
                       &kernels::rms_norm_backward_cuda};
constexpr Norm kLayer{"layer_norm", false, true, &kernels::layer_norm_forward_cuda, &kernels::layer_norm_backward_cuda};

// Forward, backward, and backward with dx overwriting dy, which must give the same bits.
void check_norm(KernelDriver& driver, const Norm& norm, Storage storage, const Size& size) {
  const std::string name = named(norm.name, storage, size);
  const Norms n{storage, size};
  driver.run(name + " forward", [&] { return norm.forward(n.forward(norm.adds, norm.is_layer), nullptr); });
  driver.expect_finite(name + " y", n.y.numbers());
  driver.expect_finite(name + " rstd", n.rstd.numbers());
  if (norm.is_layer) driver.expect_finite(name + " mean", n.mean.numbers());
  if (&norm == &kRms) {
    const std::vector<char> y = n.y.bits();
    driver.run(name + " rebuild", [&] { return kernels::rms_norm_rebuild_cuda(n.forward(false, false), nullptr); });
    if (n.y.bits() != y) driver.fail(name, "the rebuilt output differs");
  }
  NormBackward arguments = n.backward(norm.adds, norm.is_layer, /*in_place=*/false);
  if (norm.adds) arguments.x = n.sum.data();
  driver.run(name + " backward", [&] { return norm.backward(arguments, nullptr); });
  driver.expect_finite(name + " dx", n.dx.numbers());
  driver.expect_finite(name + " dweight", n.dweight.numbers());
  if (norm.is_layer) driver.expect_finite(name + " dbias", n.dbias.numbers());
  const std::vector<char> dx = n.dx.bits(), dweight = n.dweight.bits();
  arguments.dx = n.dy.data();
  driver.run(name + " backward in place", [&] { return norm.backward(arguments, nullptr); });
  if (n.dy.bits() != dx || n.dweight.bits() != dweight) driver.fail(name, "two runs differ");
}

void time_norm(KernelDriver& driver, const Norm& norm, Storage storage, std::int64_t rows, std::int64_t width) {
  const Norms n{storage, {rows, width}};
  const std::int64_t tensor = n.n * kernels::bytes_of(storage);
  const std::string name = named(norm.name, storage, n.size);
  driver.time(name + " forward", (norm.adds ? 4 : 2) * tensor,
              [&] { return norm.forward(n.forward(norm.adds, norm.is_layer), nullptr); });
  driver.time(name + " backward", (norm.adds ? 4 : 3) * tensor,
              [&] { return norm.backward(n.backward(norm.adds, norm.is_layer, false), nullptr); });
}

template <const Norm& kNorm>
void drive(KernelDriver& driver) {
  if (driver.timed()) {
    for (const std::int64_t width : {2048, 4096, 8192, 16384}) time_norm(driver, kNorm, Storage::kBf16, 8192, width);
    for (const std::int64_t width : {12'288, 16'384}) time_norm(driver, kNorm, Storage::kFp32, 4096, width);
    return;
  }
  // Covers one row, one column, partial vectors, partial warps, more rows than blocks, a last iteration with fewer
  // rows than groups, and rows beyond the registers.
  for (const Size& size :
       {Size{1, 1}, Size{3, 7}, Size{1, 8}, Size{5, 40}, Size{1300, 16}, Size{17, 256}, Size{70, 1000}, Size{1101, 520},
        Size{9, 3072}, Size{700, 136, 1}, Size{33, 2048}, Size{300, 4096}, Size{3, 8192}, Size{2, 16384},
        Size{2, 16392}, Size{2, 40'960}, Size{2, 33'333}}) {
    for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16})
      check_norm(driver, kNorm, storage, size);
  }
  // A row in 1,024 threads and several rows per block, with two rows in flight and with one.
  if (kNorm.is_layer) {
    for (const std::int64_t width : {12'284, 16'380}) check_norm(driver, kNorm, Storage::kFp32, {140, width});
  }
}

}  // namespace

extern const DrivenKernel kRmsNormDriven, kAddRmsNormDriven, kLayerNormDriven;
constinit const DrivenKernel kRmsNormDriven{kRms.name, &drive<kRms>};
constinit const DrivenKernel kAddRmsNormDriven{kAddRms.name, &drive<kAddRms>};
constinit const DrivenKernel kLayerNormDriven{kLayer.name, &drive<kLayer>};

}  // namespace headroom::tests
