// Drives the fp8 casts, whose codes must equal the CPU's, and GEMMs without tensor cores.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/fp8_cast/fp8_cast.h"
#include "kernels/narrow_product/emulated_product.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

namespace {

using kernels::Fp8Format;
using kernels::Fp8Scaling;
using kernels::Storage;

struct Layouts {
  bool rows, transposed;
};

struct Fp8Case {
  std::int64_t rows, columns;
  Storage storage;
  Fp8Format format;
};

std::string name_of(const Fp8Case& c) {
  return std::string(c.format == Fp8Format::kE4m3 ? "fp8_cast e4m3, " : "fp8_cast e5m2, ") +
         std::to_string(kernels::bytes_of(c.storage)) + " bytes, " + std::to_string(c.rows) + " x " +
         std::to_string(c.columns);
}

std::string name_of(const Layouts& layouts) {
  return layouts.rows && layouts.transposed ? " both layouts" : layouts.rows ? "" : " transposed";
}

// Buffers of one call.
struct Fp8Buffers {
  explicit Fp8Buffers(const Fp8Case& c)
      : x(c.rows * c.columns * kernels::bytes_of(c.storage)),
        codes(c.rows * c.columns),
        transposed(c.rows * c.columns),
        scaling(sizeof(Fp8Scaling)),
        not_scaled(4) {
    x.fill(c.storage, 3, 5.0f);
    scaling.zero();
    not_scaled.zero();
  }
  DeviceBuffer x, codes, transposed, scaling, not_scaled;
};

void expect_codes(KernelDriver& driver, const std::string& name, const Fp8Buffers& b, kernels::Fp8CastArgs args) {
  const std::vector<char> numbers = b.x.bits();
  std::vector<char> scaling = b.scaling.bits(), rows(static_cast<std::size_t>(b.codes.bytes())), turned(rows.size());
  const auto codes = [](std::vector<char>& bytes) { return reinterpret_cast<std::uint8_t*>(bytes.data()); };
  const bool has_rows = args.codes != nullptr, has_turned = args.transposed != nullptr;
  args.x = numbers.data();
  args.codes = has_rows ? codes(rows) : nullptr;
  args.transposed = has_turned ? codes(turned) : nullptr;
  args.scaling = reinterpret_cast<Fp8Scaling*>(scaling.data());
  kernels::fp8_cast_cpu(args, 0, args.rows);
  if (has_rows && b.codes.bits() != rows) driver.fail(name, "the codes are not the CPU's");
  if (has_turned && b.transposed.bits() != turned) driver.fail(name, "the transposed codes are not the CPU's");
}

void drive_cast(KernelDriver& driver, const Fp8Case& c) {
  const std::int64_t n = c.rows * c.columns;
  const Fp8Buffers b(c);
  auto* const scaling = b.scaling.as<Fp8Scaling>();
  auto* const not_scaled = b.not_scaled.as<std::int32_t>();
  const auto measure = [&] {
    return kernels::fp8_measure_cuda(b.x.data(), c.storage, n, c.format, scaling, /*keeps=*/false, not_scaled, nullptr);
  };
  driver.run(name_of(c) + " measure", measure);
  if (driver.timed()) driver.time(name_of(c) + " measure", b.x.bytes(), measure);
  for (const Layouts layouts : {Layouts{true, false}, Layouts{false, true}, Layouts{true, true}}) {
    const kernels::Fp8CastArgs args{.x = b.x.data(),
                                    .storage = c.storage,
                                    .rows = c.rows,
                                    .columns = c.columns,
                                    .codes = layouts.rows ? b.codes.as<std::uint8_t>() : nullptr,
                                    .transposed = layouts.transposed ? b.transposed.as<std::uint8_t>() : nullptr,
                                    .transposed_stride = c.rows,
                                    .format = c.format,
                                    .scaling = scaling,
                                    .measures = true};
    const std::string name = name_of(c) + name_of(layouts);
    const auto launch = [&] { return kernels::fp8_cast_cuda(args, nullptr); };
    if (driver.timed()) {
      driver.time(name, b.x.bytes() + (layouts.rows && layouts.transposed ? 2 : 1) * n, launch);
      continue;
    }
    driver.run(name, launch);
    expect_codes(driver, name, b, args);
  }
  driver.run(name_of(c) + " advance", [&] { return kernels::fp8_advance_cuda(scaling, 1, not_scaled, nullptr); });
  if (b.not_scaled.bits() != std::vector<char>(4)) driver.fail(name_of(c), "a scale that could be chosen was not");
}

// GEMMs of fp32 operands with at most 10 bits of fraction, hence exact. A holds small multiples of 1 / 64; B(k, j) is
// 1 where j mod K = k.
void drive_product(KernelDriver& driver, bool turned) {
  constexpr std::int64_t kRows = 67, kColumns = 35, kInner = 21;
  const std::string name = std::string("emulated product of tf32") + (turned ? ", operands transposed" : "");
  std::vector<float> a(kRows * kInner), b(kInner * kColumns);
  const auto a_at = [&](std::int64_t i, std::int64_t k) { return turned ? k * kRows + i : i * kInner + k; };
  const auto b_at = [&](std::int64_t k, std::int64_t j) { return turned ? j * kInner + k : k * kColumns + j; };
  std::vector<double> expected(kRows * kColumns);
  for (std::int64_t k = 0; k < kInner; ++k) {
    for (std::int64_t i = 0; i < kRows; ++i) a[a_at(i, k)] = static_cast<float>((i * 7 + k * 5) % 61) / 64;
    for (std::int64_t j = 0; j < kColumns; ++j) b[b_at(k, j)] = j % kInner == k ? 1.0f : 0.0f;
  }
  for (std::int64_t i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < kColumns; ++j) expected[i * kColumns + j] = 2 * a[a_at(i, j % kInner)];
  const DeviceBuffer a_there(kRows * kInner * 4), b_there(kInner * kColumns * 4);
  DeviceBuffer d(kRows * kColumns * 4);
  d.poison();
  const float two = 2, nothing = 0;
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
  cudaMemcpy(a_there.data(), a.data(), a.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b_there.data(), b.data(), b.size() * 4, cudaMemcpyHostToDevice);
  driver.run(name, [&] {
    return kernels::multiply_emulated(
        product, {.a = a_there.data(), .b = b_there.data(), .d = d.data(), .alpha = &two, .beta = &nothing}, nullptr);
  });
  driver.expect_near(name, d.numbers(Storage::kFp32), expected, 0);
}

void drive_all(KernelDriver& driver) {
  if (driver.timed()) {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{8192, 2048}, {8192, 8192}})
      drive_cast(driver, {rows, columns, Storage::kBf16, Fp8Format::kE4m3});
    return;
  }
  for (const Fp8Format format : {Fp8Format::kE4m3, Fp8Format::kE5m2})
    for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16})
      for (const auto& [rows, columns] :
           {std::pair<std::int64_t, std::int64_t>{16, 16}, {16, 4096}, {48, 208}, {144, 64}, {1040, 32}})
        drive_cast(driver, {rows, columns, storage, format});
  for (const bool turned : {false, true}) drive_product(driver, turned);
}

}  // namespace

extern const DrivenKernel kFp8CastDriven;
constinit const DrivenKernel kFp8CastDriven{"fp8_cast", &drive_all};

}  // namespace headroom::tests
