// On a separate thread, asks the driver which marks the device has passed, and NVML for its counters. If the driver
// hangs, the link's heartbeat reports it.
#pragma once

#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/run/run_feed.h"
#include "demos/engine/live/trace/device_clock.h"
#include "demos/nvml/nvml.h"

namespace headroom::live {

class Sampler {
 public:
  // Runs until destruction; all arguments must outlive it.
  Sampler(DeviceClock& clock, nvml::Driver* driver, const EventSink& sink, RunFeed& feed);
  // Collects once more: if the device is synchronized, every mark gets its time.
  ~Sampler();

 private:
  void work(const std::stop_token& stop);
  void collect();
  void count();

  DeviceClock& clock_;
  nvml::Driver* driver_;  // may be null
  const EventSink& sink_;
  RunFeed& feed_;
  std::jthread thread_;  // last: starts when all members exist
};

}  // namespace headroom::live
