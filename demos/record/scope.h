// RAII marks that say what the code is doing now (phase, layer, category, operator): the model sets them, the allocator
// probes read them. A thread's tag is one atomic word, written and read relaxed, so that a probe may read it inside an
// allocator's lock. Threads that never set a tag (OpenMP workers inside an operator) borrow the worker thread's.
#pragma once

#include <cstdint>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::record {

inline constexpr std::uint16_t kNoLayer = 0x0fff;  // 12 bits: layers 0 … 4094
inline constexpr std::uint16_t kNoOperator = 0;

// Where a request for memory goes on a GPU, as tags and events number it: PyTorch's allocator keeps what is free for each
// stream and for the pool of a CUDA graph separately.
enum class Stream : std::uint8_t {
  kDefault = 0,
  kGraph = 1,        // on which the steps of a CUDA graph run
  kGraphPool = 128,  // what is requested while a graph is recorded; no stream has this number or a higher one
};
constexpr bool in_graph_pool(std::uint8_t stream) { return stream >= static_cast<std::uint8_t>(Stream::kGraphPool); }

// What a thread is doing. Packed: phase 4 bits, category 4, layer 12, micro-batch 12, operator 16, stream 8, set 1,
// marked 1.
struct Tag {
  Phase phase = Phase::kSetup;
  Category category = Category::kOther;
  std::uint16_t layer = kNoLayer;
  std::uint16_t micro_batch = 0;
  std::uint16_t op = kNoOperator;  // index into the operator table, see intern_operator
  std::uint8_t stream = 0;         // on meta, where no stream says it

  std::uint64_t pack() const;
  static Tag unpack(std::uint64_t word);
};

// The calling thread's tag; where the thread has none, the worker's.
Tag current_tag();
// The calling thread becomes the one whose tag others borrow. Called once by the engine's worker.
void become_worker_thread();

// Gives an operator's name a small number, the same for the whole process; 0 is "". Takes a lock: call it once a place
// (`static const auto op = intern_operator("attention.q_proj");`), not once an allocation. At most 65,535 names.
std::uint16_t intern_operator(std::string_view name);
std::string_view operator_name(std::uint16_t op);
std::uint16_t operator_count();  // the highest number given; names are 1 … operator_count()

// Sets part of the calling thread's tag until the end of the block; only that part goes back, so that a mark made
// inside stays. Scopes nest: the last one made is the first to end.
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

// Who listens to marks and relabels in this process: the engine's worker (events, CUDA events), or none.
class ScopeListener {
 public:
  virtual ~ScopeListener() = default;
  // Phase, layer, micro-batch or step changed; the tag of the calling thread already says so.
  virtual void on_mark(const Tag& tag, std::int32_t step) = 0;
  // The storage at this address is of that category, and has been since its birth.
  virtual void on_relabel(const void* data, Category category) = 0;
  // The run took this memory on the host, beside its device's, or gave it back. The tag of the calling thread says for
  // what; an address is given back before it is taken again.
  virtual void on_host_alloc(const void* /*block*/, Bytes /*bytes*/) {}
  virtual void on_host_free(const void* /*block*/) {}
};
ScopeListener* set_scope_listener(ScopeListener* listener);  // nullptr: none. Not owned. Returns the one before.

// Sets the phase and layer of the calling thread from here on and notifies the listener. A step is the run of marks with
// the same `step`; -1 is outside a step (set-up, between steps).
void mark(Phase phase, std::uint16_t layer = kNoLayer, std::uint16_t micro_batch = 0);
void mark_step(std::int32_t step);  // begins a step (phase setup until the next mark); -1 ends it
void relabel(const void* data, Category category);
void host_allocated(const void* block, Bytes bytes);
void host_freed(const void* block);

}  // namespace headroom::record
