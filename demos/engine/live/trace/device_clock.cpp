// Times marks on the device.
#include "demos/engine/live/trace/device_clock.h"

#include <chrono>
#include <cmath>
#include <utility>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

namespace headroom::live {

using record::Nanoseconds;

DeviceClock::DeviceClock(std::size_t pool) {
  free_.resize(pool);
  for (cudaEvent_t& event : free_) C10_CUDA_CHECK(cudaEventCreate(&event));
}

DeviceClock::~DeviceClock() {
  // Errors of a lost context do not matter.
  for (cudaEvent_t event : free_) (void)cudaEventDestroy(event);
  for (cudaEvent_t event : pending_) (void)cudaEventDestroy(event);
  if (anchor_ != nullptr) (void)cudaEventDestroy(anchor_);
}

void DeviceClock::restart() {
  std::lock_guard collecting(collecting_);
  std::lock_guard guard(mutex_);
  free_.insert(free_.end(), pending_.begin(), pending_.end());
  pending_.clear();
  if (anchor_ != nullptr) free_.push_back(anchor_);
  anchor_ = nullptr;
  first_ = true;
}

cudaEvent_t DeviceClock::take_event() {
  {
    std::lock_guard guard(mutex_);
    if (!free_.empty()) {
      const cudaEvent_t event = free_.back();
      free_.pop_back();
      return event;
    }
  }
  // The host is ahead by more marks than the pool has events.
  cudaEvent_t event = nullptr;
  C10_CUDA_CHECK(cudaEventCreate(&event));
  return event;
}

void DeviceClock::record(Nanoseconds host_time) {
  const cudaEvent_t event = take_event();
  const auto called = std::chrono::steady_clock::now();
  C10_CUDA_CHECK(cudaEventRecord(event, c10::cuda::getCurrentCUDAStream()));
  // Only this thread writes first_ during a run. The first call may wait for the driver, and the clocks of several
  // ranks would differ by that.
  if (first_) C10_CUDA_CHECK(cudaEventSynchronize(event));
  std::lock_guard guard(mutex_);
  if (std::exchange(first_, false)) origin_ = host_time + (std::chrono::steady_clock::now() - called).count();
  pending_.push_back(event);
}

bool DeviceClock::stream_is_recorded() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(c10::cuda::getCurrentCUDAStream(), &status));
  return status != cudaStreamCaptureStatusNone;
}

void DeviceClock::collect(std::vector<Nanoseconds>& times) {
  std::lock_guard collecting(collecting_);
  while (true) {
    cudaEvent_t event = nullptr;
    Nanoseconds origin = 0;
    {
      std::lock_guard guard(mutex_);
      if (pending_.empty()) return;
      event = pending_.front();
      origin = origin_;
    }
    if (cudaEventQuery(event) != cudaSuccess) {
      (void)cudaGetLastError();  // "not ready" must not reach this thread's next check
      return;
    }
    if (anchor_ == nullptr) {
      anchor_ = event;
      anchor_time_ = origin;
      times.push_back(origin);
    } else {
      float milliseconds = 0;
      if (cudaEventElapsedTime(&milliseconds, anchor_, event) != cudaSuccess) return;
      const Nanoseconds time = anchor_time_ + std::llround(static_cast<double>(milliseconds) * 1e6);
      times.push_back(time);
      // A float of milliseconds has 24 bits, so after 4 s its resolution is 0.24 µs. A later anchor keeps the
      // resolution finer.
      constexpr float kReanchorAfter = 4000;
      if (milliseconds > kReanchorAfter) {
        std::swap(anchor_, event);
        anchor_time_ = time;
      }
      std::lock_guard guard(mutex_);
      pending_.pop_front();
      free_.push_back(event);
      continue;
    }
    std::lock_guard guard(mutex_);
    pending_.pop_front();
  }
}

std::optional<Nanoseconds> DeviceClock::time_of(cudaEvent_t event) {
  std::lock_guard collecting(collecting_);
  float milliseconds = 0;
  if (anchor_ == nullptr || cudaEventElapsedTime(&milliseconds, anchor_, event) != cudaSuccess) {
    (void)cudaGetLastError();
    return std::nullopt;
  }
  return anchor_time_ + std::llround(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace headroom::live
