// A run, live or stored or predicted: events, marks, counters, metrics and where they come from. Grows by chunks; a
// file is a header and the same chunks, so that a recording that was cut off reads up to its last whole chunk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/kernel_report.h"
#include "demos/record/outcome.h"
#include "demos/record/result.h"
#include "demos/record/row_kinds.h"
#include "demos/record/run_info.h"
#include "demos/record/units.h"

namespace headroom::record {

class Recording {
 public:
  Recording() = default;
  explicit Recording(RunInfo info) : info_(std::move(info)) {}

  const RunInfo& info() const { return info_; }
  // All rows of one kind of row_kinds.h, in the order in which they arrived.
  template <IsRow Row>
  const std::vector<Row>& rows() const {
    return rows_.of<Row>();
  }
  const std::vector<MemEvent>& events() const { return rows<MemEvent>(); }
  const std::vector<Mark>& marks() const { return rows<Mark>(); }
  const std::vector<CounterSample>& counters() const { return rows<CounterSample>(); }
  const std::vector<MetricSample>& metrics() const { return rows<MetricSample>(); }
  const std::vector<KernelSpan>& kernel_spans() const { return rows<KernelSpan>(); }  // of a run that was traced
  const std::vector<Measurement>& measurements() const { return rows<Measurement>(); }
  const std::vector<SweepPoint>& sweep_points() const { return rows<SweepPoint>(); }
  const std::vector<Histogram>& histograms() const { return rows<Histogram>(); }
  // Of the blocks and segments of a GPU run that was recorded since file format 1.5; else none.
  const std::vector<Placement>& placements() const { return rows<Placement>(); }
  // The latest one, of a run that compiles a kernel; else empty.
  const std::optional<KernelReport>& kernel_report() const { return kernel_report_; }
  std::string_view op_name(std::uint16_t op) const;
  // The names by their numbers; that of kNoOperator is empty.
  const std::vector<std::string>& operators() const { return operators_; }
  std::uint64_t dropped_events() const { return dropped_; }
  // Empty while the run goes on, and in a file that was cut off.
  const std::optional<Outcome>& outcome() const { return outcome_; }
  // True where the file ended in the middle of a chunk or before the outcome.
  bool truncated() const { return truncated_; }

  void set_info(RunInfo info) { info_ = std::move(info); }
  void set_source(Source source) { info_.source = source; }
  // Events and marks are kept in order: a time (or a mark's place among the events) before the one ahead of
  // it, as threads may deliver them, is lifted to that one.
  template <AreRows Rows>
  void append(const Rows& rows) {
    keep(std::span<const std::ranges::range_value_t<Rows>>(rows));
  }
  template <IsRow Row>
  void append(const Row& row) {
    keep(std::span<const Row>(&row, 1));
  }
  void set_kernel_report(KernelReport report) { kernel_report_ = std::move(report); }
  // Device times arrive in order, behind their marks: the next marks without one get these. More than there are such
  // marks is a bug.
  void append_device_times(std::span<const Nanoseconds> times);
  // Names for operators first_op, first_op + 1, …
  void append_operators(std::uint16_t first_op, std::span<const std::string> names);
  void add_dropped(std::uint64_t count) { dropped_ += count; }
  void set_outcome(Outcome outcome) { outcome_ = std::move(outcome); }

  // One chunk, as in a file and on the wire. A chunk that is damaged or makes no sense is refused and changes
  // nothing; a kind that is not known is skipped.
  Status append_chunk(std::span<const std::byte> chunk);

  // A run that was live when it was written is `recorded` when it is read.
  static Result<Recording> read(const std::filesystem::path& path);
  // Written beside the target and renamed.
  Status write(const std::filesystem::path& path) const;

 private:
  friend class ChunkReader;

  void keep(std::span<const MemEvent> events);
  void keep(std::span<const Mark> marks);
  template <class Row>
  void keep(std::span<const Row> rows) {
    std::vector<Row>& kept = rows_.of<Row>();
    kept.insert(kept.end(), rows.begin(), rows.end());
  }

  RunInfo info_;
  RowLists rows_;
  std::size_t marks_with_device_time_ = 0;
  std::optional<KernelReport> kernel_report_;
  std::vector<std::string> operators_{""};
  std::uint64_t dropped_ = 0;
  std::optional<Outcome> outcome_;
  bool truncated_ = false;
};

// Encoders: each returns one whole chunk (kind, sizes, checksum, compressed columns), independent of all others. At
// most kMostRowsInAChunk rows at a time; more is a bug.
inline constexpr std::size_t kMostRowsInAChunk = 262'144;
std::vector<std::byte> encode(const RunInfo& info);
std::vector<std::byte> encode(const KernelReport& report);
std::vector<std::byte> encode(const Outcome& outcome);
std::vector<std::byte> encode_device_times(std::span<const Nanoseconds> times);
std::vector<std::byte> encode_operators(std::uint16_t first_op, std::span<const std::string> names);
std::vector<std::byte> encode_dropped(std::uint64_t count);
const RowKinds::Encoders& row_encoders();
// Text rows: 1 MiB at most. A row that could not be read again is a bug.
template <AreRows Rows>
std::vector<std::byte> encode_rows(const Rows& rows) {
  using Row = std::ranges::range_value_t<Rows>;
  return std::get<std::vector<std::byte> (*)(std::span<const Row>)>(row_encoders())(std::span<const Row>(rows));
}
// As many chunks as the kind takes for these rows, one after the other.
template <IsRow Row, class Take>
void encode_chunks(const std::vector<Row>& rows, Take take) {
  for (std::span<const Row> rest(rows); !rest.empty();) {
    const std::size_t count = std::min(rest.size(), row_kind<Row>().per_chunk);
    take(encode_rows(rest.first(count)));
    rest = rest.subspan(count);
  }
}

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
