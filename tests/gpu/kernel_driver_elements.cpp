// Drives RoPE, SwiGLU, GeGLU, the fp8 casts and GEMMs without tensor cores.
#include <utility>

#include "kernels/fp8_cast/fp8_cast.h"
#include "kernels/geglu/geglu.h"
#include "kernels/narrow_product/emulated_product.h"
#include "kernels/rope/rope.h"
#include "kernels/swiglu/swiglu.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

namespace {

using kernels::Fp8Format;
using kernels::Storage;

void drive_gate(KernelDriver& driver, const kernels::GatedKernels& kernels, Storage storage, std::int64_t n,
                std::int64_t skip) {
  Buffers b(skip);
  void *const dh = b.random(storage, n), *const gate = b.random(storage, n, 2), *const up = b.random(storage, n);
  void *const dgate = b.tensor(storage, n), *const dup = b.tensor(storage, n), *const h = b.tensor(storage, n);
  const std::string name = named(kernels.name, storage, {n}, skip);
  driver.run(name + " forward", kernels.forward_cuda({gate, up, h}, storage, n, nullptr));
  const auto backward = [&](const char* how, const kernels::GatedBackward& args) {
    driver.run(name + how, kernels.backward_cuda(args, storage, n, nullptr));
  };
  backward(" backward", {dh, gate, up, dgate, dup, nullptr});
  backward(" backward with h", {dh, gate, up, dgate, dup, h});
  backward(" backward in place", {dh, gate, up, gate, up, dh});
}

template <const kernels::GatedKernels& kKernels>
void drive_gates(KernelDriver& driver) {
  for (const Storage storage : kStorages)
    for (const std::int64_t n : {1, 7, 8, 255, 4099, 100'003})
      for (const std::int64_t skip : {0, 1}) drive_gate(driver, kKernels, storage, n, skip);
}

struct RopeCase {
  std::int64_t batch, length, q_heads, k_heads, head_dim;
  bool packed = false;  // one row has q, k, and as many values as keys
};
constexpr RopeCase kRopeCases[] = {{1, 1, 1, 1, 2},          {2, 3, 1, 0, 6},  {3, 17, 5, 2, 64},
                                   {2, 9, 32, 8, 128, true}, {1, 7, 3, 1, 40}, {2, 5, 300, 7, 128}};

void drive_rope(KernelDriver& driver, Storage storage, const RopeCase& c) {
  const std::int64_t tokens = c.batch * c.length, q_width = c.q_heads * c.head_dim, k_width = c.k_heads * c.head_dim;
  const std::int64_t q_stride = c.packed ? q_width + 2 * k_width : q_width, k_stride = c.packed ? q_stride : k_width;
  Buffers b;
  void* const q = b.random(storage, tokens * q_stride);
  void* const k =
      c.packed ? static_cast<char*>(q) + q_width * kernels::bytes_of(storage) : b.random(storage, tokens * k_width);
  const auto table = [&] { return static_cast<float*>(b.random(Storage::kFp32, c.length * c.head_dim / 2, 0.5f)); };
  kernels::RopeArgs args{.q = {q, c.q_heads, c.length * q_stride, q_stride, c.head_dim},
                         .k = {k, c.k_heads, c.length * k_stride, k_stride, c.head_dim},
                         .cos = table(),
                         .sin = table(),
                         .batch = c.batch,
                         .length = c.length,
                         .head_dim = c.head_dim,
                         .inverse = false,
                         .storage = storage};
  const std::string name = named("rope", storage, {c.batch, c.length, c.q_heads, c.k_heads, c.head_dim});
  driver.run(name, kernels::rope_cuda(args, nullptr));
  args.inverse = true;
  driver.run(name + " inverse", kernels::rope_cuda(args, nullptr));
}

void drive_ropes(KernelDriver& driver) {
  for (const Storage storage : kStorages)
    for (const RopeCase& c : kRopeCases) drive_rope(driver, storage, c);
}

void drive_cast(KernelDriver& driver, Fp8Format format, Storage storage, std::int64_t rows, std::int64_t columns) {
  const std::int64_t n = rows * columns;
  const std::string name =
      named(format == Fp8Format::kE4m3 ? "fp8_cast e4m3" : "fp8_cast e5m2", storage, {rows, columns});
  Buffers b;
  void* const x = b.random(storage, n, 5);
  auto* const scaling = b.array<kernels::Fp8Scaling>(1, Fill::kZeros);
  auto* const not_scaled = b.array<std::int32_t>(1, Fill::kZeros);
  auto *const codes = b.array<std::uint8_t>(n), *const turned = b.array<std::uint8_t>(n);
  driver.run(name + " measure",
             kernels::fp8_measure_cuda(x, storage, n, format, scaling, /*keeps=*/false, not_scaled, nullptr));
  kernels::Fp8CastArgs args{.x = x,
                            .storage = storage,
                            .rows = rows,
                            .columns = columns,
                            .codes = codes,
                            .transposed = nullptr,
                            .transposed_stride = rows,
                            .format = format,
                            .scaling = scaling,
                            .measures = true};
  driver.run(name, kernels::fp8_cast_cuda(args, nullptr));
  args.transposed = turned;
  driver.run(name + " both layouts", kernels::fp8_cast_cuda(args, nullptr));
  args.codes = nullptr;
  driver.run(name + " transposed", kernels::fp8_cast_cuda(args, nullptr));
  driver.run(name + " advance", kernels::fp8_advance_cuda(scaling, 1, not_scaled, nullptr));
}

// A GEMM of fp32 operands that are read as tf32.
void drive_product(KernelDriver& driver, bool turned) {
  constexpr std::int64_t kRows = 67, kColumns = 35, kInner = 21;
  Buffers b;
  const float one = 1, nothing = 0;
  const kernels::Product product{.rows = kRows,
                                 .columns = kColumns,
                                 .inner = kInner,
                                 .a_transposed = turned,
                                 .b_transposed = turned,
                                 .a_stride = turned ? kRows : kInner,
                                 .b_stride = turned ? kInner : kColumns,
                                 .d_stride = kColumns,
                                 .tf32 = true,
                                 .host_numbers = true};
  const kernels::ProductMemory memory{.a = b.random(Storage::kFp32, kRows * kInner),
                                      .b = b.random(Storage::kFp32, kInner * kColumns),
                                      .d = b.tensor(Storage::kFp32, kRows * kColumns),
                                      .alpha = &one,
                                      .beta = &nothing};
  driver.run(turned ? "emulated GEMM, transposed" : "emulated GEMM",
             kernels::multiply_emulated(product, memory, nullptr));
}

void drive_fp8(KernelDriver& driver) {
  for (const Fp8Format format : {Fp8Format::kE4m3, Fp8Format::kE5m2})
    for (const Storage storage : kStorages)
      for (const auto& [rows, columns] : {std::pair{16, 16}, {16, 4096}, {48, 208}, {144, 64}, {1040, 32}})
        drive_cast(driver, format, storage, rows, columns);
  for (const bool turned : {false, true}) drive_product(driver, turned);
}

}  // namespace

extern const DrivenKernel kRopeDriven, kSwigluDriven, kGegluDriven, kFp8CastDriven;
constinit const DrivenKernel kRopeDriven{"rope", &drive_ropes};
constinit const DrivenKernel kSwigluDriven{"swiglu", &drive_gates<kernels::kSwigluKernels>};
constinit const DrivenKernel kGegluDriven{"geglu", &drive_gates<kernels::kGegluKernels>};
constinit const DrivenKernel kFp8CastDriven{"fp8_cast", &drive_fp8};

}  // namespace headroom::tests
