// The ledger, against a plain replay and numbers computed by hand.
#include "demos/record/ledger.h"

#include <ctime>
#include <map>
#include <numeric>
#include <unordered_map>

#include "tests/record/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom::record;
using namespace headroom::tests;

namespace {

// Processor seconds for `count` storages, numbered in steps of `stride` and never freed.
double seconds_of_ledger(std::size_t count, std::uint64_t stride) {
  std::vector<MemEvent> events(count);
  for (std::size_t i = 0; i < count; ++i) {
    events[i].kind = EventKind::kAlloc;
    events[i].storage = (i + 1) * stride;
    events[i].requested = events[i].block = 512;
  }
  Recording recording = made_recording({.steps = 0});
  recording.append(std::span<const MemEvent>(events));
  const std::clock_t begun = std::clock();
  const Ledger ledger(recording);
  const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  REQUIRE(ledger.storages().size() >= count);
  return seconds;
}

bool same(const Totals& a, const Totals& b) {
  return a.by_category == b.by_category && a.allocated == b.allocated && a.requested == b.requested &&
         a.reserved == b.reserved;
}

// The rules of mem_event.h in plain code. A relabel applies from the allocation, so categories are the final ones.
std::vector<Totals> replay(const Recording& recording, std::size_t count) {
  struct Block {
    Bytes requested, block;
    Category category;
    bool alive;
  };
  const auto ours = [&](const MemEvent& event) { return event.device == recording.info().device; };
  const std::span<const MemEvent> events = std::span(recording.events()).first(count);
  std::map<std::uint64_t, Category> last_label;
  for (const MemEvent& event : events) {
    if (ours(event) && event.kind == EventKind::kAlloc) last_label.try_emplace(event.storage, event.category);
    if (ours(event) && event.kind == EventKind::kRelabel && last_label.contains(event.storage))
      last_label[event.storage] = event.category;
  }
  std::map<std::uint64_t, Block> blocks;
  std::map<std::uint64_t, Bytes> segments;
  std::vector<Totals> totals;
  for (const MemEvent& event : events) {
    if (ours(event)) {
      if (event.kind == EventKind::kAlloc)
        blocks.try_emplace(event.storage, Block{event.requested, event.block, last_label.at(event.storage), true});
      if (event.kind == EventKind::kFree && blocks.contains(event.storage)) blocks.at(event.storage).alive = false;
      if (event.kind == EventKind::kSegmentAlloc) segments.try_emplace(event.storage, event.block);
      if (event.kind == EventKind::kSegmentFree) segments.erase(event.storage);
    }
    Totals sum;
    for (const auto& [id, block] : blocks) {
      if (!block.alive) continue;
      sum.allocated += block.block;
      sum.requested += block.requested;
      sum.by_category[static_cast<std::size_t>(block.category)] += block.block;
    }
    for (const auto& [id, bytes] : segments) sum.reserved += bytes;
    totals.push_back(sum);
  }
  return totals;
}

void check_against_replay(const Ledger& ledger) {
  const std::vector<Totals> expected = replay(ledger.recording(), ledger.size());
  bool all_equal = true;
  for (std::size_t event = 0; event < expected.size(); ++event)
    all_equal = all_equal && same(ledger.at(event), expected[event]);
  CHECK(all_equal);
  std::mt19937_64 random(9);
  for (int round = 0; round < 60; ++round) {
    const std::uint64_t first = random() % expected.size();
    const std::uint64_t last = first + 1 + random() % (expected.size() - first);
    std::uint64_t low = first, high = first;
    Bytes requested = 0, reserved = 0;
    for (std::uint64_t e = first; e < last; ++e) {
      if (expected[e].allocated < expected[low].allocated) low = e;
      if (expected[e].allocated > expected[high].allocated) high = e;
      requested = std::max(requested, expected[e].requested);
      reserved = std::max(reserved, expected[e].reserved);
    }
    const Ledger::Extremes found = ledger.extremes(first, last);
    CHECK(found.low_event == low);
    CHECK(found.high_event == high);
    CHECK(same(found.low, expected[low]));
    CHECK(same(found.high, expected[high]));
    CHECK(ledger.peak(first, last).event == high);
    CHECK(ledger.peak_requested(first, last) == requested);
    CHECK(ledger.peak_reserved(first, last) == reserved);
  }
}

Recording on_gpu() {
  RunInfo info;
  info.device = DeviceKind::kGpu;
  return Recording(info);
}

void alloc(Recording& recording, std::uint64_t storage, Bytes bytes, Category category) {
  const MemEvent event{.storage = storage,
                       .requested = bytes - 12,
                       .block = bytes,
                       .kind = EventKind::kAlloc,
                       .device = DeviceKind::kGpu,
                       .category = category};
  recording.append(std::span(&event, 1));
}
void other(Recording& recording, EventKind kind, std::uint64_t storage, Category category = Category::kOther,
           Bytes block = 0) {
  const MemEvent event{
      .storage = storage, .block = block, .kind = kind, .device = DeviceKind::kGpu, .category = category};
  recording.append(std::span(&event, 1));
}

Bytes of(const Totals& totals, Category category) { return totals.by_category[static_cast<std::size_t>(category)]; }

}  // namespace

