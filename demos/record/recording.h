// A run, live or stored or predicted: events, marks, counters, metrics and where they come from. Grows by chunks; a
// file is a header and the same chunks, so that a recording that was cut off reads up to its last whole chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/histogram.h"
#include "demos/record/kernel_report.h"
#include "demos/record/kernel_span.h"
#include "demos/record/measurement.h"
#include "demos/record/mem_event.h"
#include "demos/record/outcome.h"
#include "demos/record/result.h"
#include "demos/record/sweep_point.h"
#include "demos/record/units.h"

namespace headroom::record {

// What a run was: fixed at its start. Provenance holds gpu, driver, cuda, torch, allocator, revision, created, window …
struct RunInfo {
  std::string demo;
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> provenance;
  DeviceKind device = DeviceKind::kCpu;
  Source source = Source::kLive;
  Bytes cap = 0;            // 0: none
  Bytes device_memory = 0;  // 0: not known
};

class Recording {
 public:
  Recording() = default;
  explicit Recording(RunInfo info) : info_(std::move(info)) {}

  const RunInfo& info() const { return info_; }
  const std::vector<MemEvent>& events() const { return events_; }
  const std::vector<Mark>& marks() const { return marks_; }
  const std::vector<CounterSample>& counters() const { return counters_; }
  const std::vector<MetricSample>& metrics() const { return metrics_; }
  // In the order in which they arrived; empty unless the run was traced.
  const std::vector<KernelSpan>& kernel_spans() const { return kernel_spans_; }
  const std::vector<Measurement>& measurements() const { return measurements_; }
  // The latest one, of a run that compiles a kernel; else empty.
  const std::optional<KernelReport>& kernel_report() const { return kernel_report_; }
  // Of a sweep, in the order in which they ran; else empty.
  const std::vector<SweepPoint>& sweep_points() const { return sweep_points_; }
  // In the order in which they arrived; empty unless the run was asked to count.
  const std::vector<Histogram>& histograms() const { return histograms_; }
  std::string_view op_name(std::uint16_t op) const;
  std::uint64_t dropped_events() const { return dropped_; }
  // Empty while the run goes on, and in a file that was cut off.
  const std::optional<Outcome>& outcome() const { return outcome_; }
  // True where the file ended in the middle of a chunk or before the outcome.
  bool truncated() const { return truncated_; }

  void set_info(RunInfo info) { info_ = std::move(info); }
  void set_source(Source source) { info_.source = source; }
  // Events and marks are kept in order: a time (or a mark's place among the events) that lies before the one ahead of
  // it, as threads may deliver them, is lifted to that one.
  void append(std::span<const MemEvent> events);
  void append(std::span<const Mark> marks);
  void append(const CounterSample& sample) { counters_.push_back(sample); }
  void append(const MetricSample& sample) { metrics_.push_back(sample); }
  void append(std::span<const KernelSpan> spans) {
    kernel_spans_.insert(kernel_spans_.end(), spans.begin(), spans.end());
  }
  void append(const Measurement& measurement) { measurements_.push_back(measurement); }
  void append(const SweepPoint& point) { sweep_points_.push_back(point); }
  void append(const Histogram& histogram) { histograms_.push_back(histogram); }
  void set_kernel_report(KernelReport report) { kernel_report_ = std::move(report); }
  // Device times arrive in order, behind their marks: the next marks without one get these. More than there are such
  // marks is a bug.
  void append_device_times(std::span<const Nanoseconds> times);
  // Names for operators first_op, first_op + 1, …
  void append_operators(std::uint16_t first_op, std::span<const std::string> names);
  void add_dropped(std::uint64_t count) { dropped_ += count; }
  void set_outcome(Outcome outcome) { outcome_ = std::move(outcome); }

  // One chunk, as it stands in a file and on the wire. A chunk that is damaged or makes no sense is refused and changes
  // nothing; a kind that is not known is skipped.
  Status append_chunk(std::span<const std::byte> chunk);

  // A run that was live when it was written is `recorded` when it is read.
  static Result<Recording> read(const std::filesystem::path& path);
  // Written beside the target and renamed.
  Status write(const std::filesystem::path& path) const;

 private:
  friend class ChunkReader;

  RunInfo info_;
  std::vector<MemEvent> events_;
  std::vector<Mark> marks_;
  std::size_t marks_with_device_time_ = 0;
  std::vector<CounterSample> counters_;
  std::vector<MetricSample> metrics_;
  std::vector<KernelSpan> kernel_spans_;
  std::vector<Measurement> measurements_;
  std::optional<KernelReport> kernel_report_;
  std::vector<SweepPoint> sweep_points_;
  std::vector<Histogram> histograms_;
  std::vector<std::string> operators_{""};
  std::uint64_t dropped_ = 0;
  std::optional<Outcome> outcome_;
  bool truncated_ = false;
};

// Encoders: each returns one whole chunk (kind, sizes, checksum, compressed columns), independent of all others. At
// most kMostRowsInAChunk rows at a time; more is a bug.
inline constexpr std::size_t kMostRowsInAChunk = 262'144;
std::vector<std::byte> encode_info(const RunInfo& info);
std::vector<std::byte> encode_events(std::span<const MemEvent> events);
std::vector<std::byte> encode_marks(std::span<const Mark> marks);
std::vector<std::byte> encode_device_times(std::span<const Nanoseconds> times);
std::vector<std::byte> encode_counters(std::span<const CounterSample> samples);
std::vector<std::byte> encode_metrics(std::span<const MetricSample> samples);
std::vector<std::byte> encode_kernel_spans(std::span<const KernelSpan> spans);
std::vector<std::byte> encode_measurements(std::span<const Measurement> measurements);  // few: 1 MiB of text at most
std::vector<std::byte> encode_kernel_report(const KernelReport& report);
std::vector<std::byte> encode_sweep_points(std::span<const SweepPoint> points);   // few: 1 MiB of text at most
std::vector<std::byte> encode_histograms(std::span<const Histogram> histograms);  // few: 1 MiB of text at most
std::vector<std::byte> encode_operators(std::uint16_t first_op, std::span<const std::string> names);
std::vector<std::byte> encode_dropped(std::uint64_t count);
std::vector<std::byte> encode_outcome(const Outcome& outcome);

// Writes a recording to disk while the run goes on: chunks go to `<path>.partial`, commit() renames. Without commit()
// (a failure, a full disk) the destructor removes the partial file and the old file, if any, stays as it was. What a
// killed program left is a recording that was cut off; the next one to write to the same path replaces it.
class RecordingWriter {
 public:
  static Result<RecordingWriter> create(const std::filesystem::path& path);
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;
  ~RecordingWriter();

  // After a failure every later append() and commit() fails in the same way.
  Status append(std::span<const std::byte> chunk);
  Status commit();

 private:
  RecordingWriter() = default;
  Error fail(const std::string& what, int error_number, std::size_t bytes_wanted);
  void discard();

  std::filesystem::path target_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
  std::optional<Error> failure_;
};

}  // namespace headroom::record
