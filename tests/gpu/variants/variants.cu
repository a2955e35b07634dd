// Times kernel variants in turns, each job in a process of its own, so that a variant that fails, hangs or breaks the
// device's context costs only its own line. Prints CSV. Exits with 77 where there is no GPU.
//
//   kernel_variants [--repeats N] [--seconds N] [KERNEL …]
#include "tests/gpu/variants/variants.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <csignal>

#include "demos/record/quantile.h"
#include "kernels/common/storage.cuh"

namespace headroom::test {

namespace {

constexpr int kMostVariants = 64;
constexpr int kBroken = 3;  // a process's exit code: the device's context is gone, start another
int repeats = 40;

// Shared with the process that runs the job.
struct Progress {
  int at;  // the variant that runs; −1: none
  bool failed[kMostVariants], checked[kMostVariants];
  double error[kMostVariants];
  char why[kMostVariants][120];
  char name[kMostVariants][64];
  int variants;
  bool done;
};

__device__ std::uint64_t mixed(std::uint64_t z) {  // SplitMix64's finalizer
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

template <typename T>
__global__ void fill_kernel(T* data, std::int64_t n, std::uint64_t seed, float scale) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    std::uint64_t bits = mixed(seed * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(i));
    float sum = -2;
    for (int k = 0; k < 4; ++k, bits >>= 16) sum += static_cast<float>(bits & 0xffff) / 65536.0f;
    kernels::store(data[i], sum * 1.7320508f * scale);  // a sum of four has variance 1/3
  }
}

__device__ float number(float value) { return value; }
__device__ float number(kernels::Bf16 value) { return kernels::load(value); }
__device__ float number(std::uint8_t value) { return value; }

struct Compared {
  double total;    // Σ |b|
  unsigned worst;  // bits of the largest error
};

template <typename T>
__global__ void total_kernel(const T* b, std::int64_t n, Compared* result) {
  double sum = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * blockDim.x)
    if (!isnan(number(b[i])) && !isinf(number(b[i]))) sum += fabsf(number(b[i]));
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(&result->total, sum);
}
template <typename T>
__global__ void worst_kernel(const T* a, const T* b, std::int64_t n, Compared* result) {
  const float mean = static_cast<float>(result->total / static_cast<double>(n));
  float worst = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const float x = number(a[i]), y = number(b[i]);
    if (x == y || (isnan(x) && isnan(y))) continue;
    const float error = fabsf(x - y) / (fabsf(y) + mean);
    worst = fmaxf(worst, isnan(error) ? INFINITY : error);
  }
  if (worst > 0) atomicMax(&result->worst, __float_as_uint(worst));
}

template <typename T>
double compare(const Memory& a, const Memory& b) {
  const std::int64_t n = b.bytes() / static_cast<std::int64_t>(sizeof(T));
  const Memory result(sizeof(Compared));
  result.fill_bytes(0);
  total_kernel<T><<<512, 256>>>(b.as<T>(), n, result.as<Compared>());
  worst_kernel<T><<<512, 256>>>(a.as<T>(), b.as<T>(), n, result.as<Compared>());
  must_end(cudaGetLastError());
  Compared read{};
  must(cudaMemcpy(&read, result.data(), sizeof(read), cudaMemcpyDeviceToHost));
  float worst = 0;
  std::memcpy(&worst, &read.worst, sizeof(worst));
  return worst;
}

// µs of one launch after the L2 was filled with something else.
class Stopwatch {
 public:
  Stopwatch() : flush_(std::int64_t{256} << 20) {
    must(cudaEventCreate(&begin_));
    must(cudaEventCreate(&end_));
  }
  double cold(const std::function<int()>& launch) const {
    must(cudaMemsetAsync(flush_.data(), 0, static_cast<std::size_t>(flush_.bytes())));
    must(cudaEventRecord(begin_));
    must(launch());
    must(cudaEventRecord(end_));
    must(cudaEventSynchronize(end_));
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin_, end_));
    return ms * 1000.0;
  }

 private:
  Memory flush_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

void say(char (&place)[120], const char* why) { std::snprintf(place, sizeof(place), "%s", why); }

// Whether the device still answers; else this process can do no more.
bool device_lives() {
  cudaGetLastError();
  return cudaDeviceSynchronize() == cudaSuccess && cudaGetLastError() == cudaSuccess;
}

}  // namespace

