// Copies between device and host that overlap with device work.
#pragma once

#include <memory>

#include <ATen/ATen.h>

namespace headroom::llama {

// A point in the work of a stream. On the CPU and on meta it is always reached.
class CopyDone {
 public:
  CopyDone() = default;
  // The end of all work queued on the CUDA stream so far.
  explicit CopyDone(c10::Stream stream);

  // Later device work of the calling thread waits for this point; the host does not.
  void device_waits() const;
  void host_waits() const;

 private:
  struct Event;
  std::shared_ptr<const Event> event_;  // null: reached
};

// Copies in order on a separate stream, one lane per direction. On the CPU copies are synchronous, on meta no-ops. A
// copy's tensors must be contiguous, of the same size and type, and kept until the copy is done. (`record_stream` would
// free blocks unpredictably late.)
class CopyLane {
 public:
  explicit CopyLane(at::Device device);
  ~CopyLane();
  CopyLane(const CopyLane&) = delete;
  CopyLane& operator=(const CopyLane&) = delete;

  // Later copies wait for the calling thread's device work so far.
  void wait_for_device();
  void copy(const at::Tensor& to, const at::Tensor& from);
  CopyDone done() const;
  // The host waits for all copies.
  void finish() noexcept;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace headroom::llama
