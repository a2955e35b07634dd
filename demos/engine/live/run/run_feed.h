// What the worker says about a run, besides events: handed to the link thread without either waiting for the other.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "demos/protocol/messages.h"
#include "demos/record/recording.h"

namespace headroom::live {

// Everything new since the link last asked. Events are in the sink's ring; a mark's events are in the ring before the
// mark is here.
struct RunNews {
  std::uint64_t run = 0;
  std::optional<record::RunInfo> info;  // the run has begun; once more where more is known of it
  record::RowLists rows;                // of all kinds but events
  std::vector<record::Nanoseconds> device_times;
  std::optional<record::KernelReport> kernel_report;  // the latest
  std::uint64_t dropped_spans = 0;
  std::optional<protocol::Progress> progress;  // the latest
  std::optional<record::Outcome> outcome;      // the run is over; nothing comes after this
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
  // A descriptor that becomes readable when a run has finished.
  int wake_descriptor() const { return wake_; }
  // Also ends what made the descriptor readable.
  RunNews take();
  // The outcome that take() returned has been dealt with, the ring included.
  void finish_taken();
  // No message will be taken any more: finish() returns at once.
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
