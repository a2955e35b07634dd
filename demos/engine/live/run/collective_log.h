// Times of a run's collectives, on the recording's time axis.
#pragma once

#include <vector>

#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/run/run_feed.h"
#include "demos/engine/live/trace/device_clock.h"
#include "demos/engine/llama/ranks/collectives.h"

namespace headroom::live {

// Used by the worker thread.
class CollectiveLog {
 public:
  // `clock`: null without a GPU.
  CollectiveLog(EventSink& sink, RunFeed& feed, DeviceClock* clock) : sink_(sink), feed_(feed), clock_(clock) {}

  void set_step(std::int32_t step) { step_ = step; }
  void add(llama::IssuedCollective issued);
  // Reports collectives that have ended. The device must have passed them.
  void report();

 private:
  struct Pending {
    record::Collective row;
    llama::TimingEvent begin, end;
  };
  EventSink& sink_;
  RunFeed& feed_;
  DeviceClock* clock_;
  std::int32_t step_ = -1;
  std::vector<Pending> pending_;
};

}  // namespace headroom::live
