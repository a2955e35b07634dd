// The simulated caching allocator against small cases and all shipped GPU runs.
#include "demos/predict/allocator/caching_allocator.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "demos/predict/allocator/placed.h"
#include "tests/support/catch.h"

using namespace headroom;
using predict::CachingAllocator;
using record::Bytes;
using record::DeviceKind;
using record::EventKind;
using record::kMiB;
using record::MemEvent;
using record::Recording;

namespace {

Bytes block_of(const CachingAllocator& allocator, CachingAllocator::BlockId id) {
  return allocator.placement(id).block;
}

struct Run {
  std::string name;
  Recording recording;
};

std::vector<Run> gpu_runs(const std::filesystem::path& folder) {
  std::vector<Run> runs;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    auto read = Recording::read(file.path());
    if (!read) FAIL(read.error().message);
    const auto& events = read.value().events();
    const bool on_gpu =
        std::any_of(events.begin(), events.end(), [](const MemEvent& e) { return e.device == DeviceKind::kGpu; });
    if (on_gpu) runs.push_back({file.path().stem().string(), std::move(read).value()});
  }
  return runs;
}

std::vector<MemEvent> gpu_events(const Recording& run) {
  std::vector<MemEvent> events;
  for (const MemEvent& event : run.events())
    if (event.device == DeviceKind::kGpu) events.push_back(event);
  return events;
}

}  // namespace

TEST_CASE("requests are rounded, and small and large ones come from separate segments") {
  CachingAllocator allocator;
  CHECK(block_of(allocator, *allocator.allocate(1)) == 512);
  CHECK(allocator.reserved() == 2 * kMiB);
  CHECK(block_of(allocator, *allocator.allocate(513)) == 1024);
  CHECK(allocator.reserved() == 2 * kMiB);  // same segment
  CHECK(block_of(allocator, *allocator.allocate(kMiB + 1)) == kMiB + 512);
  CHECK(allocator.reserved() == 22 * kMiB);
  CHECK(block_of(allocator, *allocator.allocate(11 * kMiB)) == 11 * kMiB);
  CHECK(allocator.reserved() == 22 * kMiB);                                 // from the rest of the 20 MiB
  CHECK(block_of(allocator, *allocator.allocate(11 * kMiB)) == 12 * kMiB);  // remainders up to 1 MiB are not split off
  CHECK(allocator.reserved() == 34 * kMiB);
}

TEST_CASE("a large block is split only if more than a MiB is left") {
  CachingAllocator allocator;
  const auto whole = allocator.allocate(20 * kMiB);
  allocator.free(*whole);
  CHECK(block_of(allocator, *allocator.allocate(19 * kMiB)) == 20 * kMiB);
  CachingAllocator other;
  other.free(*other.allocate(20 * kMiB));
  CHECK(block_of(other, *other.allocate(19 * kMiB - 512)) == 19 * kMiB - 512);
  CHECK(other.allocated() == 19 * kMiB - 512);
  CHECK(other.reserved() == 20 * kMiB);
}

TEST_CASE("a request takes the smallest free block that holds it, and the lowest address of equal ones") {
  CachingAllocator allocator;
  const auto a = allocator.allocate(40 * kMiB), b = allocator.allocate(32 * kMiB), c = allocator.allocate(32 * kMiB);
  for (const auto block : {a, b, c}) allocator.free(*block);
  CHECK(allocator.placement(*allocator.allocate(30 * kMiB)).segment == 1);  // at the lowest gap
  CHECK(allocator.placement(*allocator.allocate(30 * kMiB)).segment == 2);
  CHECK(allocator.placement(*allocator.allocate(30 * kMiB)).segment == 0);
  CHECK(allocator.reserved() == 104 * kMiB);
}

TEST_CASE("free neighbors are merged") {
  CachingAllocator allocator;
  std::vector<CachingAllocator::BlockId> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(*allocator.allocate(5 * kMiB));
  CHECK(allocator.reserved() == 20 * kMiB);
  for (const int i : {1, 3, 2, 0}) allocator.free(parts[static_cast<std::size_t>(i)]);
  CHECK(allocator.allocated() == 0);
  CHECK(allocator.placement(*allocator.allocate(20 * kMiB)).offset == 0);
  CHECK(allocator.reserved() == 20 * kMiB);
}

