// The allocator of meta tensors.
#include "demos/engine/live/probes/meta_probe.h"

#include <cstdint>
#include <mutex>
#include <stdexcept>

#include <c10/core/Device.h>

namespace headroom::live {

using record::EventKind;

namespace {

MetaProbe* g_meta_probe = nullptr;  // never destroyed, like CpuProbe

}  // namespace

MetaProbe& MetaProbe::install(EventSink& sink) {
  if (g_meta_probe != nullptr) throw std::logic_error("the meta probe is installed twice");
  g_meta_probe = new MetaProbe(sink);
  constexpr std::uint8_t kAboveLibTorchsOwn = 10;
  c10::SetAllocator(c10::kMeta, g_meta_probe, kAboveLibTorchsOwn);
  return *g_meta_probe;
}

void MetaProbe::start() {
  std::lock_guard guard(lock_);
  for (const LiveStorage& storage : storages_.in_order_of_birth()) {
    sink_.push_existing(event_of(EventKind::kAlloc, target_, storage));
  }
  recording_ = true;
}

void MetaProbe::relabel(const void* context, record::Category category) {
  std::lock_guard guard(lock_);
  LiveStorage* storage = storages_.find(reinterpret_cast<std::uintptr_t>(context));
  if (storage == nullptr || storage->category == category) return;
  storage->category = category;
  if (recording_) sink_.push(event_of(EventKind::kRelabel, target_, *storage));
}

c10::DataPtr MetaProbe::allocate(std::size_t bytes) {
  const c10::Device meta(c10::kMeta);
  if (bytes == 0) return {nullptr, nullptr, &free, meta};
  LiveStorage storage;
  storage.id = sink_.next_id();
  storage.address = static_cast<std::uintptr_t>(storage.id) * 64;  // made up, but aligned like a real block's
  storage.requested = static_cast<record::Bytes>(bytes);
  storage.block = storage.requested;  // not rounded: predictions show requested bytes
  storage.category = EventSink::category_now();
  storage.stream = record::current_tag().stream;
  {
    std::lock_guard guard(lock_);
    storages_.insert(storage);
    live_ += storage.block;
    if (recording_) sink_.push(event_of(EventKind::kAlloc, target_, storage));
  }
  return {nullptr, reinterpret_cast<void*>(storage.address), &free, meta};
}

void MetaProbe::free(void* context) {
  if (context == nullptr) return;
  MetaProbe& probe = *g_meta_probe;
  std::lock_guard guard(probe.lock_);
  const LiveStorage storage = probe.storages_.erase(reinterpret_cast<std::uintptr_t>(context));
  probe.live_ -= storage.block;
  if (probe.recording_ && storage.address != 0) probe.sink_.push(event_of(EventKind::kFree, probe.target_, storage));
}

void MetaProbe::copy_data(void*, const void*, std::size_t) const {}

}  // namespace headroom::live
