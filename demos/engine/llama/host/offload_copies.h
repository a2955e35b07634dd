// Copies between device and host beside the device's work.
#pragma once

#include <memory>

#include <ATen/ATen.h>

namespace headroom::llama {

// A point in a lane's work. Where nothing runs beside the host (CPU, meta) it has always been reached.
class CopyDone {
 public:
  // The work that the calling thread gives the device from now on waits for it; the host does not.
  void device_waits() const;
  // The calling thread waits for it.
  void host_waits() const;

 private:
  friend class CopyLane;
  struct Event;
  std::shared_ptr<const Event> event_;  // null: reached
};

// Copies that run one after the other on a separate stream, one lane per direction. On the CPU a copy is made when it
// is asked for, on meta none is made. Both tensors of a copy are contiguous, of one size and type, and the caller holds
// them until it is done. `record_stream` is not used: it frees blocks late, at an unpredictable moment.
class CopyLane {
 public:
  explicit CopyLane(at::Device device);
  ~CopyLane();
  CopyLane(const CopyLane&) = delete;
  CopyLane& operator=(const CopyLane&) = delete;

  // Copies asked for from now on begin after what the calling thread has given the device so far.
  void wait_for_device();
  void copy(const at::Tensor& to, const at::Tensor& from);
  // After all copies so far.
  CopyDone done() const;
  // The host waits for all copies so far. Throws nothing: for taking down.
  void finish() noexcept;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;  // null where there are none
};

}  // namespace headroom::llama
