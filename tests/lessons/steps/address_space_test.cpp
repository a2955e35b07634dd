// Segments, blocks and gaps, of a hand-made run and of recordings with allocator totals.
#include <algorithm>
#include <string>

#include "demos/predict/allocator/placed.h"
#include "lessons/figure.h"
#include "lessons/steps/address_space.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using record::Bytes;
using record::EventKind;
using record::kMiB;

namespace {

const lessons::Figure& address_figure() { return *lessons::find_figure("address_space"); }

// Two segments of 20 MiB, the second freed before the last event. The first has 8 MiB in use, a gap of 4 MiB left by a
// freed block, 6 MiB for a request of 5 MiB, and 2 MiB never used.
record::Recording two_segments() {
  record::Recording run(record::RunInfo{.demo = "train_step", .device = record::DeviceKind::kGpu, .cap = 26 * kMiB});
  const auto add = [&](EventKind kind, std::uint64_t storage, Bytes requested, Bytes block) {
    run.append(record::MemEvent{.storage = storage,
                                .requested = requested,
                                .block = block,
                                .kind = kind,
                                .device = record::DeviceKind::kGpu,
                                .category = record::Category::kActivations,
                                .phase = record::Phase::kForward});
  };
  run.append(record::Mark{.event_index = 0, .step = 0, .phase = record::Phase::kForward});
  add(EventKind::kSegmentAlloc, 1, 0, 20 * kMiB);
  add(EventKind::kAlloc, 10, 8 * kMiB, 8 * kMiB);
  add(EventKind::kAlloc, 11, 4 * kMiB, 4 * kMiB);
  add(EventKind::kAlloc, 12, 5 * kMiB, 6 * kMiB);
  add(EventKind::kSegmentAlloc, 2, 0, 20 * kMiB);
  add(EventKind::kFree, 11, 4 * kMiB, 4 * kMiB);
  add(EventKind::kSegmentFree, 2, 0, 20 * kMiB);
  const auto place = [&](std::uint64_t storage, std::uint64_t segment, Bytes offset) {
    run.append(record::Placement{.storage = storage, .segment = segment, .offset = offset});
  };
  place(1, 1, 0);
  place(2, 2, 32 * kMiB);
  place(10, 1, 0);
  place(11, 1, 8 * kMiB);
  place(12, 1, 12 * kMiB);
  return run;
}

record::Recording out_of_memory() {
  record::Recording run = two_segments();
  record::Outcome outcome{.kind = record::OutcomeKind::kOutOfMemory, .message = "", .out_of_memory = {}};
  outcome.out_of_memory = record::OutOfMemoryFacts{.requested = 7 * kMiB, .allocated = 14 * kMiB};
  run.set_outcome(outcome);
  return run;
}

const lessons::AddressMap& map_in(const lessons::FigureData& data) {
  return tests::panel_in<lessons::AddressMap>(data);
}

Bytes bytes_of(const lessons::AddressMap& map, lessons::PieceKind kind) {
  Bytes sum = 0;
  for (const auto& row : map.rows)
    for (const auto& piece : row.pieces)
      if (piece.kind == kind) sum += piece.end - piece.begin;
  return sum;
}

std::string label_of(const lessons::AddressMap& map, lessons::PieceKind kind) {
  const auto sum = std::ranges::find(map.sums, kind, &lessons::AddressSum::kind);
  return sum == map.sums.end() ? "" : sum->label;
}

}  // namespace

TEST_CASE("segments come and go, and between their blocks is what is free") {
  const record::Recording run = two_segments();
  const record::Ledger ledger(run);
  const lessons::AddressSpace both = lessons::address_space_at(ledger, 4);
  CHECK(both.segments.size() == 2);
  CHECK(both.reserved == 40 * kMiB);
  CHECK(both.largest_free == 20 * kMiB);
  const lessons::AddressSpace last = lessons::address_space_at(ledger, 6);
  REQUIRE(last.segments.size() == 1);
  CHECK(last.reserved == 20 * kMiB);
  CHECK(last.blocks == 14 * kMiB);
  CHECK(last.rounding == kMiB);
  CHECK(last.free_runs == 2);
  CHECK(last.largest_free == 4 * kMiB);
  CHECK(last.known);
}

