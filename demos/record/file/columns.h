// The columns of each row kind, for both directions: a ColumnWriter packs rows, a ColumnReader fills and checks them. A
// column stores one field of all rows, mostly as a difference from a value that both sides know, such as the previous
// row's; zstd compresses that well.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "demos/record/file/packing.h"
#include "demos/record/rows/collective.h"
#include "demos/record/rows/kernel_span.h"
#include "demos/record/rows/mem_event.h"
#include "demos/record/rows/placement.h"

namespace headroom::record {

inline constexpr std::uint64_t kMostEvents = std::uint64_t{1} << 40;
inline constexpr std::int64_t kLowestStep = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int64_t kHighestStep = std::numeric_limits<std::int32_t>::max() - 1;  // step + 1 fits, too
inline constexpr auto kLowest64 = std::numeric_limits<std::int64_t>::min(),
                      kHighest64 = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint16_t kAny16 = 0xffff;

class ColumnWriter {
 public:
  explicit ColumnWriter(Packer& out) : out_(out) {}

  // A number near `guess`, from `lowest` to `highest`.
  template <class Int>
  void number(const Int& value, std::int64_t guess, std::int64_t, std::int64_t, const char*) {
    out_.varint(zigzag(wrapped_difference(static_cast<std::int64_t>(value), guess)));
  }
  template <class Small>
  void small(const Small& value, Small, const char*) {
    out_.varint(value);
  }
  template <class Enum>
  void choice(const Enum& value, int, const char*) {
    out_.byte(static_cast<std::uint8_t>(value));
  }
  void byte(const std::uint8_t& value) { out_.byte(value); }
  void real(const double& value) { out_.fixed64(std::bit_cast<std::uint64_t>(value)); }

 private:
  Packer& out_;
};

class ColumnReader {
 public:
  explicit ColumnReader(Unpacker& in) : in_(in) {}

  template <class Int>
  void number(Int& value, std::int64_t guess, std::int64_t lowest, std::int64_t highest, const char* what) {
    const std::int64_t read = wrapped_sum(guess, unzigzag(in_.varint()));
    check(read >= lowest && read <= highest, what);
    value = static_cast<Int>(read);
  }
  template <class Small>
  void small(Small& value, Small highest, const char* what) {
    const std::uint64_t read = in_.varint();
    check(read <= highest, what);
    value = static_cast<Small>(read);
  }
  template <class Enum>
  void choice(Enum& value, int count, const char* what) {
    const std::uint8_t read = in_.byte();
    check(read < count, what);
    value = static_cast<Enum>(read < count ? read : 0);
  }
  void byte(std::uint8_t& value) { value = in_.byte(); }
  void real(double& value) { value = std::bit_cast<double>(in_.fixed64()); }

  // The first invalid value, such as "a kind of event"; null if none.
  const char* wrong() const { return wrong_; }

 private:
  void check(bool holds, const char* what) {
    if (!holds && wrong_ == nullptr) wrong_ = what;
  }

  Unpacker& in_;
  const char* wrong_ = nullptr;
};

inline constexpr int kNumEventKinds = 6;
inline constexpr int kNumCounterKinds = 4;
inline constexpr int kNumMetricKinds = 6;
inline constexpr int kNumSpanKinds = 5;
inline constexpr int kNumCollectiveKinds = 8;
inline constexpr int kNumAxes = 6;

// The allocator's totals, predicted from a device's events.
struct TotalGuess {
  Bytes allocated = 0, reserved = 0;

