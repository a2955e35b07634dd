// Tables that are compiled in.
#include "lessons/measurements/tables.h"

#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("every row of the tables is read") {
  CHECK(lessons::published_kernels().size() == 48);
  CHECK(lessons::published_runs().size() == 65);
  CHECK(lessons::published_trainings().size() == 6);
  CHECK(lessons::published_steps().size() == 4);
  CHECK(lessons::predicted_steps().size() == 16);
  CHECK(lessons::validated_runs().size() == 170 + 58 + 134 + 34);
  CHECK(lessons::published_trainings().back().peak == record::Bytes{30'000} * record::kMiB);
  CHECK(lessons::published_runs().back().strategy == "liger_all");
}
