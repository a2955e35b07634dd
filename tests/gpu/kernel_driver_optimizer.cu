// Drives AdamW, also with 8-bit moments, the search for inf and NaN, and NF4.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/adamw/adamw.h"
#include "kernels/adamw_8bit/adamw_8bit.h"
#include "kernels/gradient_check/gradient_check.h"
#include "kernels/gradient_check/gradient_norm.h"
#include "kernels/nf4/nf4.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

namespace {

using kernels::Storage;

// Skips `skip` elements: 1 prevents wide accesses, and the last element still ends the buffer.
void* from(const DeviceBuffer& buffer, Storage storage, std::int64_t skip) {
  return buffer.bytes() == 0 ? nullptr : buffer.as<std::byte>() + skip * kernels::bytes_of(storage);
}

template <typename T>
T read(const DeviceBuffer& buffer) {
  T value{};
  cudaMemcpy(&value, buffer.data(), sizeof(T), cudaMemcpyDeviceToHost);
  return value;
}

template <typename T>
void write(const DeviceBuffer& buffer, T value, std::int64_t index = 0) {
  cudaMemcpy(buffer.as<T>() + index, &value, sizeof(T), cudaMemcpyHostToDevice);
}

struct AdamWBuffers {
  AdamWBuffers(std::int64_t n, const kernels::AdamWTypes& types)
      : param(n * kernels::bytes_of(types.param)),
        gradient(n * kernels::bytes_of(types.gradient)),
        first(n * kernels::bytes_of(types.moment)),
        second(n * kernels::bytes_of(types.moment)),
        working(types.working ? n * kernels::bytes_of(*types.working) : 0) {
    param.fill(types.param, 1);
    gradient.fill(types.gradient, 2, 0.01f);
    first.zero();
    second.zero();
  }
  DeviceBuffer param, gradient, first, second, working;
};

// Device scalars of a step: scale 1, the overflow flag, t = 1.
struct ControlBuffers {
  explicit ControlBuffers(bool overflows = false) : scale(4), overflow(4), count(8) {
    write(scale, 1.0f);
    write(count, std::int64_t{1});
    write(overflow, std::int32_t{overflows});
  }
  kernels::AdamWSwitches switches(bool stochastic) const {
    return {.inverse_scale = scale.as<float>(),
            .overflow = overflow.as<std::int32_t>(),
            .step_count = count.as<std::int64_t>(),
            .stochastic_rounding = stochastic,
            .seed = 1};
  }
  DeviceBuffer scale, overflow, count;
};

void drive_adamw(KernelDriver& driver, const std::string& name, const kernels::AdamWTypes& types,
                 const std::vector<std::int64_t>& sizes, const kernels::AdamWSwitches& switches = {},
                 std::int64_t skip = 0) {
  std::vector<std::unique_ptr<AdamWBuffers>> buffers;
  std::vector<kernels::AdamWTensor> tensors;
  std::int64_t bytes = 0;
  for (const std::int64_t n : sizes) {
    const AdamWBuffers& b = *buffers.emplace_back(std::make_unique<AdamWBuffers>(n + skip, types));
    tensors.push_back({.param = from(b.param, types.param, skip),
                       .gradient = from(b.gradient, types.gradient, skip),
                       .first_moment = from(b.first, types.moment, skip),
                       .second_moment = from(b.second, types.moment, skip),
                       .n = n,
                       .decays = n > 4096,
                       .working = from(b.working, types.working.value_or(Storage::kFp32), skip)});
    bytes += 2 * b.param.bytes() + b.gradient.bytes() + 2 * b.first.bytes() + 2 * b.second.bytes() + b.working.bytes();
  }
  const kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 1e-8, 0.1, 1);
  const auto launch = [&] { return kernels::adamw_cuda(tensors, types, step, switches, nullptr); };
  if (driver.timed()) {
    driver.time("adamw " + name, bytes, launch);
  } else {
    driver.run("adamw " + name, launch);
  }
}

void drive_step_count(KernelDriver& driver, const ControlBuffers& control) {
  const bool overflows = read<std::int32_t>(control.overflow) != 0;
  const std::string name = std::string("advance_step_count") + (overflows ? ", overflow" : "");
  driver.run(name, [&] {
    return kernels::advance_step_count_cuda(control.count.as<std::int64_t>(), control.overflow.as<std::int32_t>(),
                                            nullptr);
  });
  if (read<std::int64_t>(control.count) != (overflows ? 1 : 2)) driver.fail(name, "the count is wrong");
}

