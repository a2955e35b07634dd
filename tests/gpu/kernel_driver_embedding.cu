// Drives the embedding's gradient.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/embedding_backward/embedding_backward.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

namespace {

using kernels::Storage;

// Every `common`-th token has the id 1, like frequent words; 0: none.
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

void drive_all(KernelDriver& driver) {
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

extern const DrivenKernel kEmbeddingBackwardDriven;
constinit const DrivenKernel kEmbeddingBackwardDriven{"embedding_backward", &drive_all};

}  // namespace headroom::tests