TEST_CASE("streams do not share blocks") {
  CachingAllocator allocator;
  allocator.free(*allocator.allocate(32 * kMiB, 0));
  (void)allocator.allocate(32 * kMiB, 1);
  CHECK(allocator.reserved() == 64 * kMiB);
}

TEST_CASE("cached segments are freed at the limit before a request fails") {
  CachingAllocator allocator(64 * kMiB);
  allocator.free(*allocator.allocate(32 * kMiB));
  const auto big = allocator.allocate(48 * kMiB);
  REQUIRE(big);
  REQUIRE(allocator.changes().size() == 2);
  CHECK_FALSE(allocator.changes()[0].taken);
  CHECK(allocator.changes()[0].bytes == 32 * kMiB);
  CHECK(allocator.reserved() == 48 * kMiB);
  CHECK_FALSE(allocator.allocate(17 * kMiB));
  CHECK(allocator.allocated() == 48 * kMiB);
}

TEST_CASE("the pool of a CUDA graph shares no block with a stream and frees nothing") {
  constexpr auto kPool = static_cast<std::uint8_t>(record::Stream::kGraphPool);
  CachingAllocator allocator(64 * kMiB);
  allocator.free(*allocator.allocate(24 * kMiB, 0));
  allocator.free(*allocator.allocate(16 * kMiB, kPool));
  CHECK(allocator.reserved() == 40 * kMiB);
  CHECK_FALSE(allocator.allocate(30 * kMiB, kPool));  // keeps the stream's cache
  CHECK(allocator.allocate(44 * kMiB, 0));            // frees its own cache
  CHECK(allocator.reserved() == 60 * kMiB);
  allocator.empty_cache();
  CHECK(allocator.changes().empty());
  CHECK(allocator.placement(*allocator.allocate(16 * kMiB, kPool)).segment == 1);
}

TEST_CASE("emptying the cache keeps the segments with live blocks") {
  CachingAllocator allocator;
  const auto kept = allocator.allocate(30 * kMiB), given = allocator.allocate(40 * kMiB);
  allocator.free(*given);
  allocator.empty_cache();
  REQUIRE(allocator.changes().size() == 1);
  CHECK(allocator.changes()[0].bytes == 40 * kMiB);
  CHECK(allocator.reserved() == 30 * kMiB);
  CHECK(allocator.placement(*kept).block == 30 * kMiB);
}

TEST_CASE("an expandable segment grows by pages after the free block at its end") {
  CachingAllocator allocator(0, /*expandable=*/true);
  const auto first = allocator.allocate(30 * kMiB);
  CHECK(allocator.reserved() == 40 * kMiB);  // two pages of 20 MiB
  const auto second = allocator.allocate(45 * kMiB);
  CHECK(allocator.reserved() == 80 * kMiB);
  CHECK(allocator.placement(*second).segment == 0);
  CHECK(allocator.placement(*second).offset == 30 * kMiB);
  allocator.free(*first);
  const auto third = allocator.allocate(29 * kMiB + 512);  // splits off any remainder
  CHECK(allocator.allocated() == 74 * kMiB + 512);
  CHECK(allocator.placement(*third).offset == 0);
  (void)allocator.allocate(1);
  CHECK(allocator.reserved() == 82 * kMiB);  // small pages of 2 MiB
}

TEST_CASE("an expandable segment frees whole pages and fills the lowest hole first") {
  CachingAllocator allocator(200 * kMiB, /*expandable=*/true);
  const auto a = allocator.allocate(50 * kMiB), b = allocator.allocate(60 * kMiB), c = allocator.allocate(30 * kMiB);
  CHECK(allocator.reserved() == 140 * kMiB);
  allocator.free(*b);  // frees pages from 60 to 100 MiB
  allocator.empty_cache();
  CHECK(allocator.reserved() == 100 * kMiB);
  record::Bytes given = 0;
  for (const auto& change : allocator.changes()) {
    CHECK_FALSE(change.taken);
    given += change.bytes;
  }
  CHECK(given == 40 * kMiB);
  const auto d = allocator.allocate(55 * kMiB);  // between a and c, in both pages
  CHECK(allocator.reserved() == 140 * kMiB);
  CHECK(allocator.changes().size() == 1);
  CHECK(allocator.changes()[0].address == 60 * kMiB);
  CHECK(allocator.placement(*d).offset == 50 * kMiB);
  CHECK(allocator.placement(*a).offset == 0);
  CHECK(allocator.placement(*c).block == 30 * kMiB);
}

