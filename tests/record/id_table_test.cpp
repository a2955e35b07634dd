// The id table agrees with a map, for consecutive and for chosen ids.
#include "demos/record/file/id_table.h"

#include <map>
#include <random>

#include "tests/support/catch.h"

using headroom::record::IdTable;

TEST_CASE("a table of ids agrees with a map for ascending, repeated and chosen ids") {
  std::mt19937_64 random(3);
  IdTable table;
  std::map<std::uint64_t, std::uint32_t> map;
  std::uint64_t counted = 0;
  for (std::uint32_t number = 0; number < 50'000; ++number) {
    const std::uint64_t kinds[] = {counted++, random() % 100'000, random(), ~std::uint64_t{0} - random() % 100};
    const std::uint64_t id = kinds[random() % 4];
    if (map.contains(id)) {
      if (random() % 2 == 0) continue;
      table.erase(id);
      map.erase(id);
    } else {
      table.set(id, number);
      map.emplace(id, number);
    }
    if (number % 16 == 0) {
      const std::uint64_t asked = random() % 100'000;
      CHECK(table.find(asked).has_value() == map.contains(asked));
    }
  }
  REQUIRE(map.size() > 20'000);
  std::size_t same = 0;
  for (const auto& [id, number] : map) same += table.find(id) == number ? 1 : 0;
  CHECK(same == map.size());
}
