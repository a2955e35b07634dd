// Records host memory that a run allocates in addition to device memory.
#pragma once

#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/probes/spin_lock.h"
#include "demos/engine/live/probes/storage_table.h"

namespace headroom::live {

// Lives for one run; blocks from before the run are ignored.
class HostProbe {
 public:
  explicit HostProbe(EventSink& sink) : sink_(sink) {}

  void born(const void* block, record::Bytes bytes);
  void died(const void* block);
  record::Bytes live() const;

 private:
  void tell(record::EventKind kind, const LiveStorage& storage);

  EventSink& sink_;
  mutable SpinLock lock_;
  StorageTable storages_;
  record::Bytes live_ = 0;
};

}  // namespace headroom::live
