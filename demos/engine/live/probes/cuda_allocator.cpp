// Wraps the CUDA caching allocator.
#include "demos/engine/live/probes/cuda_allocator.h"

#include <algorithm>

#include <ATen/cuda/CUDAContextLight.h>
#include <c10/core/Allocator.h>
#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <cuda_runtime_api.h>
#include <torch/version.h>

// Before 2.11 trace entries carry the stream as cudaStream_t instead of void*, and snapshot() takes one argument fewer.
static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 10, "check this file against the LibTorch release");

namespace headroom::live::cuda_allocator {

namespace allocator = c10::cuda::CUDACachingAllocator;
using record::Bytes;

namespace {

constexpr c10::MempoolId_t kNoPool{0, 0};

TraceKind kind_of(allocator::TraceEntry::Action action) {
  using Entry = allocator::TraceEntry;
  switch (action) {
    case Entry::ALLOC:
      return TraceKind::kAlloc;
    case Entry::FREE_REQUESTED:
      return TraceKind::kFreeRequested;
    case Entry::SEGMENT_ALLOC:
    case Entry::SEGMENT_MAP:
      return TraceKind::kSegmentAlloc;
    case Entry::SEGMENT_FREE:
    case Entry::SEGMENT_UNMAP:
      return TraceKind::kSegmentFree;
    default:
      return TraceKind::kOther;
  }
}

class Reports final : public c10::MemoryReportingInfoBase {
 public:
  explicit Reports(ReportHook& hook) : hook_(hook) {}

  void reportMemoryUsage(void* address, std::int64_t change, std::size_t allocated, std::size_t reserved,
                         c10::Device device) override {
    if (!device.is_cuda()) return;
    hook_.on_block(reinterpret_cast<std::uintptr_t>(address), change, static_cast<Bytes>(allocated),
                   static_cast<Bytes>(reserved), device.index());
  }
  void reportOutOfMemory(std::int64_t asked, std::size_t allocated, std::size_t reserved, c10::Device device) override {
    if (!device.is_cuda()) return;
    hook_.on_out_of_memory(asked, static_cast<Bytes>(allocated), static_cast<Bytes>(reserved), device.index());
  }
  bool memoryProfilingEnabled() const override { return true; }

 private:
  ReportHook& hook_;
};

double total_memory(int device) {
  int current = 0;
  C10_CUDA_CHECK(cudaGetDevice(&current));
  C10_CUDA_CHECK(cudaSetDevice(device));
  std::size_t free = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  C10_CUDA_CHECK(cudaSetDevice(current));
  return static_cast<double>(total);
}

}  // namespace

void attach_trace_hook(TraceHook hook) {
  allocator::attachAllocatorTraceTracker([hook](const allocator::TraceEntry& entry) {
    hook({.kind = kind_of(entry.action_),
          .device = entry.device_,
          .address = entry.addr_,
          .bytes = static_cast<Bytes>(entry.size_),
          .stream = entry.stream_,
          .in_graph_pool = entry.mempool_ != kNoPool});
  });
}

std::shared_ptr<void> listen_on_this_thread(ReportHook& hook) {
  // Uses the profiler's slot in the thread's debug information; no profiler runs here.
  return std::make_shared<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<Reports>(hook));
}

std::vector<Segment> segments(int device) {
  std::vector<Segment> result;
  for (const allocator::SegmentInfo& info : allocator::snapshot(kNoPool, /*include_traces=*/false).segments) {
    if (info.device != device) continue;
    Segment segment{.address = info.address, .size = static_cast<Bytes>(info.total_size), .blocks = {}};
    std::uintptr_t address = info.address;  // blocks of a segment are contiguous
    for (const allocator::BlockInfo& block : info.blocks) {
      if (block.allocated) {
        segment.blocks.push_back({.address = address,
                                  .requested = static_cast<Bytes>(block.requested_size),
                                  .size = static_cast<Bytes>(block.size),
                                  .stream = info.stream,
                                  .in_graph_pool = info.owner_private_pool_id != kNoPool});
      }
      address += block.size;
    }
    result.push_back(std::move(segment));
  }
  return result;
}

Stats stats(int device) {
  constexpr std::size_t kAllPools = 0;
  const allocator::DeviceStats all = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
  return {.requested = all.requested_bytes[kAllPools].current,
          .allocated = all.allocated_bytes[kAllPools].current,
          .reserved = all.reserved_bytes[kAllPools].current,
          .peak_requested = all.requested_bytes[kAllPools].peak,
          .peak_allocated = all.allocated_bytes[kAllPools].peak,
          .peak_reserved = all.reserved_bytes[kAllPools].peak};
}

void reset_peaks(int device) { allocator::resetPeakStats(static_cast<c10::DeviceIndex>(device)); }

void release_everything() {
  at::cuda::clearCublasWorkspaces();
  allocator::emptyCache();
}

void use_expandable_segments(bool on) {
  c10::CachingAllocator::setAllocatorSettings(on ? "expandable_segments:True" : "expandable_segments:False");
}

Cap::Cap(Bytes cap, int device)
    : device_(device), before_(allocator::getMemoryFraction(static_cast<c10::DeviceIndex>(device))) {
  // Adds half a byte, since the allocator multiplies the fraction by the total and truncates.
  const double fraction = (static_cast<double>(cap) + 0.5) / total_memory(device);
  allocator::setMemoryFraction(std::min(fraction, 1.0), static_cast<c10::DeviceIndex>(device));
}

Cap::~Cap() {
  try {
    allocator::setMemoryFraction(before_, static_cast<c10::DeviceIndex>(device_));
  } catch (const c10::Error&) {
    // Happens only if the context is lost; then the engine retires.
  }
}

}  // namespace headroom::live::cuda_allocator
