// Clocks of `bench`: device time with a cold L2, CUDA graph replays and host time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "demos/record/rows/measurement.h"

namespace headroom::experiments {

using BenchCall = std::function<void()>;
// Returns one sample in ns.
using BenchSampler = std::function<double()>;

struct BenchTime {
  double median = 0, low = 0, high = 0;  // ns; quantiles 0.5, 0.2, 0.8
  int samples = 0;
};

void set_time(record::Measurement& row, const BenchTime& time);

struct BenchPatience {
  int least = 10;  // samples per sampler
  int most = 100;
  double seconds = 1;  // for all samplers; `least` samples are taken in any case
};

// Takes samples in turns, so that drifting clocks and temperature affect all samplers alike. Stops once every median's
// standard error is below 0.5 %, or when `patience` runs out. Returns nullopt if `stop` is true before a round.
std::optional<std::vector<BenchTime>> time_in_turns(std::span<const BenchSampler> samplers,
                                                    const BenchPatience& patience, const std::function<bool()>& stop);

// Use a clock on the thread that created it. On a GPU that thread gets a separate stream, as graph capture requires.
class BenchClock {
 public:
  explicit BenchClock(at::Device device);
  ~BenchClock();
  BenchClock(const BenchClock&) = delete;
  BenchClock& operator=(const BenchClock&) = delete;

  // GPU time between events before and after `call`. Earlier flushes evict the L2 and keep the device busy, so that it
  // never waits for the launch. Runs `call` twice to warm up.
  BenchSampler cold(const BenchCall& call);
  // Host time from `call` on an idle device until all its work is done.
  BenchSampler wall(const BenchCall& call) const;
  BenchSampler main(const BenchCall& call) { return gpu() ? cold(call) : wall(call); }
  const char* main_timing() const { return gpu() ? "cold" : "wall"; }
  // Mean time of several CUDA graph replays with warm caches; nullopt if the call cannot be captured.
  std::optional<BenchSampler> graph(const BenchCall& call) const;

  bool gpu() const { return device_.is_cuda(); }
  void wait() const;
  // Frees the allocator's cached blocks.
  void release() const;

 private:
  struct Cuda;

  at::Device device_;
  std::unique_ptr<Cuda> cuda_;  // null on the CPU
};

}  // namespace headroom::experiments
