// Drives AdamW.
#include <string>

#include "kernels/adamw/adamw.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::test {

namespace {

template <typename T>
void drive_adamw(KernelDriver& driver, kernels::Storage storage, std::int64_t n) {
  const std::int64_t bytes = n * kernels::bytes_of(storage);
  DeviceBuffer param(bytes), gradient(bytes), first(bytes), second(bytes);
  param.fill(storage, 1);
  gradient.fill(storage, 2);
  first.zero();
  second.zero();
  const kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 1e-8, 0.1, 1);
  const kernels::AdamWTensors<T> tensors{param.as<T>(), gradient.as<T>(), first.as<T>(), second.as<T>()};
  const auto launch = [&] { return kernels::adamw_cuda(tensors, n, step, nullptr); };
  const std::string name = "adamw n=" + std::to_string(n) + " s=" + std::to_string(kernels::bytes_of(storage));
  if (driver.timed()) {
    driver.time(name, 7 * bytes, launch);
  } else {
    driver.run(name, launch);
  }
}

}  // namespace

void drive_optimizer(KernelDriver& driver) {
  if (!driver.wants("adamw")) return;
  if (driver.timed()) {
    drive_adamw<kernels::Bf16>(driver, kernels::Storage::kBf16, std::int64_t{1} << 26);
    return;
  }
  for (const std::int64_t n : {1, 7, 8, 255, 4096, 100'003}) {
    drive_adamw<float>(driver, kernels::Storage::kFp32, n);
    drive_adamw<kernels::Bf16>(driver, kernels::Storage::kBf16, n);
  }
}

}  // namespace headroom::test
