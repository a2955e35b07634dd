// All row kinds of a recording. Storage, chunks, files, the engine's feed and link follow from this table. A
// row's header defines its fields(); for rows that come by the million, columns.h defines columns() instead.
#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "demos/record/file/chunk.h"
#include "demos/record/rows/collective.h"
#include "demos/record/rows/histogram.h"
#include "demos/record/rows/kernel_span.h"
#include "demos/record/rows/measurement.h"
#include "demos/record/rows/mem_event.h"
#include "demos/record/rows/placement.h"
#include "demos/record/rows/sweep_point.h"

namespace headroom::record {

template <class T>
struct RowKind {
  using Row = T;

  ChunkKind chunk;
  const char* name;         // in a text chunk and in messages
  std::size_t least_bytes;  // least size of a row in columns; 0: text
  std::size_t per_chunk;    // keeps chunks of text near 100 KiB and all others below 1 MiB
  std::size_t most;         // rows per recording, checked before memory is allocated
};

inline constexpr std::size_t kRowsPerChunk = 16'384;  // 1 MiB of events: fits a core's cache

inline constexpr std::tuple kRowKinds{
    RowKind<MemEvent>{ChunkKind::kEvents, "events", 14, kRowsPerChunk, kMaxRows},
    RowKind<Mark>{ChunkKind::kMarks, "marks", 7, kRowsPerChunk, kMaxRows},
    RowKind<CounterSample>{ChunkKind::kCounters, "counters", 3, kRowsPerChunk, kMaxRows},
    RowKind<MetricSample>{ChunkKind::kMetrics, "metrics", 11, kRowsPerChunk, kMaxRows},
    RowKind<KernelSpan>{ChunkKind::kKernelSpans, "kernel_spans", 11, kRowsPerChunk, kMaxRows},
    RowKind<Measurement>{ChunkKind::kMeasurements, "measurements", 0, 256, 100'000},
    RowKind<SweepPoint>{ChunkKind::kSweepPoints, "sweep_points", 0, 64, 10'000},
    RowKind<Histogram>{ChunkKind::kHistograms, "histograms", 0, 8, 10'000},
    RowKind<Placement>{ChunkKind::kPlacements, "placements", 3, kRowsPerChunk, kMaxRows},
    RowKind<Collective>{ChunkKind::kCollectives, "collectives", 12, kRowsPerChunk, kMaxRows},
};

template <class Kinds>
struct OfRowKinds;
template <class... Rows>
struct OfRowKinds<std::tuple<RowKind<Rows>...>> {
  template <class Row>
  static constexpr bool kHas = (std::is_same_v<Row, Rows> || ...);
  static constexpr std::size_t kCount = sizeof...(Rows);
  using Lists = std::tuple<std::vector<Rows>...>;
  using Encoders = std::tuple<std::vector<std::byte> (*)(std::span<const Rows>)...>;
};
using RowKinds = OfRowKinds<std::remove_const_t<decltype(kRowKinds)>>;

template <class T>
concept IsRow = RowKinds::kHas<T>;
template <class T>
concept AreRows = std::ranges::contiguous_range<T> && IsRow<std::ranges::range_value_t<T>>;

template <IsRow Row>
constexpr const RowKind<Row>& row_kind() {
  return std::get<RowKind<Row>>(kRowKinds);
}

// In table order.
template <class Visit>
void for_each_row_kind(Visit visit) {
  std::apply([&](const auto&... kind) { (visit(kind), ...); }, kRowKinds);
}
template <class Kind>
using RowOf = typename std::remove_cvref_t<Kind>::Row;

class RowLists {
 public:
  template <IsRow Row>
  std::vector<Row>& of() {
    return std::get<std::vector<Row>>(lists_);
  }
  template <IsRow Row>
  const std::vector<Row>& of() const {
    return std::get<std::vector<Row>>(lists_);
  }

 private:
  RowKinds::Lists lists_;
};

// The text of a chunk: {"measurements": [{…}, …]}.
template <IsRow Row>
struct RowText {
  std::vector<Row> rows;
};
template <class Io, class Row>
void fields(Io& io, RowText<Row>& text) {
  io.objects(row_kind<Row>().name, text.rows);
}

}  // namespace headroom::record
