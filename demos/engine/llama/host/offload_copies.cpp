// Copies on CUDA streams, or by the host.
#include "demos/engine/llama/host/offload_copies.h"

#include <cstring>
#include <utility>

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace headroom::llama {

struct CopyDone::Event {
  // A thread that waits sleeps, since another thread may need its core.
  at::cuda::CUDAEvent event{cudaEventDisableTiming | cudaEventBlockingSync};
};

CopyDone::CopyDone(c10::Stream stream) {
  auto event = std::make_shared<Event>();
  event->event.record(c10::cuda::CUDAStream(stream));
  event_ = std::move(event);
}

void CopyDone::device_waits() const {
  if (event_) const_cast<Event&>(*event_).event.block(c10::cuda::getCurrentCUDAStream());
}

void CopyDone::host_waits() const {
  if (event_) event_->event.synchronize();
}

struct CopyLane::Stream {
  c10::cuda::CUDAStream stream;
};

CopyLane::CopyLane(at::Device device)
    : stream_(device.is_cuda()
                  ? std::make_unique<Stream>(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index()))
                  : nullptr) {}
CopyLane::~CopyLane() = default;

void CopyLane::wait_for_device() {
  if (!stream_) return;
  at::cuda::CUDAEvent now(cudaEventDisableTiming);
  now.record(c10::cuda::getCurrentCUDAStream(stream_->stream.device_index()));
  now.block(stream_->stream);
}

void CopyLane::copy(const at::Tensor& to, const at::Tensor& from) {
  TORCH_CHECK(to.is_contiguous() && from.is_contiguous() && to.nbytes() == from.nbytes() &&
                  to.scalar_type() == from.scalar_type(),
              "a copy between device and host takes two contiguous tensors of one size and type");
  if (to.is_meta()) return;
  if (!stream_) {
    std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes());
    return;
  }
  C10_CUDA_CHECK(cudaMemcpyAsync(to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes(), cudaMemcpyDefault,
                                 stream_->stream.stream()));
}

CopyDone CopyLane::done() const { return stream_ ? CopyDone(stream_->stream.unwrap()) : CopyDone(); }

void CopyLane::finish() noexcept {
  if (!stream_) return;
  if (cudaStreamSynchronize(stream_->stream.stream()) != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace headroom::llama
