// RAII scopes for the current phase, layer, category and operator. The model sets them, the allocator probes read
// them. A thread's tag is one relaxed atomic word, so a probe may read it inside an allocator's lock. Threads without
// a tag (OpenMP workers) borrow the worker thread's.
#pragma once

#include <cstdint>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::record {

inline constexpr std::uint16_t kNoLayer = 0x0fff;  // 12 bits: layers 0 … 4094
inline constexpr std::uint16_t kNoOperator = 0;

// PyTorch's allocator has separate free lists per stream and per CUDA graph pool.
enum class Stream : std::uint8_t {
  kDefault = 0,
  kGraph = 1,        // runs the steps of a CUDA graph
  kGraphPool = 128,  // allocations while a graph is recorded; larger than any stream's number
};
constexpr bool in_graph_pool(std::uint8_t stream) { return stream >= static_cast<std::uint8_t>(Stream::kGraphPool); }

// Packed: phase 4 bits, category 4, layer 12, micro-batch 12, operator 16, stream 8, set 1, marked 1.
struct Tag {
  Phase phase = Phase::kSetup;
  Category category = Category::kOther;
  std::uint16_t layer = kNoLayer;
  std::uint16_t micro_batch = 0;
  std::uint16_t op = kNoOperator;  // index into the operator table
  std::uint8_t stream = 0;         // stream to record for meta tensors, which have none

  std::uint64_t pack() const;
  static Tag unpack(std::uint64_t word);
};

// The thread's own tag, otherwise the worker's.
Tag current_tag();
// Lets other threads borrow this thread's tag. Called once, by the engine's worker.
void become_worker_thread();

// Numbers an operator's name, process-wide; 0 is "". Takes a lock, so keep the result in a static constant. At most
// 65,535 names.
std::uint16_t intern_operator(std::string_view name);
std::string_view operator_name(std::uint16_t op);
std::uint16_t operator_count();  // the highest number; names are 1 … operator_count()

// Sets part of the calling thread's tag until the end of the block. Restores only that part, so marks set inside
// stay. Scopes nest.
class Scope {
 public:
  explicit Scope(Category category);
  explicit Scope(Phase phase);
  explicit Scope(std::uint16_t op);
  Scope(Category category, std::uint16_t op);
  explicit Scope(Stream stream);
  explicit Scope(const Tag& tag);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  std::uint64_t mask_;
  std::uint64_t before_;
};

// Receives marks and relabels: the engine's worker, or none.
class ScopeListener {
 public:
  virtual ~ScopeListener() = default;
  // The calling thread's tag is already updated.
  virtual void on_mark(const Tag& tag, std::int32_t step) = 0;
  // The storage at this address has had this category since its birth.
  virtual void on_relabel(const void* data, Category category) = 0;
  // Host memory used in addition to the device's; the calling thread's tag says what for. An address is freed before
  // it is allocated again.
  virtual void on_host_alloc(const void* /*block*/, Bytes /*bytes*/) {}
  virtual void on_host_free(const void* /*block*/) {}
};
ScopeListener* set_scope_listener(ScopeListener* listener);  // not owned; nullptr: none. Returns the previous one

// Sets phase and layer of the calling thread and notifies the listener. Consecutive marks with the same `step` form a
// step; -1 is outside steps.
void mark(Phase phase, std::uint16_t layer = kNoLayer, std::uint16_t micro_batch = 0);
void mark_step(std::int32_t step);  // begins a step in phase setup; -1 ends it
void relabel(const void* data, Category category);
void host_allocated(const void* block, Bytes bytes);
void host_freed(const void* block);

}  // namespace headroom::record
