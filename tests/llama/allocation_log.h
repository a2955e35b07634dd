// Logs every LibTorch allocation on CPU and meta with its label.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demos/record/scope.h"
#include "demos/record/units.h"

namespace headroom::tests {

struct Allocation {
  enum class Kind : std::uint8_t { kAlloc, kFree, kRelabel };
  Kind kind = Kind::kAlloc;
  std::int64_t storage = 0;  // numbered from the log's start; −1 if older
  record::Bytes bytes = 0;
  record::Tag tag;           // of the thread; a relabel has the new category
  bool in_parallel = false;  // inside a parallel loop
};

std::string to_string(const Allocation& allocation);

enum class LoggedDevice : std::uint8_t { kCpu, kMeta };

// Becomes LibTorch's allocator on both devices, listens to relabels, and turns oneDNN off. Call once per process,
// before the first tensor.
void install_allocation_log();
void start_log(LoggedDevice device);
std::vector<Allocation> stop_log();

// The log as if all threads of a parallel loop ran at once, on any machine: their allocations live until the loop
// ends.
std::vector<Allocation> threads_at_once(const std::vector<Allocation>& log);

// The nth CPU allocation from now on (1: the next) throws c10::OutOfMemoryError, until stop_log().
void refuse_allocation(int nth);

// Live bytes by category at their peak, without older storages.
record::ByCategory peak_by_category(const std::vector<Allocation>& log);
record::Bytes sum(const record::ByCategory& bytes);

// Allocations alive when the loss starts, kept for backward.
std::vector<Allocation> kept(const std::vector<Allocation>& log);
record::Bytes kept_by(const std::vector<Allocation>& log, const std::string& op);

int marks_heard();

}  // namespace headroom::tests