TEST_CASE("an expandable segment at the limit frees pages before it grows") {
  CachingAllocator allocator(100 * kMiB, /*expandable=*/true);
  allocator.free(*allocator.allocate(kMiB / 2));  // a small page
  const auto big = allocator.allocate(60 * kMiB);
  REQUIRE(big);
  CHECK(allocator.reserved() == 62 * kMiB);
  CHECK(allocator.allocate(40 * kMiB));
  CHECK(allocator.reserved() == 100 * kMiB);
  CHECK_FALSE(allocator.allocate(20 * kMiB));
}

void check_reproduced(const Recording& run) {
  const Recording simulated = predict::placed(run, run.info().cap);
  const std::vector<MemEvent> expected = gpu_events(run), found = gpu_events(simulated);
  REQUIRE(found.size() == expected.size());
  std::map<std::uint64_t, std::uint64_t> segments;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const MemEvent &a = expected[i], &b = found[i];
    INFO("event " << i << ", " << run.op_name(a.op) << ", requested " << a.requested);
    REQUIRE(a.kind == b.kind);
    if (a.kind == EventKind::kSegmentAlloc) segments[a.storage] = b.storage;
    if (a.kind == EventKind::kSegmentFree) REQUIRE(segments[a.storage] == b.storage);
    REQUIRE(a.requested == b.requested);
    REQUIRE(a.block == b.block);
    REQUIRE(a.allocator_allocated == b.allocator_allocated);
    REQUIRE(a.allocator_reserved == b.allocator_reserved);
  }
  std::map<std::uint64_t, record::Placement> places;
  for (const record::Placement& place : simulated.placements()) places[place.storage] = place;
  for (const record::Placement& place : run.placements()) {
    if (place.storage == place.segment) continue;
    INFO("storage " << place.storage);
    REQUIRE(places[place.storage].segment == segments[place.segment]);
    REQUIRE(places[place.storage].offset == place.offset);
  }
}

TEST_CASE("the requests of a GPU run get the GPU's blocks, segments, places and totals") {
  const std::vector<Run> runs = gpu_runs(HEADROOM_SOURCE_DIR "/tests/predict/recordings");
  REQUIRE(runs.size() >= 8);
  for (const Run& run : runs) {
    INFO(run.name);
    CHECK_FALSE(run.recording.placements().empty());
    check_reproduced(run.recording);
  }
}

TEST_CASE("the requests of shipped runs get the GPU's blocks with the driver's simulated addresses") {
  std::size_t checked = 0;
  for (const Run& run : gpu_runs(HEADROOM_SOURCE_DIR "/assets/recordings")) {
    INFO(run.name);
    check_reproduced(run.recording);
    ++checked;
  }
  CHECK(checked >= 20);
}

TEST_CASE("a failed run's requests complete under a larger limit") {
  for (const Run& run : gpu_runs(HEADROOM_SOURCE_DIR "/tests/predict/recordings")) {
    if (run.name != "oom") continue;
    const Recording capped = predict::placed(run.recording, run.recording.info().cap);
    REQUIRE(capped.outcome());
    REQUIRE(capped.outcome()->out_of_memory);
    CHECK(capped.outcome()->out_of_memory->requested == run.recording.outcome()->out_of_memory->requested);
    CHECK(capped.outcome()->out_of_memory->by_category == run.recording.outcome()->out_of_memory->by_category);
    CHECK(capped.outcome()->out_of_memory->op == "loss.to_fp32");
    const Recording free = predict::placed(run.recording);
    CHECK(gpu_events(free).back().kind == EventKind::kAlloc);
    return;
  }
  FAIL("the recording is missing");
}

TEST_CASE("a million events take half a second of processor time") {
  CachingAllocator allocator;
  std::vector<CachingAllocator::BlockId> alive;
  std::uint64_t random = 1;
  const std::clock_t begun = std::clock();
  for (int i = 0; i < 1'000'000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    if (alive.size() < 2000 || (random >> 40) % 2 == 0) {
      alive.push_back(*allocator.allocate(static_cast<Bytes>(1 + (random >> 33) % (64 * kMiB))));
      continue;
    }
    const std::size_t at = (random >> 20) % alive.size();
    allocator.free(alive[at]);
    alive[at] = alive.back();
    alive.pop_back();
  }
  const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  CHECK(seconds < 1.0);  // twice the goal
}
