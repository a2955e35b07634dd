// Rows and texts to chunks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/record/chunk.h"
#include "demos/record/columns.h"
#include "demos/record/recording.h"
#include "demos/record/run_text.h"

namespace headroom::record {
namespace {

template <class Row>
std::vector<std::byte> encode_rows(ChunkKind kind, std::span<const Row> rows) {
  if (rows.size() > kMostRowsInAChunk) throw std::length_error("more than 262,144 rows in a chunk");
  std::vector<Row> copy(rows.begin(), rows.end());  // columns() takes rows that may be filled
  Packer out;
  out.varint(rows.size());
  ColumnWriter writer(out);
  columns(writer, std::span<Row>(copy));
  return seal(kind, out.bytes());
}

std::vector<std::byte> encode_text(ChunkKind kind, const std::string& text) {
  return seal(kind, std::as_bytes(std::span(text)));
}

bool is_amount(std::int64_t value) { return value >= 0 && value <= kMostBytes; }

// What the reader refuses: one such row would cost the whole file.
bool can_be_read(const Measurement& m) {
  const bool in_order = m.low >= 0 && m.low <= m.median && m.median <= m.high && std::isfinite(m.high);
  return in_order && m.flops >= 0 && std::isfinite(m.flops) && is_amount(m.rows) && is_amount(m.width) &&
         is_amount(m.vocab) && is_amount(m.samples) && is_amount(m.bytes) && m.extra_memory <= kMostBytes;
}

bool can_be_read(const SweepPoint& p) {
  const bool in_order = p.tokens_per_second_low >= 0 && p.tokens_per_second_low <= p.tokens_per_second &&
                        p.tokens_per_second <= p.tokens_per_second_high && std::isfinite(p.tokens_per_second_high);
  const bool amounts = std::all_of(p.peak_by_category.begin(), p.peak_by_category.end(), is_amount);
  return in_order && amounts && is_amount(p.peak_allocated) && is_amount(p.peak_requested) &&
         is_amount(p.peak_reserved) && is_amount(p.peak_host) && p.steps >= 0;
}

}  // namespace

std::vector<std::byte> encode_info(const RunInfo& info) { return encode_text(ChunkKind::kInfo, to_json(info)); }

std::vector<std::byte> encode_events(std::span<const MemEvent> events) {
  return encode_rows(ChunkKind::kEvents, events);
}

std::vector<std::byte> encode_marks(std::span<const Mark> marks) { return encode_rows(ChunkKind::kMarks, marks); }

std::vector<std::byte> encode_device_times(std::span<const Nanoseconds> times) {
  return encode_rows(ChunkKind::kDeviceTimes, times);
}

std::vector<std::byte> encode_counters(std::span<const CounterSample> samples) {
  return encode_rows(ChunkKind::kCounters, samples);
}

std::vector<std::byte> encode_metrics(std::span<const MetricSample> samples) {
  return encode_rows(ChunkKind::kMetrics, samples);
}

std::vector<std::byte> encode_kernel_spans(std::span<const KernelSpan> spans) {
  return encode_rows(ChunkKind::kKernelSpans, spans);
}

std::vector<std::byte> encode_measurements(std::span<const Measurement> measurements) {
  for (const Measurement& m : measurements)
    if (!can_be_read(m))
      throw std::invalid_argument(fmt::format(
          "a measurement that cannot be: panel {}, {} {} {} of {} × {}, low {} median {} high {} flops {} bytes {}",
          m.panel, m.kernel, m.variant, m.pass, m.rows, m.width, m.low, m.median, m.high, m.flops, m.bytes));
  return encode_text(ChunkKind::kMeasurements, to_json(measurements));
}

std::vector<std::byte> encode_kernel_report(const KernelReport& report) {
  return encode_text(ChunkKind::kKernelReport, to_json(report));
}

std::vector<std::byte> encode_sweep_points(std::span<const SweepPoint> points) {
  for (const SweepPoint& point : points)
    if (!can_be_read(point))
      throw std::invalid_argument(fmt::format("a point of a sweep that cannot be: {} {}, peak {}, {} tokens/s",
                                              point.series, point.label, point.peak_allocated,
                                              point.tokens_per_second));
  return encode_text(ChunkKind::kSweepPoints, to_json(points));
}

std::vector<std::byte> encode_histograms(std::span<const Histogram> histograms) {
  for (const Histogram& h : histograms)
    if (!can_be(h)) throw std::invalid_argument("a histogram that cannot be: " + h.name);
  return encode_text(ChunkKind::kHistograms, to_json(histograms));
}

std::vector<std::byte> encode_operators(std::uint16_t first_op, std::span<const std::string> names) {
  Packer out;
  out.varint(first_op);
  out.varint(names.size());
  for (const std::string& name : names) {
    out.varint(name.size());
    out.append(std::as_bytes(std::span(name)));
  }
  return seal(ChunkKind::kOperators, out.bytes());
}

std::vector<std::byte> encode_dropped(std::uint64_t count) {
  Packer out;
  out.varint(count);
  return seal(ChunkKind::kDropped, out.bytes());
}

std::vector<std::byte> encode_outcome(const Outcome& outcome) {
  return encode_text(ChunkKind::kOutcome, to_json(outcome));
}

}  // namespace headroom::record
