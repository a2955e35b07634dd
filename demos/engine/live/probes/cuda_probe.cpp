// The CUDA allocator's probe.
#include "demos/engine/live/probes/cuda_probe.h"

#include <algorithm>
#include <stdexcept>

#include <ATen/Context.h>

#include "demos/predict/allocator/caching_allocator.h"

namespace headroom::live {

using cuda_allocator::Trace;
using cuda_allocator::TraceKind;
using record::Bytes;
using record::DeviceKind;
using record::EventKind;

namespace {

CudaProbe* g_cuda_probe = nullptr;  // leaked: the allocator calls it until the process ends

record::MemEvent gpu_event(EventKind kind, const LiveStorage& storage) {
  return event_of(kind, DeviceKind::kGpu, storage);
}

}  // namespace

CudaProbe& CudaProbe::install(EventSink& sink, int device) {
  if (g_cuda_probe != nullptr) {
    if (&g_cuda_probe->sink_ != &sink || g_cuda_probe->device_ != device)
      throw std::logic_error("there is one CUDA probe only");
    return *g_cuda_probe;
  }
  at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);  // hooks attached earlier would never be called
  g_cuda_probe = new CudaProbe(sink, device);
  cuda_allocator::attach_trace_hook([](const Trace& trace) { g_cuda_probe->on_trace(trace); });
  return *g_cuda_probe;
}

void CudaProbe::start() {
  storages_.clear();
  held_.clear();
  first_segment_.reset();
  placements_.clear();
  waiting_ = {};
  unreported_ = 0;
  Bytes reserved = 0;
  Bytes allocated = 0;
  for (const cuda_allocator::Segment& segment : cuda_allocator::segments(device_)) {
    const LiveStorage held{.address = segment.address, .id = sink_.next_id(), .block = segment.size};
    keep_segment(held);
    reserved += segment.size;
    sink_.push_existing(gpu_event(EventKind::kSegmentAlloc, held));
    for (const cuda_allocator::Block& block : segment.blocks) {
      const LiveStorage storage{.address = block.address,
                                .id = sink_.next_id(),
                                .requested = block.requested,
                                .block = block.size,
                                .stream = stream_number(block.stream, block.in_graph_pool)};
      storages_.insert(storage);
      keep_place(storage);
      allocated += block.size;
      record::MemEvent event = gpu_event(EventKind::kAlloc, storage);
      event.allocator_allocated = allocated;
      event.allocator_reserved = reserved;
      sink_.push_existing(event);
    }
  }
  recording_.store(true, std::memory_order_relaxed);
}

void CudaProbe::relabel(const void* data, record::Category category) {
  LiveStorage* storage = storages_.find(reinterpret_cast<std::uintptr_t>(data));
  if (storage == nullptr || storage->category == category) return;
  storage->category = category;
  if (recording_.load(std::memory_order_relaxed)) sink_.push(gpu_event(EventKind::kRelabel, *storage));
}

std::uint8_t CudaProbe::stream_number(const void* stream, bool in_graph_pool) {
  constexpr auto kGraphPool = static_cast<std::uint8_t>(record::Stream::kGraphPool);
  if (in_graph_pool) return kGraphPool;
  auto found = std::find(streams_.begin(), streams_.end(), stream);
  if (found == streams_.end()) found = streams_.insert(streams_.end(), stream);
  return static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(found - streams_.begin(), kGraphPool - 1));
}

void CudaProbe::keep_segment(const LiveStorage& segment) {
  if (!first_segment_) first_segment_ = segment.address;
  held_.take(segment.id, static_cast<Bytes>(segment.address), segment.block);
  placements_.push_back({.storage = segment.id,
                         .segment = segment.id,
                         .offset = static_cast<Bytes>(segment.address) - static_cast<Bytes>(*first_segment_)});
}

void CudaProbe::keep_place(const LiveStorage& block) {
  if (const auto place = held_.find(static_cast<Bytes>(block.address)))
    placements_.push_back({.storage = block.id, .segment = place->segment, .offset = place->offset});
}

void CudaProbe::on_trace(const Trace& trace) {
  if (!recording_.load(std::memory_order_relaxed) || trace.device != device_) return;
  switch (trace.kind) {
    case TraceKind::kAlloc:
    case TraceKind::kFreeRequested:
      complete_unreported();
      waiting_ = trace;
      return;
    case TraceKind::kSegmentAlloc:
    case TraceKind::kSegmentFree:
      on_segment(trace);
      return;
    case TraceKind::kOther:
      return;
  }
}

void CudaProbe::on_segment(const Trace& trace) {
  LiveStorage segment{
      .address = trace.address, .block = trace.bytes, .stream = stream_number(trace.stream, trace.in_graph_pool)};
  if (trace.kind == TraceKind::kSegmentAlloc) {
    segment.id = sink_.next_id();
    keep_segment(segment);
    sink_.push(gpu_event(EventKind::kSegmentAlloc, segment));
    return;
  }
  // The freed pages may belong to several segments, each of which may keep other pages.
  for (const auto& part : held_.give_back(static_cast<Bytes>(trace.address), trace.bytes)) {
    segment.id = part.segment;
    segment.block = part.bytes;
    sink_.push(gpu_event(EventKind::kSegmentFree, segment));
  }
}

void CudaProbe::on_block(std::uintptr_t address, Bytes change, Bytes allocated, Bytes reserved, int device) {
  if (device != device_ || waiting_.kind == TraceKind::kOther || waiting_.address != address) return;
  complete(change < 0 ? -change : change, allocated, reserved);
}

void CudaProbe::complete(Bytes block, Bytes allocated, Bytes reserved) {
  const Trace trace = std::exchange(waiting_, Trace{});
  record::MemEvent event;
  if (trace.kind == TraceKind::kAlloc) {
    const LiveStorage storage{.address = trace.address,
                              .id = sink_.next_id(),
                              .requested = trace.bytes,
                              .block = block,
                              .category = EventSink::category_now(),
                              .stream = stream_number(trace.stream, trace.in_graph_pool)};
    storages_.insert(storage);
    keep_place(storage);
    event = gpu_event(EventKind::kAlloc, storage);
  } else {
    event = gpu_event(EventKind::kFree, storages_.erase(trace.address));
  }
  event.allocator_allocated = allocated;
  event.allocator_reserved = reserved;
  sink_.push(event);
}

void CudaProbe::complete_unreported() {
  if (waiting_.kind == TraceKind::kOther) return;
  ++unreported_;
  complete(predict::block_bytes(waiting_.bytes), record::kUnknownBytes, record::kUnknownBytes);
}

void CudaProbe::on_out_of_memory(Bytes asked, Bytes allocated, Bytes reserved, int device) {
  if (device != device_) return;
  const Bytes segment = predict::segment_bytes(asked);
  const bool cap_refused = cap_ != 0 && reserved + segment > cap_;
  sink_.refused(
      {.requested = asked,
       .segment = cap_refused ? 0 : segment,
       .limit = cap_refused ? cap_ : 0,
       .allocated = allocated,
       .reserved = reserved,
       .by_category = recording_.load(std::memory_order_relaxed) ? storages_.by_category() : record::ByCategory{},
       .tag = record::current_tag()},
      DeviceKind::kGpu);
}

}  // namespace headroom::live
