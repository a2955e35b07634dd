// Creates CUDA events on demand and reuses them.
#include "demos/engine/llama/ranks/timing_events.h"

#include <c10/cuda/CUDAException.h>

namespace headroom::llama {

void ReturnTimingEvent::operator()(cudaEvent_t event) const noexcept { pool->give_back(event); }

TimingEvents::~TimingEvents() {
  // Errors of a lost context do not matter.
  for (cudaEvent_t event : free_) (void)cudaEventDestroy(event);
}

TimingEvent TimingEvents::record(cudaStream_t stream) {
  TimingEvent event(take(), {shared_from_this()});
  C10_CUDA_CHECK(cudaEventRecord(event.get(), stream));
  return event;
}

cudaEvent_t TimingEvents::take() {
  const std::lock_guard guard(mutex_);
  if (!free_.empty()) {
    const cudaEvent_t event = free_.back();
    free_.pop_back();
    return event;
  }
  cudaEvent_t event = nullptr;
  C10_CUDA_CHECK(cudaEventCreate(&event));
  free_.reserve(++created_);  // so that give_back() never allocates
  return event;
}

void TimingEvents::give_back(cudaEvent_t event) noexcept {
  const std::lock_guard guard(mutex_);
  free_.push_back(event);
}

}  // namespace headroom::llama
