// LibTorch's CUDA caching allocator, as far as the probe and the worker need it. The one place that knows how its
// interface differs between releases. Checked against LibTorch 2.11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "demos/record/units.h"

namespace headroom::live::cuda_allocator {

enum class TraceKind : std::uint8_t { kAlloc, kFreeRequested, kSegmentAlloc, kSegmentFree, kOther };

struct Trace {
  TraceKind kind = TraceKind::kOther;
  int device = 0;
  std::uintptr_t address = 0;
  record::Bytes bytes = 0;  // requested for blocks, whole for segments
  const void* stream = nullptr;
  bool in_graph_pool = false;  // of a CUDA graph
};

// Hears of every block and segment. Called inside the allocator's lock of that device: copy and return, call nothing of
// LibTorch. There is no way to detach. Call after CUDA is initialized; earlier hooks are silently ignored.
using TraceHook = void (*)(const Trace& trace);
void attach_trace_hook(TraceHook hook);

// Hears of every block's real size and of the allocator's totals after it, inside the same lock and right after the
// trace of kind alloc or free-requested; only on threads that listen.
class ReportHook {
 public:
  virtual ~ReportHook() = default;
  virtual void on_block(std::uintptr_t address, record::Bytes change, record::Bytes allocated, record::Bytes reserved,
                        int device) = 0;
  // `asked` is rounded up to the allocator's 512 B.
  virtual void on_out_of_memory(record::Bytes asked, record::Bytes allocated, record::Bytes reserved, int device) = 0;
};
// The calling thread listens until the returned object is destroyed on it. The hook must outlive that.
std::shared_ptr<void> listen_on_this_thread(ReportHook& hook);

struct Block {
  std::uintptr_t address = 0;
  record::Bytes requested = 0;
  record::Bytes size = 0;
  const void* stream = nullptr;
  bool in_graph_pool = false;
};
struct Segment {
  std::uintptr_t address = 0;
  record::Bytes size = 0;
  std::vector<Block> blocks;  // those that are handed out
};
std::vector<Segment> segments(int device);

struct Stats {
  record::Bytes requested = 0, allocated = 0, reserved = 0;
  record::Bytes peak_requested = 0, peak_allocated = 0, peak_reserved = 0;
};
Stats stats(int device);
void reset_peaks(int device);

// Gives cuBLAS workspaces and every cached segment back to the device.
void release_everything();

// Whether the allocator maps pages in one range of addresses (expandable segments) from here on, instead of asking the
// device for each segment. Call it while nothing is cached.
void use_expandable_segments(bool on);

// The allocator refuses to hold more than `cap` bytes of segments; the old limit comes back with the destructor.
class Cap {
 public:
  Cap(record::Bytes cap, int device);
  ~Cap();
  Cap(const Cap&) = delete;
  Cap& operator=(const Cap&) = delete;

 private:
  int device_;
  double before_;
};

}  // namespace headroom::live::cuda_allocator