// The 146 weights of Llama 3.2 1B.
std::vector<std::int64_t> llama_1b() {
  constexpr std::int64_t kHidden = 2048, kFeedForward = 8192, kKeys = 512;
  std::vector<std::int64_t> sizes{128'256 * kHidden, kHidden};
  for (int layer = 0; layer < 16; ++layer) {
    for (const std::int64_t n : {kHidden, kHidden * kHidden, kKeys * kHidden, kKeys * kHidden, kHidden * kHidden,
                                 kHidden, kFeedForward * kHidden, kFeedForward * kHidden, kFeedForward * kHidden}) {
      sizes.push_back(n);
    }
  }
  return sizes;
}

constexpr kernels::AdamWTypes kTypes[] = {
    {Storage::kFp32, Storage::kFp32, Storage::kFp32}, {Storage::kFp32, Storage::kFp32, Storage::kBf16},
    {Storage::kBf16, Storage::kBf16, Storage::kBf16}, {Storage::kBf16, Storage::kFp32, Storage::kBf16},
    {Storage::kBf16, Storage::kBf16, Storage::kFp32}, {Storage::kBf16, Storage::kFp32, Storage::kFp32},
    {Storage::kFp16, Storage::kFp16, Storage::kFp32}, {Storage::kFp16, Storage::kFp32, Storage::kBf16}};

constexpr kernels::AdamWTypes kMixedBf16{Storage::kFp32, Storage::kBf16, Storage::kFp32, Storage::kBf16};
constexpr kernels::AdamWTypes kMixedFp16{Storage::kFp32, Storage::kFp32, Storage::kBf16, Storage::kFp16};

std::string name_of(kernels::AdamWTypes types) {
  const auto bytes = [](Storage storage) { return std::to_string(kernels::bytes_of(storage)); };
  return "p" + bytes(types.param) + " g" + bytes(types.gradient) + " m" + bytes(types.moment);
}

const std::vector<std::int64_t> kSmallAndOdd{1, 7, 0, 8, 255, 4096, 100'003};
constexpr std::int64_t kLarge = std::int64_t{1} << 26;

void drive_adamws(KernelDriver& driver) {
  const std::vector<std::int64_t> sizes = driver.timed() ? std::vector{kLarge} : kSmallAndOdd;
  for (const kernels::AdamWTypes& types : kTypes) drive_adamw(driver, name_of(types), types, sizes);
  const ControlBuffers control;
  drive_adamw(driver, "master and bf16 copy", kMixedBf16, sizes);
  drive_adamw(driver, "master and fp16 copy, all on the device", kMixedFp16, sizes, control.switches(false));
  drive_adamw(driver, "stochastic", kTypes[2], sizes, {.stochastic_rounding = true});
  drive_adamw(driver, "stochastic, all on the device", kTypes[2], sizes, control.switches(true));
  if (driver.timed()) {
    drive_adamw(driver, "Llama 3.2 1B, all 2 bytes", kTypes[2], llama_1b());
    return;
  }
  drive_adamw(driver, "more than a launch", kTypes[2], std::vector<std::int64_t>(700, 9));
  for (const kernels::AdamWTypes& types : {kTypes[0], kTypes[2], kMixedBf16, kMixedFp16}) {
    drive_adamw(driver, name_of(types) + ", unaligned", types, sizes, {}, /*skip=*/1);
  }
  const ControlBuffers overflow(true);
  drive_adamw(driver, "overflow", kMixedFp16, sizes, overflow.switches(false));
  drive_step_count(driver, control);
  drive_step_count(driver, overflow);
}

struct AdamW8bitBuffers {
  AdamW8bitBuffers(std::int64_t n, std::int64_t skip, const kernels::AdamWTypes& types)
      : param((n + skip) * kernels::bytes_of(types.param)),
        gradient((n + skip) * kernels::bytes_of(types.gradient)),
        m_codes(n + skip),
        v_codes(n + skip),
        m_absmax(4 * kernels::quantised_blocks(n)),
        v_absmax(4 * kernels::quantised_blocks(n)),
        working(types.working ? (n + skip) * kernels::bytes_of(*types.working) : 0) {
    param.fill(types.param, 1);
    gradient.fill(types.gradient, 2, 0.01f);
    for (DeviceBuffer* buffer : {&m_codes, &v_codes, &m_absmax, &v_absmax}) buffer->zero();
  }
  DeviceBuffer param, gradient, m_codes, v_codes, m_absmax, v_absmax, working;
};

void drive_adamw_8bit(KernelDriver& driver, const std::string& name, const kernels::AdamWTypes& types,
                      const std::vector<std::int64_t>& sizes, const kernels::AdamWSwitches& switches = {},
                      std::int64_t skip = 0) {
  std::vector<std::unique_ptr<AdamW8bitBuffers>> buffers;
  std::vector<kernels::AdamW8bitTensor> tensors;
  std::int64_t bytes = 0;
  for (const std::int64_t n : sizes) {
    const AdamW8bitBuffers& b = *buffers.emplace_back(std::make_unique<AdamW8bitBuffers>(n, skip, types));
    tensors.push_back({.param = from(b.param, types.param, skip),
                       .gradient = from(b.gradient, types.gradient, skip),
                       .m_codes = b.m_codes.as<std::uint8_t>() + skip,
                       .m_absmax = b.m_absmax.as<float>(),
                       .v_codes = b.v_codes.as<std::uint8_t>() + skip,
                       .v_absmax = b.v_absmax.as<float>(),
                       .n = n,
                       .decays = n > 4096,
                       .working = from(b.working, types.working.value_or(Storage::kFp32), skip)});
    bytes += 2 * b.param.bytes() + b.gradient.bytes() + 4 * n + 4 * b.m_absmax.bytes() + b.working.bytes();
  }
  const kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 1e-8, 0.1, 1);
  const auto launch = [&] { return kernels::adamw_8bit_cuda(tensors, types, step, switches, nullptr); };
  if (driver.timed()) {
    driver.time("adamw_8bit " + name, bytes, launch);
  } else {
    driver.run("adamw_8bit " + name, launch);
  }
}

void drive_quantisation(KernelDriver& driver, std::int64_t n, Storage storage, bool is_signed) {
  DeviceBuffer x(n * kernels::bytes_of(storage)), codes(n), absmax(4 * kernels::quantised_blocks(n)), y(4 * n);
  x.fill(storage, 5);
  const kernels::QuantisedArray array{codes.as<std::uint8_t>(), absmax.as<float>(), n, is_signed};
  const std::string name = " of " + std::to_string(n);
  driver.run("quantise_blockwise" + name,
             [&] { return kernels::quantise_blockwise_cuda(x.data(), storage, array, nullptr); });
  driver.run("dequantise_blockwise" + name,
             [&] { return kernels::dequantise_blockwise_cuda(array, y.as<float>(), nullptr); });
}

void drive_adamw_8bits(KernelDriver& driver) {
  const std::vector<std::int64_t> sizes = driver.timed() ? std::vector{kLarge} : kSmallAndOdd;
  for (const kernels::AdamWTypes& types :
       {kTypes[0], kTypes[2], kTypes[3], kTypes[6], kTypes[7], kMixedBf16, kMixedFp16}) {
    drive_adamw_8bit(driver, name_of(types) + (types.working ? " and a copy" : ""), types, sizes);
  }
  const ControlBuffers control;
  drive_adamw_8bit(driver, "stochastic, all on the device", kTypes[2], sizes, control.switches(true));
  if (driver.timed()) {
    drive_adamw_8bit(driver, "Llama 3.2 1B, 2 bytes", kTypes[2], llama_1b());
    return;
  }
  drive_adamw_8bit(driver, "more than a launch", kTypes[2], std::vector<std::int64_t>(700, 9));
  drive_adamw_8bit(driver, "stochastic", kTypes[3], sizes, {.stochastic_rounding = true});
  for (const kernels::AdamWTypes& types : {kTypes[0], kTypes[2], kMixedBf16, kMixedFp16}) {
    drive_adamw_8bit(driver, name_of(types) + ", unaligned", types, sizes, {}, /*skip=*/1);
  }
  const ControlBuffers overflow(true);
  drive_adamw_8bit(driver, "overflow", kMixedFp16, sizes, overflow.switches(false));
  for (const std::int64_t n : {1, 255, 256, 257, 100'003}) {
    for (const bool is_signed : {true, false}) {
      for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
        drive_quantisation(driver, n, storage, is_signed);
      }
    }
  }
}

void drive_nf4(KernelDriver& driver, std::int64_t n, Storage storage, std::int64_t skip = 0) {
  DeviceBuffer weight((n + skip) * kernels::bytes_of(storage)), codes((n + 1) / 2 + skip);
  DeviceBuffer absmax_codes(kernels::nf4_blocks(n)), scale(4 * kernels::nf4_scales(n)), mean(4);
  DeviceBuffer scratch(4 * kernels::nf4_blocks(n));
  weight.fill(storage, 6, 0.02f);
  const kernels::Nf4Args args{codes.as<std::uint8_t>() + skip, absmax_codes.as<std::uint8_t>(), scale.as<float>(),
                              mean.as<float>(), n};
  const std::string name = " " + std::to_string(kernels::bytes_of(storage)) + " bytes, n=" + std::to_string(n) +
                           (skip > 0 ? ", unaligned" : "");
  void* const first = from(weight, storage, skip);
  const auto quantise = [&] { return kernels::nf4_quantise_cuda(first, storage, args, scratch.as<float>(), nullptr); };
  const auto dequantise = [&] { return kernels::nf4_dequantise_cuda(args, first, storage, nullptr); };
  driver.run("nf4_quantise" + name, quantise);
  if (driver.timed()) {
    const std::int64_t coded = codes.bytes() + absmax_codes.bytes() + scale.bytes();
    driver.time("nf4_quantise" + name, weight.bytes() + coded + 2 * scratch.bytes(), quantise);
    driver.time("nf4_dequantise" + name, weight.bytes() + coded, dequantise);
  } else {
    driver.run("nf4_dequantise" + name, dequantise);
  }
}

void drive_nf4s(KernelDriver& driver) {
  if (driver.timed()) {
    for (const std::int64_t n : {std::int64_t{2048} * 2048, std::int64_t{2048} * 8192, kLarge}) {
      drive_nf4(driver, n, Storage::kBf16);
    }
    drive_nf4(driver, kLarge, Storage::kFp32);
    return;
  }
  for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
    for (const std::int64_t n : {1, 7, 63, 65, 1001, 16'385, 100'003}) {
      for (const std::int64_t skip : {0, 1}) drive_nf4(driver, n, storage, skip);
    }
  }
}

