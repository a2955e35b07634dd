// Device memory, random numbers, and timing with a cold L2. Exits with 77 without a GPU.
//
//   kernel_driver [--time] [KERNEL]
#include "tests/gpu/kernel_driver.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "demos/record/quantile.h"
#include "kernels/common/storage.cuh"
#include "kernels/kernel.h"

namespace headroom::tests {

namespace {

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__device__ std::uint64_t mixed(std::uint64_t z) {  // SplitMix64's finalizer
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// A sum of four uniform numbers is close to normal.
template <typename T>
__global__ void fill_kernel(T* data, std::int64_t n, std::uint64_t seed, float scale) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    std::uint64_t bits = mixed(seed * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(i));
    float sum = -2;
    for (int k = 0; k < 4; ++k, bits >>= 16) sum += static_cast<float>(bits & 0xffff) / 65536.0f;
    kernels::store(data[i], sum * 1.7320508f * scale);  // the sum has variance 1/3
  }
}

class Stopwatch {
 public:
  Stopwatch() {
    must(cudaEventCreate(&begin_), "event");
    must(cudaEventCreate(&end_), "event");
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  // µs of one launch, after other data has filled the L2.
  double cold(const std::function<int()>& launch) {
    static DeviceBuffer flush(256 << 20);
    must(cudaMemsetAsync(flush.data(), 0, static_cast<std::size_t>(flush.bytes())), "flush");
    must(cudaEventRecord(begin_), "record");
    must(static_cast<cudaError_t>(launch()), "launch");
    must(cudaEventRecord(end_), "record");
    must(cudaEventSynchronize(end_), "wait");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin_, end_), "elapsed");
    return ms * 1000.0;
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

constexpr int kRepeats = 30;

}  // namespace

DeviceBuffer::DeviceBuffer(std::int64_t bytes) : bytes_(bytes) {
  must(cudaMalloc(&data_, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))), "cudaMalloc");
}
DeviceBuffer::~DeviceBuffer() { cudaFree(data_); }

void DeviceBuffer::fill(kernels::Storage storage, std::uint64_t seed, float scale) {
  kernels::with_storage(storage, [&](auto type) {
    using T = decltype(type);
    fill_kernel<T><<<1024, 256>>>(as<T>(), bytes_ / static_cast<std::int64_t>(sizeof(T)), seed, scale);
  });
  must(cudaGetLastError(), "fill");
}
void DeviceBuffer::poison() { must(cudaMemset(data_, 0xff, static_cast<std::size_t>(bytes_)), "memset"); }
void DeviceBuffer::zero() { must(cudaMemset(data_, 0, static_cast<std::size_t>(bytes_)), "memset"); }

void KernelDriver::run(const std::string& name, const std::function<int()>& launch) {
  const int queued = launch();
  const cudaError_t done = cudaDeviceSynchronize();
  if (queued != 0) fail(name, cudaGetErrorString(static_cast<cudaError_t>(queued)));
  must(done, name.c_str());
  std::printf("%s\n", name.c_str());
}

void KernelDriver::time(const std::string& name, std::int64_t bytes, const std::function<int()>& launch) {
  const DeviceBuffer from(bytes / 2), to(bytes / 2);
  const auto copy = [&] {
    return cudaMemcpyAsync(to.data(), from.data(), static_cast<std::size_t>(bytes / 2), cudaMemcpyDeviceToDevice);
  };
  Stopwatch watch;
  std::vector<double> kernel_times, copy_times;
  for (int i = 0; i < 3; ++i) watch.cold(launch), watch.cold(copy);
  for (int i = 0; i < kRepeats; ++i) {
    kernel_times.push_back(watch.cold(launch));
    copy_times.push_back(watch.cold(copy));
  }
  const record::Quantiles kernel = record::quantiles_of(kernel_times), reference = record::quantiles_of(copy_times);
  std::printf("%-48s %9.1f us [%.1f, %.1f]  %7.1f GB/s  %5.1f %% of copy (%.1f us)\n", name.c_str(), kernel.median,
              kernel.low, kernel.high, static_cast<double>(bytes) / kernel.median / 1000,
              100 * reference.median / kernel.median, reference.median);
}

void KernelDriver::time_flops(const std::string& name, double flops, const std::function<int()>& launch) {
  Stopwatch watch;
  std::vector<double> times;
  for (int i = 0; i < 2; ++i) watch.cold(launch);
  for (int i = 0; i < 10; ++i) times.push_back(watch.cold(launch));
  const record::Quantiles kernel = record::quantiles_of(times);
  std::printf("%-48s %9.1f us [%.1f, %.1f]  %7.1f TFLOP/s\n", name.c_str(), kernel.median, kernel.low, kernel.high,
              flops / kernel.median / 1e6);
}

void KernelDriver::fail(const std::string& name, const std::string& why) {
  std::printf("%s: %s\n", name.c_str(), why.c_str());
  ++failures_;
}

}  // namespace headroom::tests

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no CUDA device: skipped");
    return 77;
  }
  bool timed = false;
  std::string_view only;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--time")
      timed = true;
    else
      only = argument;
  }
  headroom::tests::KernelDriver driver(timed, only);
  const auto kernels = headroom::kernels::kernels();
  const auto driven = headroom::tests::driven_kernels();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string id(kernels[i]->id);
    if (i >= driven.size() || driven[i]->id != id) {
      driver.fail(id, "nothing drives it");
    } else if (driver.wants(id)) {
      driven[i]->drive(driver);
    }
  }
  std::printf("%d failures\n", driver.failures());
  return driver.failures() == 0 ? 0 : 1;
}
