// Captures and replays a step.
#include "demos/engine/llama/step/cuda_graph.h"

#include <exception>
#include <string>

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include "demos/record/scope.h"

namespace headroom::llama {

struct StepGraph::OnCuda {
  explicit OnCuda(at::Device device) : stream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {}

  // Capture checks only this thread's calls, because other threads (samplers, watchdogs) may call CUDA meanwhile.
  at::Tensor record(const std::function<at::Tensor()>& step) {
    c10::cuda::CUDACachingAllocator::emptyCache();  // makes room for the pool
    graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    at::Tensor loss;
    std::exception_ptr trouble;
    try {
      loss = step();
    } catch (...) {  // the stream must not stay in capture
      trouble = std::current_exception();
    }
    try {
      graph.capture_end();
    } catch (const c10::Error&) {
      if (!trouble) trouble = std::current_exception();
    }
    if (trouble) give_up(trouble);
    return loss;
  }

  // Lack of memory and cancellation are rethrown unchanged.
  [[noreturn]] static void give_up(const std::exception_ptr& trouble) {
    try {
      std::rethrow_exception(trouble);
    } catch (const c10::OutOfMemoryError&) {
      throw;
    } catch (const c10::Error& error) {
      const std::string what = error.what_without_backtrace();
      TORCH_CHECK(false, "This step cannot be recorded as a CUDA graph: ", what.substr(0, what.find('\n')));
    }
  }

  c10::cuda::CUDAStream stream;
  at::cuda::CUDAGraph graph;
};

StepGraph::StepGraph(at::Device device) : cuda_(device.is_cuda() ? std::make_unique<OnCuda>(device) : nullptr) {
  TORCH_CHECK(!device.is_cpu(), "only a GPU has CUDA graphs");
}

StepGraph::~StepGraph() = default;

void StepGraph::on_stream(const std::function<void()>& work) {
  const record::Scope tag(record::Stream::kGraph);
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
      const record::Scope tag(record::Stream::kGraphPool);
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
