// Drives the counts by exponent, of gradients and optimizer updates.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/exponent_counts/exponent_counts.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

namespace {

using kernels::Storage;

constexpr std::int64_t kCountBytes = kernels::kExponentBins * 8;
constexpr std::int64_t kEmbedding = std::int64_t{128'256} * 2048;  // Llama 3.2 1B

std::int64_t counted(const DeviceBuffer& counts) {
  std::vector<std::int64_t> here(kernels::kExponentBins);
  cudaMemcpy(here.data(), counts.data(), kCountBytes, cudaMemcpyDeviceToHost);
  std::int64_t sum = 0;
  for (const std::int64_t count : here) sum += count;
  return sum;
}

// Skips `skip` elements; 1 prevents wide loads.
const void* from(const DeviceBuffer& buffer, Storage storage, std::int64_t skip) {
  return buffer.as<std::byte>() + skip * kernels::bytes_of(storage);
}

// With `scale` 0 all numbers fall into one bin.
void drive_counts(KernelDriver& driver, Storage storage, std::int64_t n, std::int64_t skip = 0, float scale = 1e-3f) {
  DeviceBuffer x((n + skip) * kernels::bytes_of(storage)), counts(kCountBytes);
  x.fill(storage, 7, scale);
  counts.zero();
  const kernels::CountedNumbers numbers{
      .x = from(x, storage, skip), .storage = storage, .n = n, .factor = nullptr, .counts = counts.as<std::int64_t>()};
  const auto launch = [&] { return kernels::count_exponents_cuda(numbers, nullptr); };
  const std::string name = "exponent_counts " + std::to_string(kernels::bytes_of(storage)) + " bytes, " +
                           std::to_string(n) + (skip > 0 ? ", unaligned" : "") + (scale == 0 ? ", one bin" : "");
  if (driver.timed()) return driver.time(name, x.bytes(), launch);
  driver.run(name, launch);
  if (counted(counts) != n) driver.fail(name, "it did not count each number once");
}

void drive_updates(KernelDriver& driver, Storage weight, Storage moment, std::int64_t n, std::int64_t skip = 0) {
  const std::int64_t weight_bytes = (n + skip) * kernels::bytes_of(weight);
  const std::int64_t moment_bytes = (n + skip) * kernels::bytes_of(moment);
  DeviceBuffer before(weight_bytes), after(weight_bytes), first(moment_bytes), second(moment_bytes);
  DeviceBuffer updates(kCountBytes), lost(kCountBytes);
  before.fill(weight, 1, 0.02f);
  after.fill(weight, 1, 0.02f);
  first.fill(moment, 2, 1e-3f);
  second.zero();
  updates.zero();
  lost.zero();
  const kernels::CountedUpdates of{.before = from(before, weight, skip),
                                   .after = from(after, weight, skip),
                                   .first_moment = from(first, moment, skip),
                                   .second_moment = from(second, moment, skip),
                                   .weight = weight,
                                   .moment = moment,
                                   .n = n,
                                   .updates = updates.as<std::int64_t>(),
                                   .lost = lost.as<std::int64_t>()};
  const kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 1e-8, 0.1, 1);
  const auto launch = [&] { return kernels::count_updates_cuda(of, step, {}, nullptr); };
  const std::string name = "exponent_counts of updates, weights of " + std::to_string(kernels::bytes_of(weight)) +
                           " bytes, moments of " + std::to_string(kernels::bytes_of(moment)) + ", " +
                           std::to_string(n) + (skip > 0 ? ", unaligned" : "");
  if (driver.timed()) return driver.time(name, 2 * weight_bytes + 2 * moment_bytes, launch);
  driver.run(name, launch);
  if (counted(updates) != n) driver.fail(name, "it did not count each change once");
  if (n > 0 && counted(lost) == 0) driver.fail(name, "weights that stayed were not seen");
}

void drive_all(KernelDriver& driver) {
  if (driver.timed()) {
    for (const std::int64_t n : {std::int64_t{2048} * 2048, std::int64_t{2048} * 8192, kEmbedding})
      drive_counts(driver, Storage::kBf16, n);
    drive_counts(driver, Storage::kBf16, kEmbedding, 0, /*scale=*/0);
    drive_counts(driver, Storage::kFp32, kEmbedding);
    drive_updates(driver, Storage::kBf16, Storage::kBf16, kEmbedding);
    drive_updates(driver, Storage::kFp32, Storage::kFp32, kEmbedding);
    return;
  }
  for (const std::int64_t n : {0, 1, 7, 8, 255, 4096, 100'003}) {
    for (const std::int64_t skip : {0, 1}) {
      for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
        drive_counts(driver, storage, n, skip);
        for (const Storage moment : {Storage::kFp32, Storage::kBf16}) drive_updates(driver, storage, moment, n, skip);
      }
    }
  }
}

}  // namespace

extern const DrivenKernel kExponentCountsDriven;
constinit const DrivenKernel kExponentCountsDriven{"exponent_counts", &drive_all};

}  // namespace headroom::tests
