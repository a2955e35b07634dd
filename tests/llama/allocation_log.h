// Logs every allocation that LibTorch makes on CPU and on meta, with the label it was made under.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demos/record/scope.h"
#include "demos/record/units.h"

namespace headroom::test {

struct Allocation {
  enum class Kind : std::uint8_t { kAlloc, kFree, kRelabel };
  Kind kind = Kind::kAlloc;
  std::int64_t storage = 0;  // counted from the log's start; −1: born before it
  record::Bytes bytes = 0;
  record::Tag tag;  // of the thread; a relabel's category is the new one
  bool in_parallel = false;  // in a part of a loop, beside other threads
};

std::string to_string(const Allocation& allocation);

enum class LoggedDevice : std::uint8_t { kCpu, kMeta };

// Becomes LibTorch's allocator on both devices and the listener of relabels, with oneDNN off as in an engine. Before the
// first tensor, once per process.
void install_allocation_log();
void start_log(LoggedDevice device);
// What happened since start_log.
std::vector<Allocation> stop_log();

// As if all threads of a parallel loop were at it at once: what a part takes is there until the loop is over. How many are,
// and when, is otherwise the machine's choice.
std::vector<Allocation> threads_at_once(const std::vector<Allocation>& log);

// The nth allocation on the CPU from now on (1: the next) throws c10::OutOfMemoryError; stop_log() calls that off.
void refuse_allocation(int nth);

// Live bytes by category where their sum was highest. Storages born before the log do not count.
record::ByCategory peak_by_category(const std::vector<Allocation>& log);
record::Bytes sum(const record::ByCategory& bytes);

// What is alive when the loss begins: what forward leaves for backward.
std::vector<Allocation> kept(const std::vector<Allocation>& log);
// Bytes of that which an operator made.
record::Bytes kept_by(const std::vector<Allocation>& log, const std::string& op);

// Marks heard since start_log.
int marks_heard();

}  // namespace headroom::test
