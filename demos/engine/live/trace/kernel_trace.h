// Traces the device's kernels, copies and memsets, and the calls that launched them, with CUPTI. One session lasts as
// long as the process and begins before the first CUDA call; each run keeps its part.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "demos/record/rows/kernel_span.h"

namespace headroom::live {

struct Cupti;

// A call of CUDA's runtime or driver.
struct TracedCall {
  std::uint64_t tag = 0;
  record::Nanoseconds begin = 0, end = 0;
  record::Bytes bytes = record::kUnknownBytes;
  std::uint32_t correlation = 0;
  std::int32_t step = -1;
  std::uint16_t name = 0;
  bool launches = false;  // true for kernels and graphs
};
// A kernel, copy or memset on the device.
struct TracedActivity {
  record::Nanoseconds begin = 0, end = 0;
  record::Bytes bytes = record::kUnknownBytes;
  std::uint32_t correlation = 0;
  std::uint32_t stream = 0;
  std::uint16_t name = 0;
  record::SpanKind kind = record::SpanKind::kKernel;
};

class KernelTrace {
 public:
  // Loads CUPTI and starts the session, once; never removed. Without CUPTI it traces nothing.
  static KernelTrace& install();

  // Why nothing is traced; empty: no trouble.
  const std::string& trouble() const { return trouble_; }
  // "CUPTI 13.0.85"; empty with trouble.
  const std::string& version() const { return version_; }

  // `now`: the recording's time.
  void begin(record::Nanoseconds now);
  void end();
  void set_step(std::int32_t step) { step_.store(step, std::memory_order_relaxed); }

  // Number of calls kept since collect().
  std::size_t calls() const;
  // `bytes`: what this thread's launches since call `first` must move. Stores them with the first of these launches,
  // unless it has bytes.
  void add_bytes(std::size_t first, record::Bytes bytes);

  // All spans since the last call, by start. The device must be synchronized: spans of running work are lost.
  std::vector<record::KernelSpan> collect();
  // Records lost by CUPTI since the last call.
  std::uint64_t take_dropped();

 private:
  KernelTrace();
  ~KernelTrace() = default;

  std::string start();  // returns trouble()
  void enter(std::uint32_t correlation, std::uint16_t name, bool launches);
  void leave();
  std::uint8_t* give_buffer();
  void take_buffer(std::uint8_t* buffer, std::size_t bytes);
  std::uint16_t kernel_name(const char* mangled);
  std::uint8_t stream_number(std::uint32_t stream);
  record::KernelSpan span_of(const TracedActivity& activity);

  std::unique_ptr<Cupti> cupti_;
  std::string trouble_, version_;
  std::atomic<bool> recording_{false};
  std::atomic<std::int32_t> step_{-1};
  std::atomic<std::uint64_t> dropped_{0};

  mutable std::mutex mutex_;  // guards the members below: CUPTI delivers buffers on its own thread
  record::Nanoseconds origin_ = 0;
  std::vector<TracedCall> calls_;
  std::unordered_map<std::uint32_t, std::size_t> call_of_;  // by correlation
  std::vector<TracedActivity> activities_;
  std::unordered_map<std::string, std::uint16_t> names_;
  std::vector<std::uint32_t> streams_;
  std::vector<std::uint8_t*> buffers_;  // to be reused
};

// "at::native::vectorized_elementwise_kernel<4, …>" for a mangled name: no result type, no parameters, at most 200
// bytes.
std::string readable_kernel_name(const char* mangled);

}  // namespace headroom::live
