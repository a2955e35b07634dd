// A run's blocks by address: segments in rows, blocks by kind, gaps, and a request that found no room.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "demos/predict/allocator/placed.h"
#include "lessons/figure.h"
#include "lessons/names.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/address_space.h"
#include "lessons/steps/shown_range.h"

namespace headroom::lessons {
namespace {

using record::Bytes;

constexpr std::array<record::Choice, 2> kMoments{{
    {"peak", "at the peak"},
    {"frames", "moment by moment"},
}};
constexpr std::size_t kFrames = 200;
constexpr std::array kAddressSpaceSchema{
    experiments::choice("at", "Moment", "The step's peak or failed request, or a replay of the whole step", kMoments,
                        "peak"),
    experiments::needs(frame_param(kFrames), "at", "frames"),
    kShowParam,
    kStepParam,
    kRankParam,
};

Bytes limit_of(const record::RunInfo& info) { return info.cap > 0 ? info.cap : info.device_memory; }

AddressPiece piece_of(const record::Recording& run, const PlacedBlock& block, Bytes begin, const ShownUnit& unit) {
  const record::Storage& storage = *block.storage;
  return {.kind = PieceKind::kBlock,
          .begin = begin + block.begin,
          .end = begin + block.end,
          .category = storage.category,
          .requested = storage.requested,
          .tip = fmt::format("{}: {} requested, a block of {}", tensor_name(storage.category, run.op_name(storage.op)),
                             bytes_text(storage.requested, unit), bytes_text(storage.block, unit))};
}

void add_segment(AddressRow& row, const record::Recording& run, const PlacedSegment& segment, Bytes begin,
                 const ShownUnit& unit) {
  if (begin > 0) row.seams.push_back(begin);
  const std::size_t first = row.pieces.size();
  for (const PlacedBlock& block : segment.blocks) row.pieces.push_back(piece_of(run, block, begin, unit));
  for (const FreeRun& free : free_runs(segment))
    row.pieces.push_back({.kind = PieceKind::kFree,
                          .begin = begin + free.begin,
                          .end = begin + free.end,
                          .tip = fmt::format("Free: {} in a segment of {}", bytes_text(free.end - free.begin, unit),
                                             bytes_text(segment.bytes, unit))});
  std::ranges::sort(row.pieces.begin() + static_cast<std::ptrdiff_t>(first), row.pieces.end(), {},
                    &AddressPiece::begin);
}

// Largest segments first, as many per row as fit.
std::vector<AddressRow> address_rows(const record::Recording& run, const AddressSpace& space, Bytes width,
                                     const ShownUnit& unit) {
  std::vector<const PlacedSegment*> by_size;
  for (const PlacedSegment& segment : space.segments) by_size.push_back(&segment);
  std::ranges::stable_sort(by_size, std::greater{}, &PlacedSegment::bytes);
  std::vector<AddressRow> rows;
  std::vector<Bytes> filled;
  std::vector<std::size_t> counts;
  for (const PlacedSegment* const segment : by_size) {
    const auto room = std::ranges::find_if(filled, [&](Bytes bytes) { return bytes + segment->bytes <= width; });
    const auto at = static_cast<std::size_t>(room - filled.begin());
    if (room == filled.end()) {
      rows.emplace_back();
      filled.push_back(0);
      counts.push_back(0);
    }
    add_segment(rows[at], run, *segment, filled[at], unit);
    filled[at] += segment->bytes;
    ++counts[at];
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].label = short_bytes(filled[i], unit) + (counts[i] == 1 ? "" : fmt::format(" in {} segments", counts[i]));
  return rows;
}

std::vector<AddressSum> sums_of(const record::Totals& totals, const AddressSpace& space, const ShownUnit& unit) {
  std::vector<AddressSum> sums;
  for (int i = 0; i < record::kNumCategories; ++i) {
    const auto category = static_cast<record::Category>(i);
    const Bytes bytes = totals.by_category[static_cast<std::size_t>(i)];
    if (bytes == 0) continue;
    sums.push_back({.kind = PieceKind::kBlock,
                    .category = category,
                    .label = fmt::format("{} {}", record::label_of(category), bytes_text(bytes, unit)),
                    .bytes = bytes});
  }
  const Bytes free = space.reserved - space.blocks;
  if (free > 0)
    sums.push_back({.kind = PieceKind::kFree,
                    .label = fmt::format("free {} in {} pieces, the largest {}", bytes_text(free, unit),
                                         record::format_count(static_cast<std::int64_t>(space.free_runs)),
                                         bytes_text(space.largest_free, unit)),
                    .bytes = free});
  return sums;
}

void add_row(AddressMap& map, PieceKind kind, std::string label, Bytes bytes, std::string words) {
  map.rows.push_back({.label = std::move(label), .pieces = {{.kind = kind, .begin = 0, .end = bytes, .tip = words}}});
  map.sums.push_back({.kind = kind, .label = std::move(words), .bytes = bytes});
}

AddressMap map_of(const record::Ledger& run, std::uint64_t event, const AddressSpace& space) {
  const record::Recording& recording = run.recording();
  const record::OutOfMemoryFacts* const failed = failure_at_end(recording, event + 1);
  AddressMap map;
  const ShownUnit unit = byte_unit(static_cast<double>(space.reserved));
  map.title = fmt::format("{} reserved in {} segments, {} of it in blocks", bytes_text(space.reserved, unit),
                          record::format_count(static_cast<std::int64_t>(space.segments.size())),
                          bytes_text(space.blocks, unit));
  constexpr Bytes kRows = 8;  // at least this many rows if segments are small
  map.width = std::max<Bytes>(space.reserved / kRows, 1);
  for (const PlacedSegment& segment : space.segments) map.width = std::max(map.width, segment.bytes);
  const Bytes limit = limit_of(recording.info()), left = limit - space.reserved;
  if (failed != nullptr) map.width = std::max(map.width, failed->requested);
  map.rows = address_rows(recording, space, map.width, unit);
  map.sums = sums_of(run.at(event), space, unit);
  if (failed == nullptr || left <= 0) return map;
  map.width = std::max(map.width, left);
  add_row(map, PieceKind::kLeft, "not reserved", left,
          fmt::format("not reserved {} of {}", bytes_text(left, unit), bytes_text(limit, unit)));
  add_row(map, PieceKind::kAsked, "requested", failed->requested,
          fmt::format("requested {}", bytes_text(failed->requested, unit)));
  return map;
}

// The shown frame's event; without frames, the peak or, for a failed run, the last event before the failed request.
std::uint64_t event_of(FigureData& figure, const FigureInput& input, const record::Ledger& run,
                       const record::StepRange& range) {
  const std::uint64_t last = std::min<std::uint64_t>(range.last, run.recording().events().size());
  if (input.params->text("at") == "frames") {
    const std::size_t frames = std::min<std::uint64_t>(kFrames, last - range.first);
    const std::size_t frame = show_frame(figure.head, *input.params, frames);
    return range.first + (last - 1 - range.first) * frame / std::max<std::size_t>(frames - 1, 1);
  }
  const bool failed = failure_at_end(run.recording(), last) != nullptr;
  return failed ? last - 1 : run.peak(range.first, last).event;
}

void add_map(FigureData& figure, const FigureInput& input, const record::Ledger& run, const record::StepRange& range) {
  const std::uint64_t event = event_of(figure, input, run, range);
  figure.head.provenance["figure.event"] = std::to_string(event);
  const AddressSpace space = address_space_at(run, event);
  if (space.known) return figure.add(map_of(run, event, space));
  figure.leave_empty("Pages were released from the middle of segments; the recording does not say which.");
}

void add_address_space_panels(FigureData& figure, const FigureInput& input) {
  const record::Recording& given = input.run->recording();
  const ShownRange shown = shown_range(given, *input.params);
  set_step(figure.head, shown.range.step);
  if (!shown.empty_reason.empty()) return figure.leave_empty(shown.empty_reason);
  const std::uint64_t last = std::min<std::uint64_t>(shown.range.last, given.events().size());
  if (last <= shown.range.first) return figure.leave_empty("Nothing is allocated in the shown range.");
  if (given.info().device != record::DeviceKind::kGpu || input.run->peak_reserved() == 0)
    return figure.leave_empty("Only the allocator of a GPU has segments: run on one, or predict.");
  if (input.view.hidden) return figure.leave_empty(kIsAnswer);
  if (!given.placements().empty()) return add_map(figure, input, *input.run, shown.range);
  // Old recordings have no addresses. The allocator's arithmetic puts every block where the GPU's allocator did.
  const record::Recording placed = predict::placed(given, given.info().cap);
  figure.head.provenance["figure.places"] = "by the allocator's arithmetic";
  add_map(figure, input, record::Ledger(placed), shown_range(placed, *input.params).range);
}

}  // namespace

extern const Figure kAddressSpace;
constinit const Figure kAddressSpace{
    .id = "address_space",
    .title = "What is where in the allocator's memory",
    .caption = "Segments, the blocks in them by kind and the gaps between, next to a request that found no room",
    .schema = kAddressSpaceSchema,
    .add_panels = add_address_space_panels,
};

}  // namespace headroom::lessons
