#include "demos/engine/experiments/bench_clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "demos/record/quantile.h"

namespace headroom::experiments {

namespace {

using Steady = std::chrono::steady_clock;

constexpr double kAgreement = 0.005;             // largest relative standard error of a median
constexpr std::int64_t kFlushBytes = 256 << 20;  // more than twice the largest L2
constexpr int kMostFlushes = 64;
constexpr int kReplays = 10;

double nanoseconds_since(Steady::time_point begun) {
  return std::chrono::duration<double, std::nano>(Steady::now() - begun).count();
}

BenchTime summed_up(std::vector<double> samples) {
  const record::Quantiles times = record::quantiles_of(std::move(samples));
  return {times.median, times.low, times.high, static_cast<int>(times.samples)};
}

// In a normal distribution the quantiles 0.2 and 0.8 are 1.68 σ apart, and the median's standard error is 1.25 σ / √n.
bool agrees(const BenchTime& time) {
  const double error = 1.25 / 1.68 * (time.high - time.low) / std::sqrt(static_cast<double>(time.samples));
  return error <= kAgreement * time.median;
}

}  // namespace

void set_time(record::Measurement& row, const BenchTime& time) {
  row.median = time.median;
  row.low = time.low;
  row.high = time.high;
  row.samples = time.samples;
}

std::optional<std::vector<BenchTime>> time_in_turns(std::span<const BenchSampler> samplers,
                                                    const BenchPatience& patience, const std::function<bool()>& stop) {
  std::vector<std::vector<double>> samples(samplers.size());
  const auto begun = Steady::now();
  std::vector<BenchTime> times;
  for (int round = 1; round <= patience.most; ++round) {
    if (stop()) return std::nullopt;
    for (std::size_t i = 0; i < samplers.size(); ++i) samples[i].push_back(samplers[i]());
    if (round < patience.least) continue;
    times.clear();
    for (const auto& each : samples) times.push_back(summed_up(each));
    if (std::all_of(times.begin(), times.end(), agrees)) break;
    if (nanoseconds_since(begun) > patience.seconds * 1e9) break;
  }
  return times;
}

struct BenchClock::Cuda {
  explicit Cuda(at::Device device)
      : guard(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())),
        flush(at::empty({kFlushBytes}, at::TensorOptions().device(device).dtype(at::kByte))),
        begin(cudaEventDefault),
        end(cudaEventDefault) {
    for (int i = 0; i < 5; ++i) flush_nanoseconds = between([&] { flush.zero_(); });
  }

  double between(const BenchCall& call) {
    begin.record();
    call();
    end.record();
    end.synchronize();
    return static_cast<double>(begin.elapsed_time(end)) * 1e6;
  }

  double cold(const BenchCall& call, double& host_nanoseconds) {
    const int flushes = 1 + static_cast<int>(std::ceil(1.3 * host_nanoseconds / flush_nanoseconds));
    for (int i = 0; i < std::min(flushes, kMostFlushes); ++i) flush.zero_();
    return between([&] {
      const auto begun = Steady::now();
      call();
      host_nanoseconds = nanoseconds_since(begun);
    });
  }

  c10::cuda::CUDAStreamGuard guard;
  at::Tensor flush;
  at::cuda::CUDAEvent begin, end;
  double flush_nanoseconds = 0;  // time of one flush
};

BenchClock::BenchClock(at::Device device) : device_(device) {
  if (device.is_cuda()) cuda_ = std::make_unique<Cuda>(device);
}
BenchClock::~BenchClock() = default;

BenchSampler BenchClock::cold(const BenchCall& call) {
  const auto host = std::make_shared<double>(0);
  const BenchSampler sample = [this, call, host] { return cuda_->cold(call, *host); };
  for (int i = 0; i < 2; ++i) sample();
  return sample;
}

BenchSampler BenchClock::wall(const BenchCall& call) const {
  return [this, call] {
    wait();
    const auto begun = Steady::now();
    call();
    wait();
    return nanoseconds_since(begun);
  };
}

std::optional<BenchSampler> BenchClock::graph(const BenchCall& call) const {
  const auto graph = std::make_shared<at::cuda::CUDAGraph>();
  graph->capture_begin();
  try {
    call();
    graph->capture_end();
  } catch (const c10::Error&) {
    try {
      graph->capture_end();
    } catch (const c10::Error&) {  // capture still invalid; the outer error suffices
    }
    (void)cudaGetLastError();
    return std::nullopt;
  }
  graph->replay();
  return [this, graph] {
    return cuda_->between([&] {
      for (int i = 0; i < kReplays; ++i) graph->replay();
    }) / kReplays;
  };
}

void BenchClock::wait() const {
  if (gpu()) c10::cuda::device_synchronize();
}

void BenchClock::release() const {
  if (gpu()) c10::cuda::CUDACachingAllocator::emptyCache();
}

}  // namespace headroom::experiments
