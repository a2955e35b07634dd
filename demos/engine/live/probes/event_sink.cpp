// Puts events and marks in one order, on one clock.
#include "demos/engine/live/probes/event_sink.h"

namespace headroom::live {

using record::EventKind;
using record::MemEvent;

void EventSink::open(bool recorded) {
  std::lock_guard guard(lock_);
  accepted_ = 0;
  refusal_.reset();
  start_ = Clock::now();
  open_.store(recorded, std::memory_order_relaxed);
}

void EventSink::push(MemEvent event) noexcept {
  if (!is_open()) return;
  const record::Tag tag = record::current_tag();
  event.phase = tag.phase;
  event.layer = tag.layer;
  event.micro_batch = tag.micro_batch;
  event.op = tag.op;
  if (event.kind == EventKind::kAlloc) event.category = tag.category;
  std::lock_guard guard(lock_);
  event.time = now();  // inside the lock, so that times never decrease
  push_locked(event);
}

void EventSink::push_existing(MemEvent event) noexcept {
  if (!is_open()) return;
  std::lock_guard guard(lock_);
  event.time = now();
  push_locked(event);
}

record::Mark EventSink::mark(const record::Tag& tag, std::int32_t step) {
  record::Mark mark;
  mark.step = step;
  mark.phase = tag.phase;
  mark.layer = tag.layer;
  mark.micro_batch = tag.micro_batch;
  std::lock_guard guard(lock_);
  mark.host_time = now();
  mark.event_index = accepted_;
  return mark;
}

void EventSink::refused(const Refused& refusal, record::DeviceKind device) noexcept {
  MemEvent event;
  event.kind = EventKind::kOutOfMemory;
  event.device = device;
  event.requested = refusal.requested;
  event.block = refusal.segment;
  event.allocator_allocated = refusal.allocated;
  if (device == record::DeviceKind::kGpu) event.allocator_reserved = refusal.reserved;
  event.category = refusal.tag.category;
  push(event);
  close();  // the recording ends before unwinding frees tensors
  std::lock_guard guard(lock_);
  if (!refusal_) refusal_ = refusal;
}

std::optional<Refused> EventSink::first_refusal() const {
  std::lock_guard guard(lock_);
  return refusal_;
}

}  // namespace headroom::live
