// Passes the worker's reports, apart from events, to the link thread. Only finish() waits.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "demos/protocol/messages.h"
#include "demos/record/recording.h"

namespace headroom::live {

// Everything new since the last take(). Events are in the sink's ring, and arrive there before the marks that follow
// them.
struct RunNews {
  std::uint64_t run = 0;
  std::optional<record::RunInfo> info;  // at the start, and again with more provenance
  record::RowLists rows;                // all kinds except events
  std::vector<record::Nanoseconds> device_times;
  std::optional<record::KernelReport> kernel_report;  // the latest
  std::uint64_t dropped_spans = 0;
  std::optional<protocol::Progress> progress;  // the latest
  std::optional<record::Outcome> outcome;      // set if the run is over
};

class RunFeed {
 public:
  RunFeed();
  ~RunFeed();
  RunFeed(const RunFeed&) = delete;
  RunFeed& operator=(const RunFeed&) = delete;

  // --- the worker's side
  void begin(std::uint64_t run);
  void add(record::RunInfo info);
  template <record::IsRow Row>
  void add(const Row& row) {
    std::lock_guard guard(mutex_);
    news_.rows.of<Row>().push_back(row);
  }
  template <record::AreRows Rows>
  void add(const Rows& rows) {
    std::lock_guard guard(mutex_);
    auto& list = news_.rows.of<std::ranges::range_value_t<Rows>>();
    list.insert(list.end(), rows.begin(), rows.end());
  }
  void add(const std::vector<record::Nanoseconds>& device_times);
  void add(record::KernelReport report);
  void add_dropped(std::uint64_t spans);
  void add(protocol::Progress progress);
  // Ends the run, and waits until the link has taken everything: the next run uses the same ring.
  void finish(record::Outcome outcome);

  // --- the link's side
  // Becomes readable when a run has finished.
  int wake_descriptor() const { return wake_; }
  // Also resets the descriptor.
  RunNews take();
  // Call when take()'s outcome is sent and the ring is drained.
  void finish_taken();
  // Makes finish() return at once.
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable taken_;
  RunNews news_;
  bool finishing_ = false;
  bool closed_ = false;
  int wake_ = -1;
};

}  // namespace headroom::live
