// The CPU allocator's probe.
#include "demos/engine/live/probes/cpu_probe.h"

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>

#include "demos/engine/llama/model/cpu_operators.h"

namespace headroom::live {

using record::Bytes;
using record::DeviceKind;
using record::EventKind;

namespace {

// Never destroyed: static tensors are freed after everything else.
CpuProbe* g_cpu_probe = nullptr;

record::MemEvent cpu_event(EventKind kind, const LiveStorage& storage, Bytes allocated) {
  record::MemEvent event = event_of(kind, DeviceKind::kCpu, storage);
  event.allocator_allocated = allocated;
  return event;
}

}  // namespace

CpuProbe& CpuProbe::install(EventSink& sink) {
  if (g_cpu_probe != nullptr) throw std::logic_error("the CPU probe is installed twice");
  g_cpu_probe = new CpuProbe(sink);
  // Requests 2 MiB pages; PyTorch reads this at its first allocation. Big tensors always get new memory, and with 4 KiB
  // pages most of an operator's time goes to page faults (RMSNorm over 64 MiB: 41 ms instead of 8.5). The system's
  // setting `never` overrides the switch.
  setenv("THP_MEM_ALLOC_ENABLE", "1", /*overwrite=*/0);
  llama::turn_off_onednn();
  constexpr std::uint8_t kAboveLibTorchsOwn = 10;
  c10::SetCPUAllocator(g_cpu_probe, kAboveLibTorchsOwn);
  return *g_cpu_probe;
}

void CpuProbe::start() {
  std::lock_guard guard(lock_);
  Bytes allocated = 0;
  for (const LiveStorage& storage : storages_.in_order_of_birth()) {
    allocated += storage.block;
    sink_.push_existing(cpu_event(EventKind::kAlloc, storage, allocated));
  }
  recording_ = true;
}

void CpuProbe::stop() {
  std::lock_guard guard(lock_);
  recording_ = false;
}

void CpuProbe::relabel(const void* data, record::Category category) {
  std::lock_guard guard(lock_);
  LiveStorage* storage = storages_.find(reinterpret_cast<std::uintptr_t>(data));
  if (storage == nullptr || storage->category == category) return;
  storage->category = category;
  if (recording_) sink_.push(cpu_event(EventKind::kRelabel, *storage, record::kUnknownBytes));
}

void CpuProbe::set_limits(Bytes cap, Bytes machine) {
  std::lock_guard guard(lock_);
  cap_ = cap;
  machine_ = machine;
}

Bytes CpuProbe::live_bytes() const {
  std::lock_guard guard(lock_);
  return live_;
}

Bytes CpuProbe::peak_bytes() const {
  std::lock_guard guard(lock_);
  return peak_;
}

void CpuProbe::reset_peak() {
  std::lock_guard guard(lock_);
  peak_ = live_;
}

void CpuProbe::set_aside(Bytes bytes) {
  std::unique_lock guard(lock_);
  const auto fits = [&](Bytes limit) { return limit == 0 || (bytes <= limit && taken_ <= limit - bytes); };
  const bool capped = !fits(cap_);
  if (!capped && fits(machine_)) {
    taken_ += bytes;
    return;
  }
  const Bytes limit = capped ? cap_ : machine_;
  const Bytes live = live_;
  sink_.refused({.requested = bytes,
                 .segment = capped ? 0 : bytes,
                 .limit = limit,
                 .allocated = live,
                 .by_category = storages_.by_category(),
                 .tag = record::current_tag()},
                DeviceKind::kCpu);
  guard.unlock();
  C10_THROW_ERROR(OutOfMemoryError, c10::str("CPU memory: tried to allocate ", bytes, " bytes with ", live, " of ",
                                             limit, " bytes in use."));
}

void CpuProbe::born(void* data, Bytes bytes) noexcept {
  LiveStorage storage{.address = reinterpret_cast<std::uintptr_t>(data),
                      .id = sink_.next_id(),
                      .requested = bytes,
                      .block = bytes,
                      .category = EventSink::category_now()};
  std::lock_guard guard(lock_);
  storages_.insert(storage);
  live_ += bytes;
  if (live_ > peak_) peak_ = live_;
  if (recording_) sink_.push(cpu_event(EventKind::kAlloc, storage, live_));
}

void CpuProbe::died(void* data) noexcept {
  std::lock_guard guard(lock_);
  const LiveStorage storage = storages_.erase(reinterpret_cast<std::uintptr_t>(data));
  live_ -= storage.block;
  taken_ -= storage.block;
  if (recording_ && storage.address != 0) sink_.push(cpu_event(EventKind::kFree, storage, live_));
}

// The block's address is also the deleter's context, so that LibTorch may hand out raw pointers (raw_allocate).
void CpuProbe::free(void* data) {
  if (data == nullptr) return;
  g_cpu_probe->died(data);
  c10::free_cpu(data);
}

c10::DataPtr CpuProbe::allocate(std::size_t bytes) {
  const c10::Device cpu(c10::kCPU);
  if (bytes == 0) return {nullptr, nullptr, &free, cpu};
  const Bytes size = static_cast<Bytes>(bytes);
  set_aside(size);
  void* data = nullptr;
  try {
    data = c10::alloc_cpu(bytes);
  } catch (const c10::Error&) {  // LibTorch throws a plain error if the system has no memory
    data = nullptr;
  }
  if (data == nullptr) {
    {
      std::lock_guard guard(lock_);  // no event may separate the refusal from its totals
      taken_ -= size;
      sink_.refused({.requested = size,
                     .segment = size,
                     .allocated = live_,
                     .by_category = storages_.by_category(),
                     .tag = record::current_tag()},
                    DeviceKind::kCpu);
    }
    C10_THROW_ERROR(OutOfMemoryError, c10::str("The system refused ", size, " bytes of CPU memory."));
  }
  born(data, size);
  return {data, data, &free, cpu};
}

c10::DeleterFnPtr CpuProbe::raw_deleter() const { return &free; }

void CpuProbe::copy_data(void* destination, const void* source, std::size_t bytes) const {
  default_copy_data(destination, source, bytes);
}

}  // namespace headroom::live
