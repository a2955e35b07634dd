// Allocates device memory, draws random numbers and reports. Exits with 77 without a GPU.
//
//   kernel_driver [KERNEL]
#include "tests/gpu/kernel_driver.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#include "kernels/common/storage_cpu.h"

namespace headroom::tests {

namespace {

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

}  // namespace

Buffers::~Buffers() {
  for (void* const buffer : all_) cudaFree(buffer);
}

void* Buffers::bytes(std::int64_t count, Fill fill) {
  void* buffer = nullptr;
  must(cudaMalloc(&buffer, static_cast<std::size_t>(std::max<std::int64_t>(count, 1))), "cudaMalloc");
  all_.push_back(buffer);
  if (fill != Fill::kNothing)
    must(cudaMemset(buffer, fill == Fill::kNan ? 0xff : 0, static_cast<std::size_t>(count)), "cudaMemset");
  return buffer;
}

void* Buffers::copied_bytes(const void* from, std::int64_t count) {
  void* const buffer = bytes(count);
  must(cudaMemcpy(buffer, from, static_cast<std::size_t>(count), cudaMemcpyHostToDevice), "cudaMemcpy");
  return buffer;
}

void* Buffers::tensor(kernels::Storage storage, std::int64_t n, Fill fill) {
  const std::int64_t element = kernels::bytes_of(storage);
  return static_cast<char*>(bytes((n + skip_) * element, fill)) + skip_ * element;
}

void* Buffers::random(kernels::Storage storage, std::int64_t n, float scale) {
  return kernels::with_storage(storage, [&](auto type) -> void* {
    std::vector<decltype(type)> numbers(static_cast<std::size_t>(n + skip_));
    for (auto& number : numbers) {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      const float uniform = static_cast<float>(random_ >> 40) * 0x1p-24f - 0.5f;  // variance 1/12
      kernels::store(number, uniform * 3.4641016f * scale);
    }
    return copied(numbers) + skip_;
  });
}

std::string named(std::string_view kernel, kernels::Storage storage, std::initializer_list<std::int64_t> sizes,
                  std::int64_t skip) {
  constexpr const char* kNames[] = {" fp32", " bf16", " fp16"};
  std::string name = std::string(kernel) + kNames[static_cast<int>(storage)];
  for (const std::int64_t& size : sizes) name += (&size == sizes.begin() ? " " : " x ") + std::to_string(size);
  return skip == 0 ? name : name + ", unaligned";
}

void KernelDriver::run(const std::string& name, int queued) {
  const cudaError_t done = cudaDeviceSynchronize();
  if (queued != 0) fail(name, cudaGetErrorString(static_cast<cudaError_t>(queued)));
  must(done, name.c_str());
  std::printf("%s\n", name.c_str());
}

void KernelDriver::expect_finite(const std::string& name, kernels::Storage storage, const void* numbers,
                                 std::int64_t n) {
  kernels::with_storage(storage, [&](auto type) {
    std::vector<decltype(type)> here(static_cast<std::size_t>(n));
    must(cudaMemcpy(here.data(), numbers, here.size() * sizeof(type), cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (!std::all_of(here.begin(), here.end(), [](auto number) { return std::isfinite(kernels::load(number)); }))
      fail(name, "not all was written");
  });
}

void KernelDriver::fail(const std::string& name, std::string_view why) {
  std::printf("%s: %.*s\n", name.c_str(), static_cast<int>(why.size()), why.data());
  ++failures_;
}

}  // namespace headroom::tests

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no CUDA device: skipped");
    return 77;
  }
  headroom::tests::KernelDriver driver;
  for (const headroom::tests::DrivenKernel* kernel : headroom::tests::driven_kernels())
    if (argc < 2 || kernel->id == argv[1]) kernel->drive(driver);
  std::printf("%d failures\n", driver.failures());
  return driver.failures() == 0 ? 0 : 1;
}
