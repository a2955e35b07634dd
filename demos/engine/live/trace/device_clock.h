// When the device reached each mark: a CUDA event on the stream beside every mark, read back once the device has passed
// it.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

#include "demos/record/units.h"

namespace headroom::live {

// record() is the worker's and never waits for the device; collect() is the sampler thread's. Asking a CUDA event
// whether it is done can block when the driver does, so neither the worker nor the thread of the heartbeat asks.
class DeviceClock {
 public:
  // Makes a pool of events on the current device. A step of a 1B model sets about 40 marks.
  explicit DeviceClock(std::size_t pool = 4096);
  ~DeviceClock();
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;

  // A new run: marks that are still pending are forgotten.
  void restart();
  // An event on the current stream for a mark at this host time. The run's first mark sets the origin: there device
  // time and host time are the same.
  void record(record::Nanoseconds host_time);
  // Whether the current stream is being recorded into a CUDA graph: an event would become part of it and show nothing.
  static bool stream_is_recorded();
  // Appends the device times of marks that the device has passed since the last call, in the order of the marks.
  void collect(std::vector<record::Nanoseconds>& times);
  // Marks that the device has not been seen to pass.
  std::size_t pending() const;

 private:
  cudaEvent_t take_event();

  mutable std::mutex mutex_;  // held for a few instructions only: the worker must not wait for a query
  std::vector<cudaEvent_t> free_;
  std::deque<cudaEvent_t> pending_;
  record::Nanoseconds origin_ = 0;
  bool first_ = true;

  std::mutex collecting_;  // one collector at a time
  cudaEvent_t anchor_ = nullptr;
  record::Nanoseconds anchor_time_ = 0;
};

}  // namespace headroom::live
