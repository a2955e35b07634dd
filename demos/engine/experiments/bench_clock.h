// The clocks of `bench`: device time behind a cold cache, replays of a CUDA graph, and the host's own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "demos/record/measurement.h"

namespace headroom::experiments {

using BenchCall = std::function<void()>;
// Takes one sample, in ns.
using BenchSampler = std::function<double()>;

struct BenchTime {
  double median = 0, low = 0, high = 0;  // ns; quantiles 0.5, 0.2, 0.8
  int samples = 0;
};

// As a row of measurements has it.
void set_time(record::Measurement& row, const BenchTime& time);

struct BenchPatience {
  int least = 10;  // samples of each
  int most = 100;
  double seconds = 1;  // for all together; `least` are taken in any case
};

// Samples in turns, so that what changes over time (clocks, temperature) meets all alike; until the standard error of
// every median is below 0.5 %, or patience ends. `stop` is asked between rounds: nothing where it says so.
std::optional<std::vector<BenchTime>> time_in_turns(std::span<const BenchSampler> samplers,
                                                    const BenchPatience& patience, const std::function<bool()>& stop);

// Everything that is timed runs between construction and destruction on the thread that made it; on a GPU on a stream of
// its own, which a graph needs.
class BenchClock {
 public:
  explicit BenchClock(at::Device device);
  ~BenchClock();
  BenchClock(const BenchClock&) = delete;
  BenchClock& operator=(const BenchClock&) = delete;

  // On a GPU, between two events: the L2 holds other data, and the host is so far ahead that the device never waits for
  // a launch. Two calls are made now, to warm up.
  BenchSampler cold(const BenchCall& call);
  // By the host's clock, with nothing queued before and all done after.
  BenchSampler wall(const BenchCall& call) const;
  // The call recorded as a CUDA graph and replayed back to back, caches warm: the mean of some replays. Nothing where it
  // cannot be recorded.
  std::optional<BenchSampler> graph(const BenchCall& call) const;

  bool gpu() const { return device_.is_cuda(); }
  // Waits until the device has done everything.
  void wait() const;
  // Gives what the allocator has cached back to the device.
  void release() const;

 private:
  struct Cuda;

  at::Device device_;
  std::unique_ptr<Cuda> cuda_;  // null on the CPU
};

}  // namespace headroom::experiments
