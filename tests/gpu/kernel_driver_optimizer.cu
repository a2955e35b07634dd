// Drives AdamW, also with 8-bit moments, the search for inf and NaN, NF4, and the embedding's gradient.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/adamw/adamw.h"
#include "kernels/adamw_8bit/adamw_8bit.h"
#include "kernels/embedding_backward/embedding_backward.h"
#include "kernels/gradient_check/gradient_check.h"
#include "kernels/nf4/nf4.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::test {

namespace {

using kernels::Storage;

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

// What a step reads from the device: a scale of 1, no overflow, t = 1.
struct ControlBuffers {
  ControlBuffers() : scale(4), overflow(4), count(8) {
    constexpr float kScale = 1;
    constexpr std::int64_t kCount = 1;
    cudaMemcpy(scale.data(), &kScale, 4, cudaMemcpyHostToDevice);
    cudaMemcpy(count.data(), &kCount, 8, cudaMemcpyHostToDevice);
    overflow.zero();
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
                 const std::vector<std::int64_t>& sizes, const kernels::AdamWSwitches& switches = {}) {
  std::vector<std::unique_ptr<AdamWBuffers>> buffers;
  std::vector<kernels::AdamWTensor> tensors;
  std::int64_t bytes = 0;
  for (const std::int64_t n : sizes) {
    const AdamWBuffers& b = *buffers.emplace_back(std::make_unique<AdamWBuffers>(n, types));
    tensors.push_back(
        {b.param.data(), b.gradient.data(), b.first.data(), b.second.data(), n, n > 4096, b.working.data()});
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

// `common`: one token in how many has the id 1, as common words do; 0: none.
void drive_embedding(KernelDriver& driver, Storage gradient, Storage table, std::int64_t tokens, std::int64_t width,
                     std::int64_t vocab_size, std::int64_t common, bool accumulate) {
  const std::int64_t dy_bytes = tokens * width * kernels::bytes_of(gradient);
  const std::int64_t table_bytes = vocab_size * width * kernels::bytes_of(table);
  DeviceBuffer dy(dy_bytes), dweight(table_bytes), ids(tokens * 8);
  DeviceBuffer integers(4 * kernels::embedding_integers(tokens, vocab_size));
  DeviceBuffer segment_sums(4 * kernels::embedding_segments(tokens) * width);
  std::vector<std::int64_t> host(static_cast<std::size_t>(tokens));
  for (std::size_t n = 0; n < host.size(); ++n) {
    host[n] = static_cast<std::int64_t>((n * 2654435761u) % static_cast<std::uint64_t>(vocab_size));
    if (common != 0 && static_cast<std::int64_t>(n) % common == 0) host[n] = 1 % vocab_size;
  }
  cudaMemcpy(ids.data(), host.data(), host.size() * 8, cudaMemcpyHostToDevice);
  dy.fill(gradient, 1);
  dweight.zero();
  const kernels::EmbeddingBackwardArgs args{.dy = dy.data(),
                                            .ids = ids.as<std::int64_t>(),
                                            .dweight = dweight.data(),
                                            .tokens = tokens,
                                            .width = width,
                                            .vocab_size = vocab_size,
                                            .gradient = gradient,
                                            .table = table,
                                            .accumulate = accumulate,
                                            .integers = integers.as<std::int32_t>(),
                                            .segment_sums = segment_sums.as<float>()};
  const auto launch = [&] { return kernels::embedding_backward_cuda(args, nullptr); };
  const std::string name = "embedding_backward N=" + std::to_string(tokens) + " H=" + std::to_string(width) +
                           " V=" + std::to_string(vocab_size) + " common 1/" + std::to_string(common) +
                           (accumulate ? " add" : "");
  if (driver.timed()) {
    driver.time(name, dy_bytes + (accumulate ? 2 * std::min(table_bytes, dy_bytes) : table_bytes), launch);
  } else {
    driver.run(name, launch);
  }
}

void drive_embeddings(KernelDriver& driver) {
  if (driver.timed()) {
    for (const std::int64_t tokens : {1024, 8192, 65'536}) {
      for (const std::int64_t common : {0, 20}) {
        drive_embedding(driver, Storage::kBf16, Storage::kBf16, tokens, 2048, 128'256, common, false);
      }
    }
    drive_embedding(driver, Storage::kBf16, Storage::kBf16, 8192, 2048, 128'256, 20, true);
    drive_embedding(driver, Storage::kBf16, Storage::kFp32, 8192, 2048, 128'256, 20, false);
    drive_embedding(driver, Storage::kBf16, Storage::kBf16, 65'536, 2048, 128'256, 1, false);
    return;
  }
  for (const bool accumulate : {false, true}) {
    drive_embedding(driver, Storage::kFp32, Storage::kFp32, 1, 1, 1, 0, accumulate);
    drive_embedding(driver, Storage::kBf16, Storage::kBf16, 1000, 40, 97, 0, accumulate);
    drive_embedding(driver, Storage::kBf16, Storage::kFp32, 5000, 33, 300, 3, accumulate);
    drive_embedding(driver, Storage::kFp16, Storage::kFp16, 3000, 2056, 7, 0, accumulate);
    drive_embedding(driver, Storage::kFp32, Storage::kFp32, 3000, 64, 20, 1, accumulate);
  }
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
  } else {
    drive_adamw(driver, "more than a launch", kTypes[2], std::vector<std::int64_t>(700, 9));
  }
}

struct AdamW8bitBuffers {
  AdamW8bitBuffers(std::int64_t n, const kernels::AdamWTypes& types)
      : param(n * kernels::bytes_of(types.param)),
        gradient(n * kernels::bytes_of(types.gradient)),
        m_codes(n),
        v_codes(n),
        m_absmax(4 * kernels::quantised_blocks(n)),
        v_absmax(4 * kernels::quantised_blocks(n)),
        working(types.working ? n * kernels::bytes_of(*types.working) : 0) {
    param.fill(types.param, 1);
    gradient.fill(types.gradient, 2, 0.01f);
    for (DeviceBuffer* buffer : {&m_codes, &v_codes, &m_absmax, &v_absmax}) buffer->zero();
  }
  DeviceBuffer param, gradient, m_codes, v_codes, m_absmax, v_absmax, working;
};

void drive_adamw_8bit(KernelDriver& driver, const std::string& name, const kernels::AdamWTypes& types,
                      const std::vector<std::int64_t>& sizes, const kernels::AdamWSwitches& switches = {}) {
  std::vector<std::unique_ptr<AdamW8bitBuffers>> buffers;
  std::vector<kernels::AdamW8bitTensor> tensors;
  std::int64_t bytes = 0;
  for (const std::int64_t n : sizes) {
    const AdamW8bitBuffers& b = *buffers.emplace_back(std::make_unique<AdamW8bitBuffers>(n, types));
    tensors.push_back({.param = b.param.data(),
                       .gradient = b.gradient.data(),
                       .m_codes = b.m_codes.as<std::uint8_t>(),
                       .m_absmax = b.m_absmax.as<float>(),
                       .v_codes = b.v_codes.as<std::uint8_t>(),
                       .v_absmax = b.v_absmax.as<float>(),
                       .n = n,
                       .decays = n > 4096,
                       .working = b.working.data()});
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
  for (const kernels::AdamWTypes& types : {kTypes[0], kTypes[2], kTypes[3], kTypes[6], kMixedBf16, kMixedFp16}) {
    drive_adamw_8bit(driver, name_of(types) + (types.working ? " and a copy" : ""), types, sizes);
  }
  const ControlBuffers control;
  drive_adamw_8bit(driver, "stochastic, all on the device", kTypes[2], sizes, control.switches(true));
  if (driver.timed()) {
    drive_adamw_8bit(driver, "Llama 3.2 1B, 2 bytes", kTypes[2], llama_1b());
    return;
  }
  drive_adamw_8bit(driver, "more than a launch", kTypes[2], std::vector<std::int64_t>(700, 9));
  for (const std::int64_t n : {1, 255, 257, 100'003}) {
    drive_quantisation(driver, n, Storage::kFp32, true);
    drive_quantisation(driver, n, Storage::kBf16, false);
  }
}

void drive_nf4(KernelDriver& driver, std::int64_t n, Storage storage) {
  DeviceBuffer weight(n * kernels::bytes_of(storage)), codes((n + 1) / 2), absmax_codes(kernels::nf4_blocks(n));
  DeviceBuffer scale(4 * kernels::nf4_scales(n)), mean(4), scratch(4 * kernels::nf4_blocks(n));
  weight.fill(storage, 6, 0.02f);
  const kernels::Nf4Args args{codes.as<std::uint8_t>(), absmax_codes.as<std::uint8_t>(), scale.as<float>(),
                              mean.as<float>(), n};
  const std::string name = " " + std::to_string(kernels::bytes_of(storage)) + " bytes, n=" + std::to_string(n);
  const auto quantise = [&] {
    return kernels::nf4_quantise_cuda(weight.data(), storage, args, scratch.as<float>(), nullptr);
  };
  const auto dequantise = [&] { return kernels::nf4_dequantise_cuda(args, weight.data(), storage, nullptr); };
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
    for (const std::int64_t n : {1, 7, 63, 65, 1001, 16'385, 100'003}) drive_nf4(driver, n, storage);
  }
}

void drive_gradient_check(KernelDriver& driver, Storage storage, const std::vector<std::int64_t>& sizes) {
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  std::vector<kernels::CheckedTensor> tensors;
  std::int64_t bytes = 0;
  for (const std::int64_t n : sizes) {
    DeviceBuffer& buffer = *buffers.emplace_back(std::make_unique<DeviceBuffer>(n * kernels::bytes_of(storage)));
    buffer.fill(storage, 3);
    tensors.push_back({buffer.data(), n});
    bytes += buffer.bytes();
  }
  DeviceBuffer overflow(4);
  overflow.zero();
  const auto launch = [&] {
    return kernels::check_finite_cuda(tensors, storage, overflow.as<std::int32_t>(), nullptr);
  };
  const std::string name = "gradient_check " + std::to_string(kernels::bytes_of(storage)) + " bytes, " +
                           std::to_string(sizes.size()) + " tensors";
  if (driver.timed()) {
    driver.time(name, bytes, launch);
    return;
  }
  driver.run(name, launch);
  std::int32_t found = 0;
  cudaMemcpy(&found, overflow.data(), 4, cudaMemcpyDeviceToHost);
  if (found != 0) driver.fail(name, "finite numbers are said not to be");
}

void drive_gradient_checks(KernelDriver& driver) {
  for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
    drive_gradient_check(driver, storage, driver.timed() ? llama_1b() : kSmallAndOdd);
  }
  if (!driver.timed()) drive_gradient_check(driver, Storage::kFp16, std::vector<std::int64_t>(2500, 9));
}

}  // namespace

void drive_optimizer(KernelDriver& driver) {
  if (driver.wants("adamw")) drive_adamws(driver);
  if (driver.wants("adamw_8bit")) drive_adamw_8bits(driver);
  if (driver.wants("nf4")) drive_nf4s(driver);
  if (driver.wants("gradient_check")) drive_gradient_checks(driver);
  if (driver.wants("embedding_backward")) drive_embeddings(driver);
}

}  // namespace headroom::test
