// Records LibTorch's CUDA caching allocator through two hooks. The trace has the requested bytes, the stream and the
// segments; the report has the block's real size and the allocator's totals. Both are called under the allocator's
// lock, the report right after its trace, and together make one event.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "demos/engine/live/probes/cuda_allocator.h"
#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/probes/probe.h"
#include "demos/engine/live/probes/storage_table.h"
#include "demos/predict/allocator/held_memory.h"

namespace headroom::live {

class CudaProbe final : public cuda_allocator::ReportHook, public Probe {
 public:
  // Initializes CUDA. Later calls return the same probe. Only listening threads report blocks: see
  // cuda_allocator::listen_on_this_thread.
  static CudaProbe& install(EventSink& sink, int device);

  void start() override;
  void stop() override { recording_.store(false, std::memory_order_relaxed); }
  void relabel(const void* data, record::Category category) override;
  std::vector<record::Placement> take_placements() override { return std::exchange(placements_, {}); }

  // Cap in force (0: none), for error reports.
  void set_cap(record::Bytes cap) { cap_ = cap; }
  // Number of blocks from threads that do not listen; their sizes are assumed.
  std::uint64_t unreported() const { return unreported_; }

  void on_block(std::uintptr_t address, record::Bytes change, record::Bytes allocated, record::Bytes reserved,
                int device) override;
  void on_out_of_memory(record::Bytes asked, record::Bytes allocated, record::Bytes reserved, int device) override;

 private:
  CudaProbe(EventSink& sink, int device) : sink_(sink), device_(device) {}

  void on_trace(const cuda_allocator::Trace& trace);
  void on_segment(const cuda_allocator::Trace& trace);
  void complete(record::Bytes block, record::Bytes allocated, record::Bytes reserved);
  void complete_unreported();
  std::uint8_t stream_number(const void* stream, bool in_graph_pool);
  void keep_segment(const LiveStorage& segment);
  void keep_place(const LiveStorage& block);

  EventSink& sink_;
  const int device_;
  std::atomic<bool> recording_{false};
  // Guarded by the allocator's lock; only the worker allocates.
  cuda_allocator::Trace waiting_;  // kOther: none
  StorageTable storages_;
  predict::HeldMemory held_;
  std::optional<std::uintptr_t> first_segment_;
  std::vector<record::Placement> placements_;
  std::vector<const void*> streams_{nullptr};  // by number; 0: the default stream
  record::Bytes cap_ = 0;
  std::uint64_t unreported_ = 0;
};

}  // namespace headroom::live
