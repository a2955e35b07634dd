// LibTorch's CUDA caching allocator under our eyes. Two hooks give half of the story each: the trace knows the bytes
// asked for, the stream and the segments; the report knows the block's real size and the allocator's own totals. Both
// come inside the allocator's lock, the report right after its trace; one event is made of the two.
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
#include "demos/predict/held_memory.h"

namespace headroom::live {

class CudaProbe final : public cuda_allocator::ReportHook, public Probe {
 public:
  // Initializes CUDA and hooks into its allocator, once per process; later calls return the same probe. Never removed.
  // Blocks are only reported by threads that listen: see cuda_allocator::listen_on_this_thread.
  static CudaProbe& install(EventSink& sink, int device);

  void start() override;
  void stop() override { recording_.store(false, std::memory_order_relaxed); }
  void relabel(const void* data, record::Category category) override;
  std::vector<record::Placement> take_placements() override { return std::exchange(placements_, {}); }

  // The cap in force (0: none): says whether it or the device refused.
  void set_cap(record::Bytes cap) { cap_ = cap; }
  // Traces whose report never came: allocations of a thread that does not listen. Their block size was assumed.
  std::uint64_t unreported() const { return unreported_; }

  void on_block(std::uintptr_t address, record::Bytes change, record::Bytes allocated, record::Bytes reserved,
                int device) override;
  void on_out_of_memory(record::Bytes asked, record::Bytes allocated, record::Bytes reserved, int device) override;

 private:
  CudaProbe(EventSink& sink, int device) : sink_(sink), device_(device) {}

  void on_trace(const cuda_allocator::Trace& trace);
  void on_segment(const cuda_allocator::Trace& trace);
  // Makes the event of the trace that waits for its report.
  void complete(record::Bytes block, record::Bytes allocated, record::Bytes reserved);
  void complete_unreported();
  record::MemEvent event_of(record::EventKind kind, const LiveStorage& storage) const;
  std::uint8_t stream_number(const void* stream, bool in_graph_pool);
  void keep_segment(const LiveStorage& segment);
  void keep_place(const LiveStorage& block);

  EventSink& sink_;
  const int device_;
  std::atomic<bool> recording_{false};
  // Guarded by the allocator's lock, and by the worker being the only thread that allocates.
  cuda_allocator::Trace waiting_;  // of kind kOther: none waits
  StorageTable storages_;
  predict::HeldMemory held_;
  std::optional<std::uintptr_t> first_segment_;  // address of the run's first one
  std::vector<record::Placement> placements_;
  std::vector<const void*> streams_{nullptr};  // by number: the default stream, then as they come
  record::Bytes cap_ = 0;
  std::uint64_t unreported_ = 0;
};

}  // namespace headroom::live