void must(int error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(static_cast<cudaError_t>(error)));
}
void must_end(int queued) {
  must(queued);
  must(cudaDeviceSynchronize());
}

Memory::Memory(std::int64_t bytes) : bytes_(bytes) {
  must(cudaMalloc(&data_, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))));
}
Memory::~Memory() { cudaFree(data_); }
void Memory::fill(kernels::Storage storage, std::uint64_t seed, float scale) const {
  kernels::with_storage(storage, [&](auto type) {
    using T = decltype(type);
    fill_kernel<T><<<1024, 256>>>(as<T>(), bytes_ / static_cast<std::int64_t>(sizeof(T)), seed, scale);
  });
  must_end(cudaGetLastError());
}
void Memory::fill_bytes(int value) const { must(cudaMemset(data_, value, static_cast<std::size_t>(bytes_))); }
void Memory::copy_from(const Memory& other) const {
  must(cudaMemcpy(data_, other.data_, static_cast<std::size_t>(std::min(bytes_, other.bytes_)),
                  cudaMemcpyDeviceToDevice));
}
void Memory::upload(const void* from) const {
  must(cudaMemcpy(data_, from, static_cast<std::size_t>(bytes_), cudaMemcpyHostToDevice));
}

double relative_error(const Memory& a, const Memory& b, Format format) {
  if (format == Format::kFp32) return compare<float>(a, b);
  return format == Format::kBf16 ? compare<kernels::Bf16>(a, b) : compare<std::uint8_t>(a, b);
}

void Measurement::measure(std::int64_t bytes, const std::vector<Variant>& variants) {
  Progress& progress = *static_cast<Progress*>(progress_);
  progress.variants = static_cast<int>(variants.size());
  const auto fails = [&](int i, const char* why) {
    progress.failed[i] = true;
    say(progress.why[i], why);
    if (!device_lives()) std::_Exit(kBroken);
  };
  for (int i = 0; i < progress.variants; ++i) {
    std::snprintf(progress.name[i], sizeof(progress.name[i]), "%s", variants[i].name.c_str());
    std::replace(progress.name[i], std::end(progress.name[i]), ',', ';');  // a comma would end the column
    if (progress.failed[i] || progress.checked[i]) continue;
    progress.at = i;
    try {
      progress.error[i] = variants[i].error();
      must_end(cudaSuccess);
      progress.checked[i] = true;
    } catch (const std::exception& error) {
      fails(i, error.what());
    }
  }
  progress.at = -1;
  // The copies: of as many bytes, and of 256 MiB, both ways counted.
  const Memory from(std::max(bytes / 2, std::int64_t{256} << 20)), to(from.bytes());
  from.fill_bytes(1);
  const auto copy = [&](std::int64_t n) {
    return cudaMemcpyAsync(to.data(), from.data(), static_cast<std::size_t>(n), cudaMemcpyDeviceToDevice);
  };
  const Stopwatch watch;
  const int all = progress.variants;
  std::vector<std::vector<double>> times(static_cast<std::size_t>(all) + 2);
  for (int turn = -3; turn < repeats; ++turn) {
    for (int step = 0; step < all + 2; ++step) {
      const int i = (step + std::max(turn, 0)) % (all + 2);  // who follows whom changes
      if (i < all && progress.failed[i]) continue;
      progress.at = i < all ? i : -1;
      try {
        const double time = i < all ? watch.cold(variants[i].launch)
                                    : watch.cold([&] { return copy(i == all ? bytes / 2 : std::int64_t{256} << 20); });
        if (turn >= 0) times[i].push_back(time);
      } catch (const std::exception& error) {
        if (i >= all) throw;
        fails(i, error.what());
      }
    }
  }
  progress.at = -1;
  const double reference = record::quantiles_of(times[all]).median;
  const auto line = [&](const char* name, const record::Quantiles& q, double part, double error) {
    std::printf("%s,%s,%s,%.2f,%.2f,%.2f,%.1f,%.3g\n", job_.kernel.c_str(), job_.shape.c_str(), name, q.median, q.low,
                q.high, 100 * part, error);
  };
  const record::Quantiles large = record::quantiles_of(times[all + 1]);
  line("copy_same_bytes", record::quantiles_of(times[all]), 1, 0);
  line("copy_256MiB", large,
       static_cast<double>(std::int64_t{512} << 20) / large.median / (static_cast<double>(bytes) / reference), 0);
  for (int i = 0; i < all; ++i) {
    if (progress.failed[i]) continue;
    const record::Quantiles q = record::quantiles_of(times[i]);
    line(progress.name[i], q, reference / q.median, progress.error[i]);
  }
  std::fflush(stdout);
  progress.done = true;
}

