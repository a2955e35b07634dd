// Drives RMSNorm, RMSNorm behind a residual addition, and LayerNorm; small shapes also against double on the host.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/add_rms_norm/add_rms_norm.h"
#include "kernels/common/storage_cpu.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/rms_norm/rms_norm.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::test {

namespace {

using kernels::NormBackward;
using kernels::NormForward;
using kernels::Storage;

constexpr float kEpsilon = 1e-5f;

struct Size {
  std::int64_t rows, width;
  std::int64_t offset = 0;  // elements by which every tensor starts behind its memory: 1 is no address for 16 bytes
};

// One tensor in a separate buffer, `offset` elements into it.
class Tensor {
 public:
  Tensor(Storage storage, std::int64_t n, std::int64_t offset, std::uint64_t seed)
      : storage_(storage),
        n_(n),
        offset_bytes_(offset * kernels::bytes_of(storage)),
        buffer_(offset_bytes_ + n * kernels::bytes_of(storage)) {
    if (seed != 0) buffer_.fill(storage, seed);
  }
  void* data() const { return buffer_.as<char>() + offset_bytes_; }
  std::vector<char> bits() const {
    std::vector<char> bytes(static_cast<std::size_t>(n_ * kernels::bytes_of(storage_)));
    cudaMemcpy(bytes.data(), data(), bytes.size(), cudaMemcpyDeviceToHost);
    return bytes;
  }
  std::vector<double> numbers() const {
    const std::vector<char> bytes = bits();
    std::vector<double> values;
    kernels::with_storage(storage_, [&](auto type) {
      using T = decltype(type);
      std::vector<T> elements(static_cast<std::size_t>(n_));
      std::memcpy(elements.data(), bytes.data(), bytes.size());
      for (const T element : elements) values.push_back(kernels::load(element));
    });
    return values;
  }

 private:
  Storage storage_;
  std::int64_t n_;
  std::int64_t offset_bytes_;
  DeviceBuffer buffer_;
};

// Everything that the norms read and write, at one size. LayerNorm uses all of it, the others a part.
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

// Largest difference beyond rounding: to the last bit but one of the storage, relative to the largest value, or to 1
// where terms of that size cancel.
void check(KernelDriver& driver, const std::string& name, Storage storage, const std::vector<double>& got,
           const std::vector<double>& exact) {
  constexpr double kTolerance[] = {4e-6, 8e-3, 1e-3};
  double error = 0, largest = 1;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    largest = std::max(largest, std::abs(exact[i]));
    error = std::max(error, std::isfinite(got[i]) ? std::abs(got[i] - exact[i]) : INFINITY);
  }
  if (error > kTolerance[static_cast<int>(storage)] * largest) {
    driver.fail(name, "error " + std::to_string(error) + " of " + std::to_string(largest));
  }
}

struct Exact {
  std::vector<double> y, mean, rstd, dx, dweight, dbias;
};

Exact exact_norm(const Size& size, bool layer, const std::vector<double>& x, const std::vector<double>& dy,
                 const std::vector<double>& weight, const std::vector<double>& bias, const std::vector<double>* d_sum) {
  const auto width = static_cast<std::size_t>(size.width);
  Exact e;
  e.y.resize(x.size());
  e.dx.resize(x.size());
  e.dweight.resize(width);
  e.dbias.resize(width);
  for (std::size_t row = 0; row < static_cast<std::size_t>(size.rows); ++row) {
    const double* const row_x = x.data() + row * width;
    const double* const row_dy = dy.data() + row * width;
    double mean = 0, square = 0, along = 0, level = 0;
    for (std::size_t i = 0; layer && i < width; ++i) mean += row_x[i] / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i)
      square += (row_x[i] - mean) * (row_x[i] - mean) / static_cast<double>(width);
    const double rstd = 1 / std::sqrt(square + static_cast<double>(kEpsilon));
    for (std::size_t i = 0; i < width; ++i) {
      const double normal = (row_x[i] - mean) * rstd;
      e.y[row * width + i] = normal * weight[i] + (layer ? bias[i] : 0.0);
      along += row_dy[i] * weight[i] * normal / static_cast<double>(width);
      level += layer ? row_dy[i] * weight[i] / static_cast<double>(width) : 0.0;
      e.dweight[i] += row_dy[i] * normal;
      e.dbias[i] += row_dy[i];
    }
    for (std::size_t i = 0; i < width; ++i) {
      e.dx[row * width + i] = rstd * (row_dy[i] * weight[i] - level - (row_x[i] - mean) * rstd * along) +
                              (d_sum == nullptr ? 0.0 : (*d_sum)[row * width + i]);
    }
    e.mean.push_back(mean);
    e.rstd.push_back(rstd);
  }
  return e;
}

