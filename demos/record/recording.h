// A live, stored or predicted run: events, marks, counters, metrics and provenance. It grows by chunks, and a file
// has the same chunks, so a truncated file is readable up to its last complete chunk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/file/row_kinds.h"
#include "demos/record/result.h"
#include "demos/record/rows/kernel_report.h"
#include "demos/record/rows/outcome.h"
#include "demos/record/run_info.h"
#include "demos/record/units.h"

namespace headroom::record {

class Recording {
 public:
  Recording() = default;
  explicit Recording(RunInfo info) : info_(std::move(info)) {}

  const RunInfo& info() const { return info_; }
  // In order of arrival.
  template <IsRow Row>
  const std::vector<Row>& rows() const {
    return rows_.of<Row>();
  }
  const std::vector<MemEvent>& events() const { return rows<MemEvent>(); }
  const std::vector<Mark>& marks() const { return rows<Mark>(); }
  const std::vector<CounterSample>& counters() const { return rows<CounterSample>(); }
  const std::vector<MetricSample>& metrics() const { return rows<MetricSample>(); }
  const std::vector<KernelSpan>& kernel_spans() const { return rows<KernelSpan>(); }
  const std::vector<Measurement>& measurements() const { return rows<Measurement>(); }
  const std::vector<SweepPoint>& sweep_points() const { return rows<SweepPoint>(); }
  const std::vector<Histogram>& histograms() const { return rows<Histogram>(); }
  // Blocks and segments of GPU runs since file format 1.5.
  const std::vector<Placement>& placements() const { return rows<Placement>(); }
  // Only runs of several ranks have collectives, since file format 1.6.
  const std::vector<Collective>& collectives() const { return rows<Collective>(); }
  const std::optional<KernelReport>& kernel_report() const { return kernel_report_; }
  std::string_view op_name(std::uint16_t op) const;
  // kNoOperator's name is empty.
  const std::vector<std::string>& operators() const { return operators_; }
  std::uint64_t dropped_events() const { return dropped_; }
  // Empty during a run and in truncated files.
  const std::optional<Outcome>& outcome() const { return outcome_; }
  // True if the file ended within a chunk or before the outcome.
  bool truncated() const { return truncated_; }
  // If this is rank 0 of several, the recordings of the others in order; otherwise empty.
  const std::vector<std::shared_ptr<const Recording>>& other_ranks() const { return other_ranks_; }

  void set_info(RunInfo info) { info_ = std::move(info); }
  void set_source(Source source) { info_.source = source; }
  // Keeps events and marks in order: raises a time (or a mark's place) below its predecessor's to the predecessor's,
  // since threads may deliver late.
  template <AreRows Rows>
  void append(const Rows& rows) {
    keep(std::span<const std::ranges::range_value_t<Rows>>(rows));
  }
  template <IsRow Row>
  void append(const Row& row) {
    keep(std::span<const Row>(&row, 1));
  }
  void set_kernel_report(KernelReport report) { kernel_report_ = std::move(report); }
  // Assigns device times, in order, to the next marks without one. More times than marks is a bug.
  void append_device_times(std::span<const Nanoseconds> times);
  void append_operators(std::uint16_t first_op, std::span<const std::string> names);
  void add_dropped(std::uint64_t count) { dropped_ += count; }
  void set_outcome(Outcome outcome) { outcome_ = std::move(outcome); }
  void set_other_ranks(std::vector<std::shared_ptr<const Recording>> others) { other_ranks_ = std::move(others); }

  // A damaged or invalid chunk changes nothing. Skips unknown kinds and other ranks' chunks.
  Status append_chunk(std::span<const std::byte> chunk);

  // Changes a recording's source from live to recorded. A file of several ranks gives rank 0.
  static Result<Recording> read(const std::filesystem::path& path);
  // Writes a temporary file, with the other ranks, and renames it.
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
  std::vector<std::shared_ptr<const Recording>> other_ranks_;
};

// Writes the ranks of a run, in order, to one file.
Status write_ranks(const std::filesystem::path& path, std::span<const Recording* const> ranks);

// Each function returns a whole chunk, independent of all others, for up to kMostRowsInAChunk rows.
inline constexpr std::size_t kMostRowsInAChunk = 262'144;
std::vector<std::byte> encode(const RunInfo& info);
std::vector<std::byte> encode(const KernelReport& report);
std::vector<std::byte> encode(const Outcome& outcome);
std::vector<std::byte> encode_device_times(std::span<const Nanoseconds> times);
std::vector<std::byte> encode_operators(std::uint16_t first_op, std::span<const std::string> names);
std::vector<std::byte> encode_dropped(std::uint64_t count);
// `rank`: 1 … kMostRanks − 1.
std::vector<std::byte> encode_rank(std::uint16_t rank, std::span<const std::byte> chunk);
const RowKinds::Encoders& row_encoders();
// Text rows: at most 1 MiB. A row that could not be read back is a bug.
template <AreRows Rows>
std::vector<std::byte> encode_rows(const Rows& rows) {
  using Row = std::ranges::range_value_t<Rows>;
  return std::get<std::vector<std::byte> (*)(std::span<const Row>)>(row_encoders())(std::span<const Row>(rows));
}
template <IsRow Row, class Take>
void encode_chunks(const std::vector<Row>& rows, Take take) {
  for (std::span<const Row> rest(rows); !rest.empty();) {
    const std::size_t count = std::min(rest.size(), row_kind<Row>().per_chunk);
    take(encode_rows(rest.first(count)));
    rest = rest.subspan(count);
  }
}
// Calls `take` with all chunks of the recording.
void encode_chunks(const Recording& recording, const std::function<void(std::span<const std::byte>)>& take);

// Writes a recording during the run, to `<path>.partial`; commit() renames it. Without commit() the destructor removes
// the partial file, and an old file stays. A killed program leaves a truncated recording, which the next writer of this
// path replaces.
class RecordingWriter {
 public:
  static Result<RecordingWriter> create(const std::filesystem::path& path);
  // After an error, all later calls fail with the same error.
  Status append(std::span<const std::byte> chunk);
  Status commit();

 private:
  // The destructor removes the file unless it was renamed, then closes it. Closing unlocks it only after its name is
  // free.
  struct Partial {
    std::filesystem::path path;
    int descriptor = -1;
    ~Partial();
  };
  explicit RecordingWriter(std::filesystem::path target) : target_(std::move(target)) {}
  Error fail(const std::string& what, int error_number, std::size_t bytes_wanted);

  std::filesystem::path target_;
  std::unique_ptr<Partial> partial_;  // null: recording has ended
  std::optional<Error> failure_;
};

}  // namespace headroom::record