TEST_CASE("a request that failed is drawn to the scale of the gaps that are too small for it") {
  const record::Recording run = out_of_memory();
  const record::Ledger ledger(run);
  const auto data = address_figure().build({.run = &ledger});
  INFO(data.head.empty_reason);
  const lessons::AddressMap& map = map_in(data);
  CHECK(bytes_of(map, lessons::PieceKind::kBlock) == 14 * kMiB);
  CHECK(bytes_of(map, lessons::PieceKind::kFree) == 6 * kMiB);
  CHECK(label_of(map, lessons::PieceKind::kFree) == "free 6.00 MiB in 2 pieces, the largest 4.00 MiB");
  CHECK(bytes_of(map, lessons::PieceKind::kLeft) == 6 * kMiB);
  CHECK(bytes_of(map, lessons::PieceKind::kAsked) == 7 * kMiB);
  lessons::FigureInput hidden{.run = &ledger};
  hidden.view.hidden = true;
  CHECK_FALSE(address_figure().build(hidden).head.empty_reason.empty());
}

TEST_CASE("the step can be played from its first event to its last") {
  const record::Recording run = two_segments();
  const record::Ledger ledger(run);
  record::Params params(address_figure().schema);
  REQUIRE(params.set("at", std::string_view("frames")).ok());
  REQUIRE(params.set("frame", std::string_view("1")).ok());
  lessons::FigureInput input{.run = &ledger, .params = &params};
  const auto first = address_figure().build(input);
  CHECK(first.head.frames > 1);
  CHECK(bytes_of(map_in(first), lessons::PieceKind::kFree) == 20 * kMiB);
  REQUIRE(params.set("frame", std::string_view("1000")).ok());
  CHECK(bytes_of(map_in(address_figure().build(input)), lessons::PieceKind::kFree) == 6 * kMiB);
}

TEST_CASE("pages that went from the middle of a segment are not drawn as if they were there") {
  record::Recording run = two_segments();
  run.append(record::MemEvent{.storage = 1,
                              .block = 10 * kMiB,
                              .kind = EventKind::kSegmentFree,
                              .device = record::DeviceKind::kGpu,
                              .phase = record::Phase::kForward});
  const record::Ledger ledger(run);
  CHECK_FALSE(lessons::address_space_at(ledger, 7).known);
}

TEST_CASE("the segments of an H200's runs hold at every event what its allocator said", "[recordings]") {
  const std::string folder = std::string(HEADROOM_SOURCE_DIR) + "/";
  for (const char* file : {"tests/predict/recordings/tight.hrec", "tests/predict/recordings/oom.hrec",
                           "assets/recordings/llama-3.2-1b_h200_b8_24gib_oom.hrec"}) {
    INFO(file);
    auto read = record::Recording::read(folder + file);
    REQUIRE(read.ok());
    // Runs without placements get simulated ones.
    const record::Recording run = read.value().placements().empty()
                                      ? predict::placed(read.value(), read.value().info().cap)
                                      : std::move(read).value();
    const record::Ledger ledger(run);
    const std::uint64_t count = run.events().size();
    for (std::uint64_t event = 0; event < count; event += event + 200 < count ? 97 : 1) {
      const lessons::AddressSpace space = lessons::address_space_at(ledger, event);
      const record::Totals totals = ledger.at(event);
      REQUIRE(space.known);
      REQUIRE(space.reserved == totals.reserved);
      REQUIRE(space.blocks == totals.allocated);
      REQUIRE(space.rounding == totals.allocated - totals.requested);
      const Bytes held = run.events()[event].allocator_reserved;
      if (held != record::kUnknownBytes) REQUIRE(space.reserved == held);
    }
  }
}

TEST_CASE("the page's numbers are those of its recording", "[recordings]") {
  const auto run = record::Recording::read(std::string(HEADROOM_SOURCE_DIR) +
                                           "/assets/recordings/llama-3.2-1b_h200_b8_24gib_oom.hrec");
  REQUIRE(run.ok());
  const record::Ledger ledger(run.value());
  const auto data = address_figure().build({.run = &ledger});
  const lessons::AddressMap& map = map_in(data);
  CHECK(run.value().events().back().allocator_reserved == 24'134'025'216);
  CHECK(map.title == "22.48 GiB reserved in 383 segments, 22.29 GiB of it in blocks");
  CHECK(label_of(map, lessons::PieceKind::kFree) == "free 0.19 GiB in 12 pieces, the largest 0.04 GiB");
  CHECK(label_of(map, lessons::PieceKind::kLeft) == "not reserved 1.52 GiB of 24.00 GiB");
  CHECK(label_of(map, lessons::PieceKind::kAsked) == "requested 3.91 GiB");
}
