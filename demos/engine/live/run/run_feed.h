// What the worker has to tell of a run, besides events: handed to the link thread without either waiting for the other.
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
  std::optional<record::RunInfo> info;  // the run has begun
  std::vector<record::Mark> marks;
  std::vector<record::Nanoseconds> device_times;
  std::vector<record::CounterSample> counters;
  std::vector<record::MetricSample> metrics;
  std::vector<record::Measurement> measurements;
  std::vector<record::Histogram> histograms;
  std::optional<record::KernelReport> kernel_report;  // the latest
  std::vector<record::KernelSpan> kernel_spans;
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
  void add(const record::Mark& mark);
  void add(const std::vector<record::Nanoseconds>& device_times);
  void add(const record::CounterSample& sample);
  void add(const record::MetricSample& sample);
  void add(const record::Measurement& measurement);
  void add(const record::Histogram& histogram);
  void add(record::KernelReport report);
  void add(const std::vector<record::KernelSpan>& spans, std::uint64_t dropped);
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
