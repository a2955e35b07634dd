// Chunks to rows and texts. Every count is checked before memory is taken for it.
#include "demos/record/chunk_reader.h"

#include <algorithm>

#include "demos/record/columns.h"
#include "demos/record/run_text.h"
#include "demos/record/text.h"

namespace headroom::record {
namespace {

constexpr std::size_t kMostTextBytes = 1U << 20;
constexpr std::size_t kLongestOperator = 1'024;
constexpr std::size_t kMostOperators = 1U << 16;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Whether `count` marks wait for their device time. Looks no further than it must: a live run asks with every chunk.
bool enough_pending(std::span<const Mark> marks, std::size_t count) {
  for (std::size_t i = 0; count > 0 && i < marks.size(); ++i)
    if (marks[i].device_time == kPending) --count;
  return count == 0;
}

}  // namespace

void ChunkReader::keep(const std::vector<CounterSample>& samples) {
  for (const CounterSample& sample : samples) recording_.append(sample);
}

void ChunkReader::keep(const std::vector<MetricSample>& samples) {
  for (const MetricSample& sample : samples) recording_.append(sample);
}

template <class Row>
std::optional<Damage> ChunkReader::take_rows(std::span<const std::byte> content, std::size_t least_bytes,
                                             std::size_t present) {
  Unpacker in(content);
  const std::uint64_t count = in.varint();
  if (count > kMostRowsInAChunk || count > in.left() / least_bytes)
    return Damage{"a chunk holds fewer rows than it says"};
  if (count > kMaxRows - std::min(present, kMaxRows)) return Damage{"it holds more than 33 million rows of one kind"};
  std::vector<Row> rows(count);
  ColumnReader reader(in);
  columns(reader, std::span<Row>(rows));
  if (!in.ok() || in.left() != 0) return Damage{"the columns of a chunk do not end where they should"};
  if (reader.wrong() != nullptr) return Damage{std::string(reader.wrong()) + " is out of range"};
  if constexpr (std::is_same_v<Row, Nanoseconds>)
    if (!enough_pending(std::span(recording_.marks_).subspan(recording_.marks_with_device_time_), rows.size()))
      return Damage{"it has more device times than marks"};
  keep(rows);
  return std::nullopt;
}

std::optional<Damage> ChunkReader::take_operators(std::span<const std::byte> content) {
  Unpacker in(content);
  const std::uint64_t first = in.varint();
  const std::uint64_t count = in.varint();
  if (count > in.left() || first >= kMostOperators || count > kMostOperators - first)
    return Damage{"it has more operators than there can be"};
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t length = in.varint();
    const std::string_view name = as_text(in.take(length));
    if (!in.ok() || length > kLongestOperator || !valid_utf8(name)) return Damage{"the name of an operator is no text"};
    names.emplace_back(name);
  }
  if (!in.ok() || in.left() != 0) return Damage{"a chunk of operators does not end where it should"};
  recording_.append_operators(static_cast<std::uint16_t>(first), names);
  return std::nullopt;
}

std::optional<Damage> ChunkReader::take_dropped(std::span<const std::byte> content) {
  Unpacker in(content);
  const std::uint64_t count = in.varint();
  if (!in.ok() || in.left() != 0 || count > kMostEvents) return Damage{"the count of dropped events is none"};
  recording_.add_dropped(count);
  return std::nullopt;
}

std::optional<Damage> ChunkReader::take(ChunkKind kind, std::span<const std::byte> content) {
  switch (kind) {
    case ChunkKind::kEvents:
      return take_rows<MemEvent>(content, kLeastBytesPerEvent, recording_.events().size());
    case ChunkKind::kMarks:
      return take_rows<Mark>(content, kLeastBytesPerMark, recording_.marks().size());
    case ChunkKind::kDeviceTimes:
      return take_rows<Nanoseconds>(content, kLeastBytesPerTime, 0);
    case ChunkKind::kCounters:
      return take_rows<CounterSample>(content, kLeastBytesPerCounter, recording_.counters().size());
    case ChunkKind::kMetrics:
      return take_rows<MetricSample>(content, kLeastBytesPerMetric, recording_.metrics().size());
    case ChunkKind::kKernelSpans:
      return take_rows<KernelSpan>(content, kLeastBytesPerSpan, recording_.kernel_spans().size());
    case ChunkKind::kOperators:
      return take_operators(content);
    case ChunkKind::kDropped:
      return take_dropped(content);
    case ChunkKind::kInfo: {
      std::optional<RunInfo> info;
      if (content.size() <= kMostTextBytes) info = run_info_from_json(as_text(content));
      if (!info) return Damage{"what it says about the run cannot be read"};
      recording_.set_info(std::move(*info));
      return std::nullopt;
    }
    case ChunkKind::kMeasurements: {
      std::optional<std::vector<Measurement>> measurements;
      if (content.size() <= kMostTextBytes) measurements = measurements_from_json(as_text(content));
      if (!measurements) return Damage{"what it measured cannot be read"};
      if (measurements->size() > kMostMeasurements - std::min(recording_.measurements().size(), kMostMeasurements))
        return Damage{"it holds more than 100,000 measurements"};
      for (const Measurement& measurement : *measurements) recording_.append(measurement);
      return std::nullopt;
    }
    case ChunkKind::kKernelReport: {
      std::optional<KernelReport> report;
      if (content.size() <= kMostTextBytes) report = kernel_report_from_json(as_text(content));
      if (!report) return Damage{"what it says about a kernel cannot be read"};
      recording_.set_kernel_report(std::move(*report));
      return std::nullopt;
    }
    case ChunkKind::kSweepPoints: {
      std::optional<std::vector<SweepPoint>> points;
      if (content.size() <= kMostTextBytes) points = sweep_points_from_json(as_text(content));
      if (!points) return Damage{"what it says about the points of a sweep cannot be read"};
      if (points->size() > kMostSweepPoints - std::min(recording_.sweep_points().size(), kMostSweepPoints))
        return Damage{"it holds more than 10,000 points of a sweep"};
      for (const SweepPoint& point : *points) recording_.append(point);
      return std::nullopt;
    }
    case ChunkKind::kHistograms: {
      std::optional<std::vector<Histogram>> histograms;
      if (content.size() <= kMostTextBytes) histograms = histograms_from_json(as_text(content));
      if (!histograms) return Damage{"what it counted cannot be read"};
      if (histograms->size() > kMostHistograms - std::min(recording_.histograms().size(), kMostHistograms))
        return Damage{"it holds more than 10,000 histograms"};
      for (const Histogram& histogram : *histograms) recording_.append(histogram);
      return std::nullopt;
    }
    case ChunkKind::kOutcome: {
      std::optional<Outcome> outcome;
      if (content.size() <= kMostTextBytes) outcome = outcome_from_json(as_text(content));
      if (!outcome) return Damage{"what it says about the run's end cannot be read"};
      recording_.set_outcome(std::move(*outcome));
      return std::nullopt;
    }
  }
  return std::nullopt;  // a kind that a later version added
}

}  // namespace headroom::record
