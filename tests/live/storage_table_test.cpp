// Address → storage, compared with std::map.
#include "demos/engine/live/probes/storage_table.h"

#include <map>
#include <random>

#include "tests/support/catch.h"

using headroom::live::LiveStorage;
using headroom::live::StorageTable;
using headroom::record::Category;

TEST_CASE("the table agrees with a map through growth, collisions and erasures") {
  StorageTable table;
  std::map<std::uintptr_t, std::uint64_t> reference;
  std::mt19937_64 random(1);
  bool agree = true;
  for (std::uint64_t id = 1; id < 200'000; ++id) {
    const std::uintptr_t address = 64 * (1 + random() % 20'000);
    if (random() % 2 == 0) {
      table.insert({.address = address, .id = id, .block = 64});
      reference[address] = id;
    } else {
      const auto found = reference.find(address);
      const LiveStorage erased = table.erase(address);
      agree = agree && (found == reference.end() ? erased.address == 0 : erased.id == found->second);
      if (found != reference.end()) reference.erase(found);
    }
  }
  CHECK(agree);
  REQUIRE(table.size() == reference.size());
  for (const auto& [address, id] : reference) {
    const LiveStorage* found = table.find(address);
    REQUIRE(found != nullptr);
    CHECK(found->id == id);
  }
  CHECK(table.by_category()[static_cast<std::size_t>(Category::kOther)] ==
        64 * static_cast<std::int64_t>(reference.size()));
}

TEST_CASE("the table sums by category and lists by age") {
  StorageTable table;
  table.insert({.address = 640, .id = 7, .requested = 5, .block = 8, .category = Category::kWeights});
  table.insert({.address = 128, .id = 3, .requested = 6, .block = 16, .category = Category::kLogits});
  table.insert({.address = 192, .id = 5, .requested = 7, .block = 32, .category = Category::kWeights});
  CHECK(table.by_category()[static_cast<std::size_t>(Category::kWeights)] == 40);
  CHECK(table.by_category()[static_cast<std::size_t>(Category::kLogits)] == 16);
  const auto by_age = table.in_order_of_birth();
  REQUIRE(by_age.size() == 3);
  CHECK(by_age[0].id == 3);
  CHECK(by_age[1].id == 5);
  CHECK(by_age[2].id == 7);
  CHECK(table.find(64) == nullptr);
  CHECK(table.erase(64).address == 0);
  table.clear();
  CHECK(table.size() == 0);
  CHECK(table.find(640) == nullptr);
}