struct Gradients {
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  std::vector<kernels::CheckedTensor> tensors;
  std::int64_t bytes = 0;
};

Gradients gradients_of(Storage storage, const std::vector<std::int64_t>& sizes, std::int64_t skip) {
  Gradients made;
  for (const std::int64_t n : sizes) {
    DeviceBuffer& buffer =
        *made.buffers.emplace_back(std::make_unique<DeviceBuffer>((n + skip) * kernels::bytes_of(storage)));
    buffer.fill(storage, 3);
    made.tensors.push_back({from(buffer, storage, skip), n});
    made.bytes += buffer.bytes();
  }
  return made;
}

// Compares the sums of squares and the resulting factor with the CPU's.
void drive_gradient_norm(KernelDriver& driver, Storage storage, const std::vector<std::int64_t>& sizes,
                         std::int64_t skip = 0) {
  const Gradients made = gradients_of(storage, sizes, skip);
  std::int64_t count = 0;
  for (const std::int64_t n : sizes) count += kernels::norm_blocks(n);
  DeviceBuffer sums(count * 8), factor(4);
  const auto launch = [&] {
    const int failed = kernels::sums_of_squares_cuda(made.tensors, storage, sums.as<double>(), nullptr);
    return failed != 0
               ? failed
               : kernels::clip_factor_cuda(sums.as<double>(), count, 1e-3, nullptr, factor.as<float>(), nullptr);
  };
  const std::string name = "gradient_norm " + std::to_string(kernels::bytes_of(storage)) + " bytes, " +
                           std::to_string(sizes.size()) + " tensors" + (skip > 0 ? ", unaligned" : "");
  if (driver.timed()) return driver.time(name, made.bytes, launch);
  driver.run(name, launch);
  double expected = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::vector<char> numbers = made.buffers[i]->bits();
    const kernels::CheckedTensor here{numbers.data() + skip * kernels::bytes_of(storage), sizes[i]};
    expected += kernels::sum_of_squares_cpu(here, storage, 0, sizes[i]);
  }
  const float wanted = kernels::clip_factor(expected, 1e-3, nullptr);
  if (std::abs(read<float>(factor) - wanted) > 1e-5f * wanted) driver.fail(name, "the factor is not the CPU's");
}