  void follow(const MemEvent& event) {
    if (event.kind == EventKind::kAlloc) allocated = wrapped_sum(allocated, event.block);
    if (event.kind == EventKind::kFree) allocated = wrapped_difference(allocated, event.block);
    if (event.kind == EventKind::kSegmentAlloc) reserved = wrapped_sum(reserved, event.block);
    if (event.kind == EventKind::kSegmentFree) reserved = wrapped_difference(reserved, event.block);
  }
};

// Stores a field relative to the previous row's value plus `spacing`.
template <class Io, class Row, class Int>
void running_column(Io& io, std::span<Row> rows, Int Row::*field, std::int64_t lowest, std::int64_t highest,
                    const char* what, std::int64_t spacing = 0) {
  std::int64_t before = 0;
  for (Row& row : rows) {
    io.number(row.*field, wrapped_sum(before, spacing), lowest, highest, what);
    before = static_cast<std::int64_t>(row.*field);
  }
}

template <class Io, class Row>
void time_column(Io& io, std::span<Row> rows, Nanoseconds Row::*time, const char* what) {
  running_column(io, rows, time, -kMostTime, kMostTime, what);
}

// New storages' numbers usually count up, and other numbers are recent, so all are stored relative to the newest.
template <class Io>
void storage_column(Io& io, std::span<MemEvent> rows) {
  std::int64_t newest = 0;
  for (MemEvent& row : rows) {
    const bool is_new = row.kind == EventKind::kAlloc;
    io.number(row.storage, is_new ? wrapped_sum(newest, 1) : newest, kLowest64, kHighest64, "a storage");
    if (is_new) newest = static_cast<std::int64_t>(row.storage);
  }
}

// The allocator's totals, if reported, as differences from the prediction: 0 after the first row.
template <class Io>
void total_columns(Io& io, std::span<MemEvent> rows) {
  for (MemEvent& row : rows) {
    auto known = static_cast<std::uint8_t>((row.allocator_allocated != kUnknownBytes ? 1 : 0) |
                                           (row.allocator_reserved != kUnknownBytes ? 2 : 0));
    io.small(known, std::uint8_t{3}, "what an allocator reported");
    row.allocator_allocated = (known & 1) != 0 ? row.allocator_allocated : kUnknownBytes;
    row.allocator_reserved = (known & 2) != 0 ? row.allocator_reserved : kUnknownBytes;
    if constexpr (std::is_same_v<Io, ColumnReader>) {  // filled below
      if ((known & 1) != 0) row.allocator_allocated = 0;
      if ((known & 2) != 0) row.allocator_reserved = 0;
    }
  }
  TotalGuess guesses[kNumDeviceKinds];
  for (MemEvent& row : rows) {
    TotalGuess& guess = guesses[static_cast<std::size_t>(row.device)];
    guess.follow(row);
    if (row.allocator_allocated != kUnknownBytes) {
      io.number(row.allocator_allocated, guess.allocated, kLowest64, kHighest64, "an allocated total");
      guess.allocated = row.allocator_allocated;
    }
    if (row.allocator_reserved != kUnknownBytes) {
      io.number(row.allocator_reserved, guess.reserved, kLowest64, kHighest64, "a reserved total");
      guess.reserved = row.allocator_reserved;
    }
  }
}

template <class Io>
void columns(Io& io, std::span<MemEvent> rows) {
  for (MemEvent& row : rows) io.choice(row.kind, kNumEventKinds, "a kind of event");
  for (MemEvent& row : rows) io.choice(row.device, kNumDeviceKinds, "a device");
  for (MemEvent& row : rows) io.choice(row.category, kNumCategories, "a category");
  for (MemEvent& row : rows) io.choice(row.phase, kNumPhases, "a phase");
  for (MemEvent& row : rows) io.small(row.layer, kNoLayer, "a layer");
  for (MemEvent& row : rows) io.small(row.micro_batch, kAny16, "a micro-batch");
  for (MemEvent& row : rows) io.small(row.op, kAny16, "an operator");
  for (MemEvent& row : rows) io.byte(row.stream);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint8_t unused = 0;  // the file format still has this column
    io.byte(unused);
  }
  time_column(io, rows, &MemEvent::time, "an event's time");
  storage_column(io, rows);
  for (MemEvent& row : rows) io.number(row.requested, 0, 0, kMostBytes, "a request");
  for (MemEvent& row : rows) io.number(row.block, row.requested, 0, kMostBytes, "a block's size");
  total_columns(io, rows);
}

template <class Io>
void columns(Io& io, std::span<Mark> rows) {
  time_column(io, rows, &Mark::host_time, "a mark's time");
  Nanoseconds device_before = 0;
  for (Mark& row : rows) {
    io.number(row.device_time, device_before, kPending, kMostTime, "a mark's device time");
    if (row.device_time != kPending) device_before = row.device_time;
  }
  running_column(io, rows, &Mark::event_index, 0, static_cast<std::int64_t>(kMostEvents), "a mark's place");
  running_column(io, rows, &Mark::step, kLowestStep, kHighestStep, "a step");
  for (Mark& row : rows) io.choice(row.phase, kNumPhases, "a phase");
  for (Mark& row : rows) io.small(row.layer, kNoLayer, "a layer");
  for (Mark& row : rows) io.small(row.micro_batch, kAny16, "a micro-batch");
}

inline constexpr std::size_t kLeastBytesPerTime = 1;
template <class Io>
void columns(Io& io, std::span<Nanoseconds> times) {
  Nanoseconds before = 0;
  for (Nanoseconds& time : times) {
    io.number(time, before, 0, kMostTime, "a device time");
    before = time;
  }
}

