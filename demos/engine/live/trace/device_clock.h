// Device time of each mark, from a CUDA event on the stream; the event is read once the device has passed it.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include <cuda_runtime_api.h>

#include "demos/record/units.h"

namespace headroom::live {

// The worker calls record(), which waits for the device only at the run's first mark. The sampler thread calls
// collect(): querying a CUDA event can block with the driver, which must not stop the worker or the heartbeat.
class DeviceClock {
 public:
  // Creates a pool of events on the current device. A step of a 1B model sets about 40 marks.
  explicit DeviceClock(std::size_t pool = 4096);
  ~DeviceClock();
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;

  // Drops pending marks.
  void restart();
  // Records an event on the current stream. At the run's first mark device time equals the host time at which the
  // device passed it, within microseconds.
  void record(record::Nanoseconds host_time);
  // True while the current stream is captured into a CUDA graph, where events have no time.
  static bool stream_is_recorded();
  // Appends device times of marks that the device has passed since the last call, in order.
  void collect(std::vector<record::Nanoseconds>& times);
  // Device time of another timing event that the device has passed; empty before the first mark.
  std::optional<record::Nanoseconds> time_of(cudaEvent_t event);

 private:
  cudaEvent_t take_event();

  mutable std::mutex mutex_;  // held briefly: the worker must not wait for a query
  std::vector<cudaEvent_t> free_;
  std::deque<cudaEvent_t> pending_;
  record::Nanoseconds origin_ = 0;
  bool first_ = true;

  std::mutex collecting_;  // one collector at a time
  cudaEvent_t anchor_ = nullptr;
  record::Nanoseconds anchor_time_ = 0;
};

}  // namespace headroom::live