namespace {

// In a child: never returns.
[[noreturn]] void run_here(const Job& job, Progress* progress) {
  int code = 0;
  try {
    Measurement measurement(job, progress);
    job.run(measurement);
  } catch (const std::exception& error) {
    if (progress->at < 0 && progress->variants == 0) {
      std::printf("# %s,%s: %s\n", job.kernel.c_str(), job.shape.c_str(), error.what());
      progress->done = true;
    } else {
      code = kBroken;
      if (progress->at < 0) std::printf("# %s,%s: %s\n", job.kernel.c_str(), job.shape.c_str(), error.what());
    }
  }
  std::fflush(stdout);
  std::_Exit(code);
}

// The seconds that a process may take; a hanging kernel goes with it.
void run_apart(const Job& job, double seconds) {
  using Clock = std::chrono::steady_clock;
  auto* const progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED) return;
  for (int attempt = 0; attempt < 8 && !progress->done; ++attempt) {
    progress->at = -1;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) run_here(job, progress);
    if (child < 0) break;
    int status = 0;
    bool late = false;
    const auto begin = Clock::now();
    while (waitpid(child, &status, WNOHANG) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (std::chrono::duration<double>(Clock::now() - begin).count() < seconds) continue;
      late = true;
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    if (progress->done) break;
    if (progress->at < 0) {
      std::printf("# %s,%s: %s outside of a variant\n", job.kernel.c_str(), job.shape.c_str(),
                  late ? "too slow" : "ended");
      if (late || attempt > 2) break;
      continue;
    }
    progress->failed[progress->at] = true;
    if (progress->why[progress->at][0] == 0)
      say(progress->why[progress->at], late ? "too slow or hung" : "ended the process");
  }
  for (int i = 0; i < progress->variants; ++i) {
    if (!progress->failed[i]) continue;
    std::printf("%s,%s,%s,failed: %s,,,,\n", job.kernel.c_str(), job.shape.c_str(), progress->name[i],
                progress->why[i]);
  }
  std::fflush(stdout);
  munmap(progress, sizeof(Progress));
}

// In a process of its own too: CUDA must not start in the one that forks.
bool has_device() {
  const pid_t child = fork();
  if (child == 0) {
    int devices = 0;
    cudaDeviceProp properties{};
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) std::_Exit(1);
    if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
      std::printf("# %s, %d multiprocessors\n", properties.name, properties.multiProcessorCount);
      std::fflush(stdout);
    }
    std::_Exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

}  // namespace

}  // namespace headroom::test

int main(int argc, char** argv) {
  using namespace headroom::test;
  std::vector<std::string_view> wanted;
  double seconds = 150;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--repeats" && i + 1 < argc) {
      repeats = std::clamp(std::atoi(argv[++i]), 1, 1000);
    } else if (argument == "--seconds" && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else {
      wanted.push_back(argument);
    }
  }
  if (!has_device()) {
    std::puts("no CUDA device: skipped");
    return 77;
  }
  const auto begin = std::chrono::steady_clock::now();
  std::puts("kernel,shape,variant,median_us,p20,p80,percent_of_copy,max_rel_err");
  for (const auto& jobs : {loss_jobs(), norm_jobs(), rope_jobs(), adamw_jobs()}) {
    for (const Job& job : jobs) {
      const bool asked = wanted.empty() || std::find(wanted.begin(), wanted.end(), job.kernel) != wanted.end();
      const double used = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (!asked) continue;
      if (used > seconds - 3) {
        std::printf("# %s,%s: left out, %.0f s are used\n", job.kernel.c_str(), job.shape.c_str(), used);
        continue;
      }
      run_apart(job, std::min(20.0, seconds - used));
    }
  }
  std::printf("# %.1f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return 0;
}
