// Compares two recordings.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "demos/record/recording.h"
#include "tests/support/catch.h"

namespace headroom::tests {

using namespace headroom::record;

inline bool same_metrics(const std::vector<MetricSample>& a, const std::vector<MetricSample>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const MetricSample& x, const MetricSample& y) {
    const bool same_value = x.value == y.value || (std::isnan(x.value) && std::isnan(y.value));
    return same_value && x.time == y.time && x.step == y.step && x.kind == y.kind;
  });
}

inline void check_same(const Recording& a, const Recording& b) {
  CHECK(a.info().demo == b.info().demo);
  CHECK(a.info().params == b.info().params);
  CHECK(a.info().provenance == b.info().provenance);
  CHECK(a.info().device == b.info().device);
  CHECK(a.info().source == b.info().source);
  CHECK(a.info().cap == b.info().cap);
  CHECK(a.info().device_memory == b.info().device_memory);
  CHECK(a.info().rank == b.info().rank);
  CHECK(a.info().ranks == b.info().ranks);
  CHECK(a.info().clock_start == b.info().clock_start);
  for_each_row_kind([&](const auto& kind) {
    using Row = RowOf<decltype(kind)>;
    INFO(kind.name);
    if constexpr (std::is_same_v<Row, MetricSample>)
      CHECK(same_metrics(a.metrics(), b.metrics()));
    else
      CHECK((a.rows<Row>() == b.rows<Row>()));
  });
  CHECK((a.kernel_report() == b.kernel_report()));
  for (std::uint16_t op = 0; op < 40; ++op) CHECK(a.op_name(op) == b.op_name(op));
  CHECK(a.dropped_events() == b.dropped_events());
  REQUIRE(a.outcome().has_value() == b.outcome().has_value());
  if (!a.outcome()) return;
  CHECK(a.outcome()->kind == b.outcome()->kind);
  CHECK(a.outcome()->message == b.outcome()->message);
  REQUIRE(a.outcome()->out_of_memory.has_value() == b.outcome()->out_of_memory.has_value());
  if (!a.outcome()->out_of_memory) return;
  const OutOfMemoryFacts &x = *a.outcome()->out_of_memory, &y = *b.outcome()->out_of_memory;
  CHECK(x.requested == y.requested);
  CHECK(x.allocated == y.allocated);
  CHECK(x.reserved == y.reserved);
  CHECK(x.limit == y.limit);
  CHECK(x.op == y.op);
  CHECK(x.phase == y.phase);
  CHECK(x.layer == y.layer);
  CHECK(x.by_category == y.by_category);
}

}  // namespace headroom::tests
