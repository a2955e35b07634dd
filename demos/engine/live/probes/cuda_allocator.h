// The parts of LibTorch's CUDA caching allocator that the probe and the worker need. Only this interface depends on
// LibTorch's release. Checked against LibTorch 2.11.
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
  record::Bytes bytes = 0;  // requested bytes of a block, or size of a segment
  const void* stream = nullptr;
  bool in_graph_pool = false;
};

// Called for every block and segment, under the allocator's lock for its device: a hook must copy and return, and call
// nothing of LibTorch. Hooks cannot be detached. Attach them after CUDA is initialized; hooks attached earlier are
// silently ignored.
using TraceHook = void (*)(const Trace& trace);
void attach_trace_hook(TraceHook hook);

// Receives every block's real size and the allocator's totals, under the same lock, right after the trace, but only on
// listening threads.
class ReportHook {
 public:
  virtual ~ReportHook() = default;
  virtual void on_block(std::uintptr_t address, record::Bytes change, record::Bytes allocated, record::Bytes reserved,
                        int device) = 0;
  // `asked` is rounded up to the allocator's 512 B.
  virtual void on_out_of_memory(record::Bytes asked, record::Bytes allocated, record::Bytes reserved, int device) = 0;
};
// The calling thread listens until it destroys the result. `hook` must outlive the result.
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
  std::vector<Block> blocks;  // only allocated blocks
};
std::vector<Segment> segments(int device);

struct Stats {
  record::Bytes requested = 0, allocated = 0, reserved = 0;
  record::Bytes peak_requested = 0, peak_allocated = 0, peak_reserved = 0;
};
Stats stats(int device);
void reset_peaks(int device);

// Frees cuBLAS workspaces and every cached segment.
void release_everything();

// Turns expandable segments (pages mapped into one range of addresses) on or off. Call it while nothing is cached.
void use_expandable_segments(bool on);

// Limits the allocator's segments to `cap` bytes until destruction.
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
