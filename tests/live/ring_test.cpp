// The ring: order, dropping, concurrency.
#include "demos/engine/live/probes/ring.h"

#include <thread>
#include <vector>

#include "tests/support/catch.h"

using headroom::live::EventRing;
using headroom::record::MemEvent;

namespace {

MemEvent numbered(std::uint64_t number) {
  MemEvent event;
  event.storage = number;
  return event;
}

}  // namespace

TEST_CASE("a ring returns events in order, across its seam") {
  EventRing ring(8);
  std::vector<MemEvent> out;
  for (std::uint64_t next = 0; next < 50;) {
    for (int i = 0; i < 5; ++i) REQUIRE(ring.push(numbered(next++)));
    REQUIRE(ring.drain(out, 100) == 5);
  }
  REQUIRE(out.size() == 50);
  for (std::uint64_t i = 0; i < out.size(); ++i) CHECK(out[i].storage == i);
}

TEST_CASE("a full ring drops the newest and counts them") {
  EventRing ring(4);
  for (std::uint64_t i = 0; i < 7; ++i) CHECK(ring.push(numbered(i)) == (i < 4));
  CHECK(ring.dropped() == 3);
  CHECK(ring.waiting() == 4);
  std::vector<MemEvent> out;
  CHECK(ring.drain(out, 2) == 2);
  CHECK(ring.push(numbered(7)));
  ring.drain(out, 10);
  REQUIRE(out.size() == 5);
  CHECK(out[3].storage == 3);
  CHECK(out[4].storage == 7);
}

TEST_CASE("the default ring holds a million events") { CHECK(EventRing::kDefaultCapacity >= 1'000'000); }

TEST_CASE("a concurrent consumer receives every event exactly once") {
  EventRing ring(1024);
  constexpr std::uint64_t kEvents = 500'000;
  std::thread producer([&] {
    for (std::uint64_t i = 0; i < kEvents;) {
      if (ring.push(numbered(i)))
        ++i;
      else
        std::this_thread::yield();
    }
  });
  std::vector<MemEvent> out;
  std::uint64_t expected = 0;
  bool in_order = true;
  while (expected < kEvents) {
    out.clear();
    ring.drain(out, 300);
    for (const MemEvent& event : out) in_order = in_order && event.storage == expected++;
  }
  producer.join();
  CHECK(in_order);
  CHECK(ring.waiting() == 0);
}
