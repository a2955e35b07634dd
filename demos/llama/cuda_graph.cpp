// Recording and replaying of a step.
#include "demos/llama/cuda_graph.h"

#include <string>

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

namespace headroom::llama {

struct StepGraph::OnCuda {
  explicit OnCuda(at::Device device) : stream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {}

  // Other threads (samplers, watchdogs) may call CUDA meanwhile: only this thread's calls are looked at.
  at::Tensor record(const std::function<at::Tensor()>& step) {
    c10::cuda::CUDACachingAllocator::emptyCache();  // the pool takes the place of what the first steps left
    graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    at::Tensor loss;
    std::string trouble;
    try {
      loss = step();
    } catch (const c10::Error& error) {
      trouble = error.what_without_backtrace();
    }
    try {
      graph.capture_end();
    } catch (const c10::Error& error) {
      if (trouble.empty()) trouble = error.what_without_backtrace();
    }
    TORCH_CHECK(trouble.empty(),
                "This step cannot be recorded as a CUDA graph: ", trouble.substr(0, trouble.find('\n')));
    return loss;
  }

  c10::cuda::CUDAStream stream;
  at::cuda::CUDAGraph graph;
};

StepGraph::StepGraph(at::Device device) : cuda_(device.is_cuda() ? std::make_unique<OnCuda>(device) : nullptr) {
  TORCH_CHECK(!device.is_cpu(), "only a GPU has CUDA graphs");
}

StepGraph::~StepGraph() = default;

void StepGraph::on_stream(const std::function<void()>& work) {
  if (!cuda_) return work();
  const c10::cuda::CUDAStream outer = c10::cuda::getCurrentCUDAStream();
  at::cuda::CUDAEvent begun, done;
  begun.record(outer);
  begun.block(cuda_->stream);
  {
    const c10::cuda::CUDAStreamGuard guard(cuda_->stream);
    work();
  }
  done.record(cuda_->stream);
  done.block(outer);
}

at::Tensor StepGraph::load(const at::Tensor& host, const std::function<at::Tensor()>& upload) {
  on_stream([&] {
    if (input_.defined()) {
      input_.copy_(host, /*non_blocking=*/true);
    } else {
      input_ = upload();
    }
  });
  return input_;
}

at::Tensor StepGraph::run(const std::function<at::Tensor()>& step) {
  const bool recorded = steps_ > kWarmUp;
  on_stream([&] {
    if (steps_ < kWarmUp) {
      loss_ = at::Tensor();
      loss_ = step();
      return;
    }
    if (!recorded) {
      loss_ = at::Tensor();
      loss_ = cuda_ ? cuda_->record(step) : step();
    }
    if (cuda_) cuda_->graph.replay();
  });
  if (!recorded) ++steps_;
  return loss_;
}

record::Bytes StepGraph::pool_bytes() const {
  if (!cuda_ || steps_ <= kWarmUp) return 0;
  namespace allocator = c10::cuda::CUDACachingAllocator;
  record::Bytes sum = 0;
  for (const allocator::SegmentInfo& segment : allocator::snapshot(cuda_->graph.pool(), false).segments) {
    sum += static_cast<record::Bytes>(segment.total_size);
  }
  return sum;
}

}  // namespace headroom::llama
