// Parses chunks. Checks every count before allocating memory for it.
#include "demos/record/file/chunk_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/record/file/columns.h"
#include "demos/record/file/json_fields.h"
#include "demos/record/file/packing.h"
#include "demos/record/text.h"

namespace headroom::record {
namespace {

constexpr std::size_t kMostTextBytes = 1U << 20;
constexpr std::size_t kLongestOperator = 1'024;
constexpr std::size_t kMostOperators = 1U << 16;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// True if at least `count` marks lack a device time. Stops early, since live runs call it per chunk.
bool enough_pending(std::span<const Mark> marks, std::size_t count) {
  for (std::size_t i = 0; count > 0 && i < marks.size(); ++i)
    if (marks[i].device_time == kPending) --count;
  return count == 0;
}

Damage too_many(std::string_view name, std::size_t most) {
  return {fmt::format("it contains more than {} {}", format_count(static_cast<std::int64_t>(most)), name)};
}

template <class Row>
std::optional<Damage> read_columns(std::span<const std::byte> content, std::size_t least_bytes,
                                   std::vector<Row>& rows) {
  Unpacker in(content);
  const std::uint64_t count = in.varint();
  if (count > kMostRowsInAChunk || count > in.left() / least_bytes)
    return Damage{"a chunk contains fewer rows than its header says"};
  rows.resize(count);
  ColumnReader reader(in);
  columns(reader, std::span<Row>(rows));
  if (!in.ok() || in.left() != 0) return Damage{"a chunk's columns have the wrong length"};
  if (reader.wrong() != nullptr) return Damage{std::string(reader.wrong()) + " is out of range"};
  return std::nullopt;
}

template <class Struct>
std::optional<Struct> read_text(std::span<const std::byte> content) {
  if (content.size() > kMostTextBytes) return std::nullopt;
  return from_json<Struct>(as_text(content));
}

}  // namespace

template <class Facts>
std::optional<Damage> ChunkReader::take_facts(void (Recording::*set)(Facts), std::span<const std::byte> content,
                                              const char* unreadable) {
  std::optional<Facts> facts = read_text<Facts>(content);
  if (!facts) return Damage{unreadable};
  (recording_.*set)(std::move(*facts));
  return std::nullopt;
}

template <class Kind>
std::optional<Damage> ChunkReader::take_rows(const Kind& kind, std::span<const std::byte> content) {
  using Row = RowOf<Kind>;
  std::vector<Row> rows;
  if constexpr (row_kind<Row>().least_bytes > 0) {
    if (const auto damage = read_columns(content, kind.least_bytes, rows)) return damage;
  } else {
    auto text = read_text<RowText<Row>>(content);
    if (!text) return Damage{fmt::format("its {} cannot be read", kind.name)};
    rows = std::move(text->rows);
  }
  const std::size_t present = recording_.rows<Row>().size();
  if (rows.size() > kind.most - std::min(present, kind.most)) return too_many(kind.name, kind.most);
  recording_.append(rows);
  return std::nullopt;
}

std::optional<Damage> ChunkReader::take_device_times(std::span<const std::byte> content) {
  std::vector<Nanoseconds> times;
  if (const auto damage = read_columns(content, kLeastBytesPerTime, times)) return damage;
  if (!enough_pending(std::span(recording_.marks()).subspan(recording_.marks_with_device_time_), times.size()))
    return Damage{"it has more device times than marks"};
  recording_.append_device_times(times);
  return std::nullopt;
}

std::optional<Damage> ChunkReader::take_operators(std::span<const std::byte> content) {
  Unpacker in(content);
  const std::uint64_t first = in.varint();
  const std::uint64_t count = in.varint();
  if (count > in.left() || first >= kMostOperators || count > kMostOperators - first)
    return Damage{"it has more operators than the limit"};
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t length = in.varint();
    const std::string_view name = as_text(in.take(length));
    if (!in.ok() || length > kLongestOperator || !valid_utf8(name))
      return Damage{"the name of an operator is not text"};
    names.emplace_back(name);
  }
  if (!in.ok() || in.left() != 0) return Damage{"a chunk of operators has the wrong length"};
  recording_.append_operators(static_cast<std::uint16_t>(first), names);
  return std::nullopt;
}

std::optional<Damage> ChunkReader::take_dropped(std::span<const std::byte> content) {
  Unpacker in(content);
  const std::uint64_t count = in.varint();
  if (!in.ok() || in.left() != 0 || count > kMostEvents) return Damage{"the count of dropped events is not a count"};
  recording_.add_dropped(count);
  return std::nullopt;
}

std::optional<Damage> ChunkReader::take(ChunkKind kind, std::span<const std::byte> content) {
  std::optional<Damage> damage;
  for_each_row_kind([&](const auto& each) {
    if (each.chunk == kind) damage = take_rows(each, content);
  });
  switch (kind) {
    case ChunkKind::kInfo:
      return take_facts(&Recording::set_info, content, "its facts about the run cannot be read");
    case ChunkKind::kKernelReport:
      return take_facts(&Recording::set_kernel_report, content, "its facts about a kernel cannot be read");
    case ChunkKind::kOutcome:
      return take_facts(&Recording::set_outcome, content, "its facts about the run's end cannot be read");
    case ChunkKind::kDeviceTimes:
      return take_device_times(content);
    case ChunkKind::kOperators:
      return take_operators(content);
    case ChunkKind::kDropped:
      return take_dropped(content);
    default:  // rows, another rank's chunk, or a kind of a later version
      break;
  }
  return damage;
}

void ChunkReader::end(bool whole) {
  recording_.truncated_ = !whole || !recording_.outcome_;
  if (recording_.info_.source == Source::kLive) recording_.set_source(Source::kRecorded);
}

}  // namespace headroom::record
