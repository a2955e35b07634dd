// Drives AdamW and the embedding's gradient.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/adamw/adamw.h"
#include "kernels/embedding_backward/embedding_backward.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::test {

namespace {

using kernels::Storage;

struct AdamWBuffers {
  AdamWBuffers(std::int64_t n, kernels::AdamWTypes types)
      : param(n * kernels::bytes_of(types.param)),
        gradient(n * kernels::bytes_of(types.gradient)),
        first(n * kernels::bytes_of(types.moment)),
        second(n * kernels::bytes_of(types.moment)) {
    param.fill(types.param, 1);
    gradient.fill(types.gradient, 2, 0.01f);
    first.zero();
    second.zero();
  }
  DeviceBuffer param, gradient, first, second;
};

void drive_adamw(KernelDriver& driver, const std::string& name, kernels::AdamWTypes types,
                 const std::vector<std::int64_t>& sizes) {
  std::vector<std::unique_ptr<AdamWBuffers>> buffers;
  std::vector<kernels::AdamWTensor> tensors;
  std::int64_t bytes = 0;
  for (const std::int64_t n : sizes) {
    const AdamWBuffers& b = *buffers.emplace_back(std::make_unique<AdamWBuffers>(n, types));
    tensors.push_back({b.param.data(), b.gradient.data(), b.first.data(), b.second.data(), n, n > 4096});
    bytes += 2 * b.param.bytes() + b.gradient.bytes() + 2 * b.first.bytes() + 2 * b.second.bytes();
  }
  const kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 1e-8, 0.1, 1);
  const auto launch = [&] { return kernels::adamw_cuda(tensors, types, step, {}, nullptr); };
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

}  // namespace

void drive_optimizer(KernelDriver& driver) {
  if (driver.wants("adamw")) {
    for (const kernels::AdamWTypes& types : kTypes) {
      if (driver.timed()) {
        drive_adamw(driver, name_of(types) + " n=67108864", types, {std::int64_t{1} << 26});
      } else {
        drive_adamw(driver, name_of(types) + " small and odd", types, {1, 7, 0, 8, 255, 4096, 100'003});
      }
    }
    if (!driver.timed()) drive_adamw(driver, "more than a launch", kTypes[2], std::vector<std::int64_t>(700, 9));
    if (driver.timed()) drive_adamw(driver, "Llama 3.2 1B, all 2 bytes", kTypes[2], llama_1b());
  }
  if (driver.wants("embedding_backward")) drive_embeddings(driver);
}

}  // namespace headroom::test
