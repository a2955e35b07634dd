// A separate thread for questions that only the driver can answer: which marks the device has passed, and what NVML
// counts. A driver that hangs stops this thread; the link's heartbeat goes on and reports it to the app.
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
  // Runs until it is destroyed. Everything given must outlive it.
  Sampler(DeviceClock& clock, nvml::Driver* driver, const EventSink& sink, RunFeed& feed);
  // Takes what has finished until then with it: after a synchronized device, no mark is left without its time.
  ~Sampler();

 private:
  void work(const std::stop_token& stop);
  void collect();
  void count();

  DeviceClock& clock_;
  nvml::Driver* driver_;  // may be null
  const EventSink& sink_;
  RunFeed& feed_;
  std::jthread thread_;  // last: starts when everything else is there
};

}  // namespace headroom::live