// Forward and backward of one norm, twice (the same bits both times), and once more with dx over dy.
void check_norm(KernelDriver& driver, const char* kernel, Storage storage, const Size& size, bool add, bool layer) {
  if (!driver.wants(kernel)) return;
  const std::string name = named(kernel, storage, size);
  const Norms n{storage, size};
  const auto forward = layer ? &kernels::layer_norm_forward_cuda
                       : add ? &kernels::add_rms_norm_forward_cuda
                             : &kernels::rms_norm_forward_cuda;
  const auto backward = layer ? &kernels::layer_norm_backward_cuda : &kernels::rms_norm_backward_cuda;
  driver.run(name + " forward", [&] { return forward(n.forward(add, layer), nullptr); });
  const std::vector<double> dy = n.dy.numbers(), weight = n.weight.numbers(), d_sum = n.d_sum.numbers();
  const Exact plain = exact_norm(size, layer, add ? n.sum.numbers() : n.x.numbers(), dy, weight, n.bias.numbers(),
                                 add ? &d_sum : nullptr);
  check(driver, name + " y", storage, n.y.numbers(), plain.y);
  check(driver, name + " rstd", Storage::kFp32, n.rstd.numbers(), plain.rstd);
  if (layer) check(driver, name + " mean", Storage::kFp32, n.mean.numbers(), plain.mean);
  if (!add && !layer) {
    const std::vector<char> y = n.y.bits();
    driver.run(name + " rebuild", [&] { return kernels::rms_norm_rebuild_cuda(n.forward(false, false), nullptr); });
    if (n.y.bits() != y) driver.fail(name, "the rebuilt output differs");
  }
  NormBackward arguments = n.backward(add, layer, /*in_place=*/false);
  if (add) arguments.x = n.sum.data();
  driver.run(name + " backward", [&] { return backward(arguments, nullptr); });
  check(driver, name + " dx", storage, n.dx.numbers(), plain.dx);
  check(driver, name + " dweight", storage, n.dweight.numbers(), plain.dweight);
  if (layer) check(driver, name + " dbias", storage, n.dbias.numbers(), plain.dbias);
  const std::vector<char> dx = n.dx.bits(), dweight = n.dweight.bits();
  arguments.dx = n.dy.data();
  driver.run(name + " backward in place", [&] { return backward(arguments, nullptr); });
  if (n.dy.bits() != dx || n.dweight.bits() != dweight) driver.fail(name, "two runs differ");
}

void time_norms(KernelDriver& driver, std::int64_t rows, std::int64_t width) {
  const Storage storage = Storage::kBf16;
  const Norms n{storage, {rows, width}};
  const std::int64_t tensor = n.n * kernels::bytes_of(storage);
  const auto name = [&](const char* kernel) { return named(kernel, storage, n.size); };
  const auto time = [&](const char* kernel, std::int64_t bytes, const auto& launch) {
    if (driver.wants(kernel)) driver.time(name(kernel), bytes, launch);
  };
  time("rms_norm forward", 2 * tensor,
       [&] { return kernels::rms_norm_forward_cuda(n.forward(false, false), nullptr); });
  time("rms_norm backward", 3 * tensor,
       [&] { return kernels::rms_norm_backward_cuda(n.backward(false, false, false), nullptr); });
  time("add_rms_norm forward", 4 * tensor,
       [&] { return kernels::add_rms_norm_forward_cuda(n.forward(true, false), nullptr); });
  time("add_rms_norm backward", 4 * tensor,
       [&] { return kernels::rms_norm_backward_cuda(n.backward(true, false, false), nullptr); });
  time("layer_norm forward", 2 * tensor,
       [&] { return kernels::layer_norm_forward_cuda(n.forward(false, true), nullptr); });
  time("layer_norm backward", 3 * tensor,
       [&] { return kernels::layer_norm_backward_cuda(n.backward(false, true, false), nullptr); });
}

}  // namespace

void drive_norms(KernelDriver& driver) {
  if (driver.timed()) {
    for (const std::int64_t width : {2048, 4096, 8192, 16384}) time_norms(driver, 8192, width);
    return;
  }
  // One row, one column; not a whole vector; not a whole warp; more rows than blocks; a last turn that has not a row
  // for every group of a block; more than the registers hold.
  for (const Size& size :
       {Size{1, 1}, Size{3, 7}, Size{1, 8}, Size{5, 40}, Size{1300, 16}, Size{17, 256}, Size{70, 1000}, Size{1101, 520},
        Size{9, 3072}, Size{700, 136, 1}, Size{33, 2048}, Size{300, 4096}, Size{3, 8192}, Size{2, 16384},
        Size{2, 16392}, Size{2, 40'960}, Size{2, 33'333}}) {
    for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
      check_norm(driver, "rms_norm", storage, size, false, false);
      check_norm(driver, "add_rms_norm", storage, size, true, false);
      check_norm(driver, "layer_norm", storage, size, false, true);
    }
  }
}

}  // namespace headroom::test
