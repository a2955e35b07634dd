// Turns host memory into events.
#include "demos/engine/live/probes/host_probe.h"

#include <cstdint>
#include <mutex>

namespace headroom::live {

using record::EventKind;

void HostProbe::tell(EventKind kind, const LiveStorage& storage) {
  record::MemEvent event = event_of(kind, record::DeviceKind::kHost, storage);
  event.allocator_allocated = live_;
  sink_.push(event);
}

void HostProbe::born(const void* block, record::Bytes bytes) {
  const LiveStorage storage{.address = reinterpret_cast<std::uintptr_t>(block),
                            .id = sink_.next_id(),
                            .requested = bytes,
                            .block = bytes,
                            .category = EventSink::category_now()};
  const std::lock_guard guard(lock_);
  storages_.insert(storage);
  live_ += bytes;
  tell(EventKind::kAlloc, storage);
}

record::Bytes HostProbe::live() const {
  const std::lock_guard guard(lock_);
  return live_;
}

void HostProbe::died(const void* block) {
  const std::lock_guard guard(lock_);
  const LiveStorage storage = storages_.erase(reinterpret_cast<std::uintptr_t>(block));
  if (storage.address == 0) return;  // allocated before the run
  live_ -= storage.block;
  tell(EventKind::kFree, storage);
}

}  // namespace headroom::live