template <class Io>
void columns(Io& io, std::span<CounterSample> rows) {
  time_column(io, rows, &CounterSample::time, "a counter's time");
  for (CounterSample& row : rows) io.choice(row.kind, kNumCounterKinds, "a kind of counter");
  std::int64_t before[kNumCounterKinds] = {};
  for (CounterSample& row : rows) {
    std::int64_t& last = before[static_cast<std::size_t>(row.kind)];
    io.number(row.value, last, kLowest64, kHighest64, "a counter");
    last = row.value;
  }
}

template <class Io>
void columns(Io& io, std::span<MetricSample> rows) {
  time_column(io, rows, &MetricSample::time, "a metric's time");
  for (MetricSample& row : rows) io.number(row.step, 0, kLowestStep, kHighestStep, "a step");
  for (MetricSample& row : rows) io.choice(row.kind, kNumMetricKinds, "a kind of metric");
  for (MetricSample& row : rows) io.real(row.value);
}

// Storages usually count up, and consecutive blocks are often from one segment.
template <class Io>
void columns(Io& io, std::span<Placement> rows) {
  running_column(io, rows, &Placement::storage, kLowest64, kHighest64, "a storage", /*spacing=*/1);
  running_column(io, rows, &Placement::segment, kLowest64, kHighest64, "a segment");
  for (Placement& row : rows) io.number(row.offset, 0, -kMostBytes, kMostBytes, "an offset");
}

// Rows are sorted by start, so host and device alternate. Correlations are relative to the last correlation of the same
// kind of span.
template <class Io>
void columns(Io& io, std::span<KernelSpan> rows) {
  for (KernelSpan& row : rows) io.choice(row.kind, kNumSpanKinds, "a kind of span");
  for (KernelSpan& row : rows) io.choice(row.phase, kNumPhases, "a phase");
  for (KernelSpan& row : rows) io.small(row.layer, kNoLayer, "a layer");
  for (KernelSpan& row : rows) io.small(row.name, kAny16, "a kernel's name");
  for (KernelSpan& row : rows) io.small(row.op, kAny16, "an operator");
  for (KernelSpan& row : rows) io.byte(row.stream);
  time_column(io, rows, &KernelSpan::start, "a kernel's start");
  for (KernelSpan& row : rows) io.number(row.duration, 0, 0, kMostTime, "a kernel's duration");
  for (KernelSpan& row : rows) io.number(row.bytes, kUnknownBytes, kUnknownBytes, kMostBytes, "a kernel's bytes");
  std::array<std::int64_t, 256> correlation_before{};  // sized for any byte, since the kind may be invalid
  for (KernelSpan& row : rows) {
    std::int64_t& before = correlation_before[static_cast<std::size_t>(row.kind)];
    io.number(row.correlation, before, 0, std::numeric_limits<std::uint32_t>::max(), "a correlation");
    before = row.correlation;
  }
  running_column(io, rows, &KernelSpan::step, kLowestStep, kHighestStep, "a step");
}

// A collective is issued shortly before it begins, and a step repeats the same sizes.
template <class Io>
void columns(Io& io, std::span<Collective> rows) {
  for (Collective& row : rows) io.choice(row.kind, kNumCollectiveKinds, "a kind of collective");
  for (Collective& row : rows) io.choice(row.axis, kNumAxes, "an axis");
  for (Collective& row : rows) io.choice(row.phase, kNumPhases, "a phase");
  for (Collective& row : rows) io.small(row.layer, kNoLayer, "a layer");
  for (Collective& row : rows) io.small(row.micro_batch, kAny16, "a micro-batch");
  for (Collective& row : rows) io.number(row.ranks, 1, 1, kAny16, "a number of ranks");
  time_column(io, rows, &Collective::issued, "a collective's time");
  for (Collective& row : rows) io.number(row.begin, row.issued, -kMostTime, kMostTime, "a collective's begin");
  for (Collective& row : rows) io.number(row.end, row.begin, row.begin, kMostTime, "a collective's end");
  for (Collective& row : rows) io.number(row.bytes, 0, 0, kMostBytes, "a collective's bytes");
  std::array<std::int64_t, 256> sequence_before{};  // sized for any byte, since the axis may be invalid
  for (Collective& row : rows) {
    std::int64_t& before = sequence_before[static_cast<std::size_t>(row.axis)];
    io.number(row.sequence, before + 1, 0, std::numeric_limits<std::uint32_t>::max(), "a collective's number");
    before = row.sequence;
  }
  running_column(io, rows, &Collective::step, kLowestStep, kHighestStep, "a step");
}

}  // namespace headroom::record