TEST_CASE("totals equal a plain replay at every event") {
  for (const unsigned seed : {1U, 2U, 3U}) {
    Recording recording = on_gpu();
    recording.append(random_events(seed, 1'500));
    check_against_replay(Ledger(recording));
  }
}

TEST_CASE("a ledger of a growing recording equals one that reads it at once") {
  for (const std::size_t step : {1U, 13U, 64U, 200U}) {
    const std::vector<MemEvent> events = random_events(7, 700);
    Recording recording = on_gpu();
    Ledger ledger(recording);
    for (std::size_t first = 0; first < events.size(); first += step) {
      recording.append(std::span(events).subspan(first, std::min(step, events.size() - first)));
      ledger.update();
      if (first % 5 == 0) CHECK(same(ledger.at(ledger.size() - 1), replay(recording, ledger.size()).back()));
    }
    check_against_replay(ledger);
  }
}

TEST_CASE("a relabel applies from a storage's birth, whenever it arrives") {
  Recording recording = on_gpu();
  alloc(recording, 1, 512, Category::kActivations);
  alloc(recording, 2, 1024, Category::kOther);
  Ledger ledger(recording);
  CHECK(of(ledger.at(0), Category::kActivations) == 512);
  other(recording, EventKind::kRelabel, 1, Category::kLogits);
  other(recording, EventKind::kRelabel, 1, Category::kGradients);
  ledger.update();
  CHECK(of(ledger.at(0), Category::kActivations) == 0);
  CHECK(of(ledger.at(0), Category::kGradients) == 512);
  CHECK(of(ledger.at(3), Category::kGradients) == 512);
  CHECK(of(ledger.peak().totals, Category::kGradients) == 512);
  CHECK(ledger.storages()[0].category == Category::kGradients);
  other(recording, EventKind::kFree, 1);
  ledger.update();
  other(recording, EventKind::kRelabel, 1, Category::kWorkspace);  // after the free: changes the storage's past
  ledger.update();
  CHECK(of(ledger.at(1), Category::kWorkspace) == 512);
  CHECK(of(ledger.at(1), Category::kGradients) == 0);
  CHECK(of(ledger.at(4), Category::kWorkspace) == 0);
  CHECK(of(ledger.peak().totals, Category::kWorkspace) == 512);
  CHECK(ledger.peak().event == 1);
}

TEST_CASE("impossible events change nothing") {
  Recording recording = on_gpu();
  other(recording, EventKind::kFree, 5);  // a recording may start anywhere
  other(recording, EventKind::kSegmentFree, 6);
  other(recording, EventKind::kRelabel, 7, Category::kWeights);
  alloc(recording, 1, 512, Category::kWeights);
  alloc(recording, 1, 4096, Category::kGradients);
  other(recording, EventKind::kFree, 1);
  other(recording, EventKind::kFree, 1);
  alloc(recording, 1, 4096, Category::kGradients);  // numbers are not reused
  const Ledger ledger(recording);
  CHECK(ledger.at(4).allocated == 512);
  CHECK(ledger.at(7).allocated == 0);
  CHECK(ledger.storages().size() == 1);
  CHECK(ledger.peak().totals.allocated == 512);
}

TEST_CASE("sums of invalid sizes stay within range") {
  Recording recording = on_gpu();
  for (std::uint64_t i = 0; i < 10'000; ++i) alloc(recording, i, Bytes{1} << 50, Category::kWeights);
  for (std::uint64_t i = 0; i < 10'000; ++i)
    other(recording, EventKind::kSegmentAlloc, 10'000 + i, Category::kOther, Bytes{1} << 50);
  const Ledger ledger(recording);
  CHECK(ledger.at(kNever).allocated == Bytes{1} << 62);
  CHECK(ledger.at(kNever).reserved == Bytes{1} << 62);
}

TEST_CASE("only the recording's own device counts") {
  Recording recording = on_gpu();
  alloc(recording, 1, 512, Category::kWeights);
  const MemEvent host{
      .storage = 2, .requested = 4096, .block = 4096, .kind = EventKind::kAlloc, .device = DeviceKind::kHost};
  recording.append(std::span(&host, 1));
  const Ledger ledger(recording);
  CHECK(ledger.size() == 2);
  CHECK(ledger.at(1).allocated == 512);
}

TEST_CASE("an empty recording has empty totals") {
  const Recording recording;
  Ledger ledger(recording);
  ledger.update();
  CHECK(ledger.size() == 0);
  CHECK(ledger.at(0).allocated == 0);
  CHECK(ledger.peak().totals.allocated == 0);
  CHECK(ledger.alive(0).empty());
  CHECK(ledger.first_mismatch() == kNever);
}

TEST_CASE("an empty range has the totals before it") {
  Recording recording = on_gpu();
  alloc(recording, 1, 512, Category::kWeights);
  alloc(recording, 2, 512, Category::kWeights);
  const Ledger ledger(recording);
  CHECK(ledger.extremes(1, 1).high.allocated == 512);
  CHECK(ledger.extremes(1, 1).high_event == 0);
  CHECK(ledger.extremes(0, 0).high.allocated == 0);
  CHECK(ledger.peak(5, 9).totals.allocated == 1024);
}

TEST_CASE("the ledger agrees with the allocator's totals, or names the first mismatch") {
  for (const bool gpu : {false, true}) {
    Recording recording = made_recording({.device = gpu ? DeviceKind::kGpu : DeviceKind::kCpu});
    CHECK(Ledger(recording).first_mismatch() == kNever);
    std::vector<MemEvent> events = recording.events();
    events[100].allocator_allocated += 1;
    Recording wrong(recording.info());
    wrong.append(events);
    CHECK(Ledger(wrong).first_mismatch() == 100);
    if (!gpu) continue;
    events[100].allocator_allocated -= 1;
    events[90].allocator_reserved += 1;
    Recording wrong_reserved(recording.info());
    wrong_reserved.append(events);
    CHECK(Ledger(wrong_reserved).first_mismatch() == 90);
  }
}

TEST_CASE("the hand-made run has the peak that follows from its shapes") {
  // Cross entropy in step 1: weights 64 + 2 x 196.5 KiB, twice that as optimizer state, RoPE's table 16 KiB, tokens
  // 4 KiB, three [B, T, H] of the stream, five [B, T, H] and three [B, T, F] in each of two layers, the logits twice.
  const Recording recording = made_recording();
  const Ledger ledger(recording);
  const Bytes weights = kMadeEmbedding + 2 * kMadeLayer;
  const Bytes activations = 3 * kMadeHidden + 2 * (5 * kMadeHidden + 3 * kMadeFeedForward);
  const Peak peak = ledger.peak();
  CHECK(of(peak.totals, Category::kWeights) == weights);
  CHECK(of(peak.totals, Category::kOptimizerState) == 2 * weights);
  CHECK(of(peak.totals, Category::kActivations) == activations);
  CHECK(of(peak.totals, Category::kLogits) == 2 * kMadeLogits);
  CHECK(of(peak.totals, Category::kOther) == 16 * kKiB + 4 * kKiB);
  CHECK(of(peak.totals, Category::kGradients) == 0);
  CHECK(peak.totals.allocated ==
        std::accumulate(peak.totals.by_category.begin(), peak.totals.by_category.end(), Bytes{0}));
  CHECK(recording.op_name(recording.events()[peak.event].op) == "cross_entropy");
}

TEST_CASE("live blocks add up to the allocated bytes at every event") {
  Recording recording = on_gpu();
  recording.append(random_events(21, 3'000));
  const Ledger ledger(recording);
  for (std::uint64_t event = 0; event < ledger.size(); event += 7) {
    Bytes blocks = 0, rows = 0;
    std::uint32_t count = 0;
    Bytes before = std::numeric_limits<Bytes>::max();
    ByCategory by_category{};
    const std::vector<const Storage*> alive = ledger.alive(event);
    for (const Storage* storage : alive) {
      CHECK(storage->block <= before);
      before = storage->block;
      blocks += storage->block;
    }
    before = std::numeric_limits<Bytes>::max();
    for (const AliveRow& row : ledger.alive_rows(event)) {
      CHECK(row.bytes <= before);
      before = row.bytes;
      rows += row.bytes;
      count += row.blocks;
      by_category[static_cast<std::size_t>(row.category)] += row.bytes;
    }
    const Totals totals = ledger.at(event);
    REQUIRE(blocks == totals.allocated);
    REQUIRE(rows == totals.allocated);
    REQUIRE(count == alive.size());
    REQUIRE(by_category == totals.by_category);
  }
}

TEST_CASE("rows of live blocks name operator and layers") {
  const Recording recording = made_recording();
  const Ledger ledger(recording);
  bool found = false;
  for (const AliveRow& row : ledger.alive_rows(ledger.peak().event)) {
    if (recording.op_name(row.op) != "mlp.gate_proj") continue;
    found = true;
    CHECK(row.category == Category::kActivations);
    CHECK(row.first_layer == 0);
    CHECK(row.last_layer == 1);
    CHECK(row.blocks == 2);
    CHECK(row.bytes == 2 * kMadeFeedForward);
  }
  CHECK(found);
  const AliveRow first = ledger.alive_rows(ledger.peak().event).front();
  CHECK(first.bytes == 2 * kMadeFeedForward);
}

TEST_CASE("storage numbers chosen to collide cost no more than others") {
  // std::unordered_map has a prime number of buckets and the identity as hash; multiples of that prime share one
  // bucket.
  constexpr std::size_t kCount = 60'000;
  std::unordered_map<std::uint64_t, int> table;
  for (std::size_t i = 0; i < kCount; ++i) table.emplace(i, 0);
  const double plain = seconds_of_ledger(kCount, 1);
  CHECK(seconds_of_ledger(kCount, table.bucket_count()) < 0.2 + 10 * plain);
}
