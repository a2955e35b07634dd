// A pool of CUDA events that measure time.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

namespace headroom::llama {

class TimingEvents;

struct ReturnTimingEvent {
  std::shared_ptr<TimingEvents> pool;
  void operator()(cudaEvent_t event) const noexcept;
};
// Returns to its pool when destroyed, on any thread.
using TimingEvent = std::unique_ptr<CUevent_st, ReturnTimingEvent>;

// Create it as a shared pointer: events keep their pool.
class TimingEvents : public std::enable_shared_from_this<TimingEvents> {
 public:
  TimingEvents() = default;
  ~TimingEvents();
  TimingEvents(const TimingEvents&) = delete;
  TimingEvents& operator=(const TimingEvents&) = delete;

  // Records an event on the stream, which is of the current device.
  TimingEvent record(cudaStream_t stream);

 private:
  friend struct ReturnTimingEvent;
  cudaEvent_t take();
  void give_back(cudaEvent_t event) noexcept;

  std::mutex mutex_;
  std::vector<cudaEvent_t> free_;
  std::size_t created_ = 0;
};

}  // namespace headroom::llama
