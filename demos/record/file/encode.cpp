// Encodes rows and texts as chunks.
#include <stdexcept>

#include <fmt/format.h>

#include "demos/record/file/chunk.h"
#include "demos/record/file/columns.h"
#include "demos/record/file/json_fields.h"
#include "demos/record/recording.h"

namespace headroom::record {
namespace {

std::vector<std::byte> seal_text(ChunkKind kind, const std::string& text) {
  return seal(kind, std::as_bytes(std::span(text)));
}

template <class Row>
std::vector<std::byte> seal_columns(ChunkKind kind, std::span<const Row> rows) {
  if (rows.size() > kMostRowsInAChunk) throw std::length_error("more than 262,144 rows in a chunk");
  std::vector<Row> copy(rows.begin(), rows.end());  // columns() needs mutable rows
  Packer out;
  out.varint(rows.size());
  ColumnWriter writer(out);
  columns(writer, std::span<Row>(copy));
  return seal(kind, out.bytes());
}

// Throws on a row that the reader would refuse, since such a row would cost the whole file.
template <class Row>
std::vector<std::byte> seal_objects(const RowKind<Row>& kind, std::span<const Row> rows) {
  std::string wrong;
  const json object = to_object(RowText<Row>{{rows.begin(), rows.end()}}, Form::kJson, &wrong);
  if (!wrong.empty()) throw std::invalid_argument(fmt::format("{} that is not possible: {}", kind.name, wrong));
  return seal_text(kind.chunk, dump(object));
}

template <class Row>
std::vector<std::byte> seal_rows(std::span<const Row> rows) {
  if constexpr (row_kind<Row>().least_bytes > 0)
    return seal_columns(row_kind<Row>().chunk, rows);
  else
    return seal_objects(row_kind<Row>(), rows);
}

}  // namespace

const RowKinds::Encoders& row_encoders() {
  static constexpr RowKinds::Encoders kEncoders = std::apply(
      [](const auto&... kind) { return RowKinds::Encoders{&seal_rows<RowOf<decltype(kind)>>...}; }, kRowKinds);
  return kEncoders;
}

std::vector<std::byte> encode(const RunInfo& info) { return seal_text(ChunkKind::kInfo, to_json(info)); }

std::vector<std::byte> encode(const KernelReport& report) {
  return seal_text(ChunkKind::kKernelReport, to_json(report));
}

std::vector<std::byte> encode(const Outcome& outcome) { return seal_text(ChunkKind::kOutcome, to_json(outcome)); }

std::vector<std::byte> encode_device_times(std::span<const Nanoseconds> times) {
  return seal_columns(ChunkKind::kDeviceTimes, times);
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

std::vector<std::byte> encode_rank(std::uint16_t rank, std::span<const std::byte> chunk) {
  Packer out;
  out.fixed16(rank);
  out.append(chunk);
  return seal(ChunkKind::kRank, out.bytes());
}

std::vector<std::byte> encode_dropped(std::uint64_t count) {
  Packer out;
  out.varint(count);
  return seal(ChunkKind::kDropped, out.bytes());
}

}  // namespace headroom::record
