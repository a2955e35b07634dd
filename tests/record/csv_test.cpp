// CSV tables.
#include "demos/record/file/csv.h"

#include <stdexcept>

#include "tests/support/catch.h"

using namespace headroom;
using Fields = std::vector<std::string>;

TEST_CASE("in quotes, a comma is text and two quotes are one") {
  CHECK(record::csv_fields(R"(a,"b, c","say ""d""",)") == Fields{"a", "b, c", R"(say "d")", ""});
}

TEST_CASE("rows of a table are read by column, without comments and empty lines") {
  const auto rows = record::csv_rows("# cards\nname,memory,rate\n\none,24,1.5\n# more\ntwo,32,\n", "cards.csv");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].text("name") == "one");
  CHECK(rows[0].whole("memory") == 24);
  CHECK(rows[0].number("rate") == 1.5);
  CHECK_FALSE(rows[1].number_if_known("rate"));
}

TEST_CASE("a wrong table is a bug of this program") {
  const auto row = record::csv_rows("name,memory\none,-24\n", "cards.csv").front();
  CHECK_THROWS_AS(row.text("rate"), std::logic_error);
  CHECK_THROWS_AS(row.whole("name"), std::logic_error);
  CHECK_THROWS_AS(row.whole("memory"), std::logic_error);
  CHECK_THROWS_AS(record::csv_rows("name,memory\none\n", "cards.csv"), std::logic_error);
}