// `bad`: the very last element is infinite.
void drive_gradient_check(KernelDriver& driver, Storage storage, const std::vector<std::int64_t>& sizes,
                          std::int64_t skip = 0, bool bad = false) {
  const Gradients made = gradients_of(storage, sizes, skip);
  if (bad) {
    const std::uint32_t infinity = kernels::exponent_bits(storage);
    const std::int64_t last = sizes.back() + skip - 1;
    if (storage == Storage::kFp32) {
      write(*made.buffers.back(), infinity, last);
    } else {
      write(*made.buffers.back(), static_cast<std::uint16_t>(infinity), last);
    }
  }
  DeviceBuffer overflow(4);
  overflow.zero();
  const auto launch = [&] {
    return kernels::check_finite_cuda(made.tensors, storage, overflow.as<std::int32_t>(), nullptr);
  };
  const std::string name = "gradient_check " + std::to_string(kernels::bytes_of(storage)) + " bytes, " +
                           std::to_string(sizes.size()) + " tensors" + (skip > 0 ? ", unaligned" : "") +
                           (bad ? ", an infinity" : "");
  if (driver.timed()) {
    driver.time(name, made.bytes, launch);
    return;
  }
  driver.run(name, launch);
  const bool found = read<std::int32_t>(overflow) != 0;
  if (found != bad) driver.fail(name, bad ? "the infinity was not seen" : "finite numbers are said not to be");
}

