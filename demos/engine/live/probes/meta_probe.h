// The planner's allocator of meta tensors: records the storages of a real step without allocating them.
#pragma once

#include <cstddef>

#include <c10/core/Allocator.h>

#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/probes/probe.h"
#include "demos/engine/live/probes/spin_lock.h"
#include "demos/engine/live/probes/storage_table.h"

namespace headroom::live {

// Meta storages have no data. The context of their DataPtr is a made-up address, which relabel() takes like a block's.
class MetaProbe final : public c10::Allocator, public Probe {
 public:
  // Becomes LibTorch's allocator of meta tensors. Once per process; never removed.
  static MetaProbe& install(EventSink& sink);

  // The device that the events name.
  void set_target(record::DeviceKind target) { target_ = target; }

  void start() override;
  void stop() override { recording_ = false; }
  void relabel(const void* context, record::Category category) override;

  record::Bytes live_bytes() const { return live_; }

  c10::DataPtr allocate(std::size_t bytes) override;
  void copy_data(void* destination, const void* source, std::size_t bytes) const override;

 private:
  explicit MetaProbe(EventSink& sink) : sink_(sink) {}

  static void free(void* context);

  EventSink& sink_;
  mutable SpinLock lock_;
  StorageTable storages_;
  record::Bytes live_ = 0;
  record::DeviceKind target_ = record::DeviceKind::kCpu;
  bool recording_ = false;
};

}  // namespace headroom::live