void drive_loss_scale(KernelDriver& driver, bool overflows) {
  DeviceBuffer scale(4), inverse(4), good_steps(4), overflow(4), skipped(8);
  write(scale, 1024.0f);
  write(inverse, 1.0f / 1024);
  write(good_steps, std::int32_t{1});
  write(overflow, std::int32_t{overflows});
  skipped.zero();
  const kernels::LossScale state{scale.as<float>(), inverse.as<float>(), good_steps.as<std::int32_t>(),
                                 overflow.as<std::int32_t>(), skipped.as<std::int64_t>()};
  const kernels::LossScaleRule rule{.growth_interval = 2, .growth = 2, .backoff = 0.5f, .least = 1};
  const std::string name = std::string("update_loss_scale") + (overflows ? ", overflow" : "");
  driver.run(name, [&] { return kernels::update_loss_scale_cuda(state, rule, nullptr); });
  if (read<float>(scale) != (overflows ? 512 : 2048)) driver.fail(name, "the scale is wrong");
  if (read<std::int64_t>(skipped) != (overflows ? 1 : 0)) driver.fail(name, "the count of skipped steps is wrong");
}

void drive_gradient_checks(KernelDriver& driver) {
  for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
    drive_gradient_check(driver, storage, driver.timed() ? llama_1b() : kSmallAndOdd);
    drive_gradient_norm(driver, storage, driver.timed() ? llama_1b() : kSmallAndOdd);
  }
  if (driver.timed()) return;
  drive_gradient_check(driver, Storage::kFp16, std::vector<std::int64_t>(2500, 9));
  drive_gradient_norm(driver, Storage::kBf16, std::vector<std::int64_t>(2500, 9), /*skip=*/1);
  for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
    for (const std::int64_t skip : {0, 1}) {
      drive_gradient_check(driver, storage, kSmallAndOdd, skip, /*bad=*/true);
      drive_gradient_check(driver, storage, kSmallAndOdd, skip);
    }
  }
  for (const bool overflows : {false, true}) drive_loss_scale(driver, overflows);
}

}  // namespace

extern const DrivenKernel kAdamwDriven, kAdamw8bitDriven, kNf4Driven, kGradientCheckDriven;
constinit const DrivenKernel kAdamwDriven{"adamw", &drive_adamws};
constinit const DrivenKernel kAdamw8bitDriven{"adamw_8bit", &drive_adamw_8bits};
constinit const DrivenKernel kNf4Driven{"nf4", &drive_nf4s};
constinit const DrivenKernel kGradientCheckDriven{"gradient_check", &drive_gradient_checks};

}  // namespace headroom::tests
