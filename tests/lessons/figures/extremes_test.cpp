// Every figure at the defaults and extremes of its schema, on all kinds of runs.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/llama_step.h"
#include "tests/support/made_bench.h"
#include "tests/support/made_recording.h"
#include "tests/support/made_sweep.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::FigureData;

namespace {

// The default, each choice, both ends of ranges, on and off; each with the parameter that it needs.
std::vector<record::Params> variants(record::Schema schema) {
  std::vector<record::Params> all{record::Params(schema)};
  for (const record::ParamSpec& spec : schema) {
    std::vector<std::string> values;
    for (const record::Choice& choice : spec.choices) values.emplace_back(choice.key);
    if (spec.kind == record::ParamKind::kInteger || spec.kind == record::ParamKind::kBytes) {
      values = {std::to_string(static_cast<std::int64_t>(spec.minimum)),
                std::to_string(static_cast<std::int64_t>(spec.maximum))};
    }
    if (spec.kind == record::ParamKind::kReal)
      values = {fmt::format("{}", spec.minimum), fmt::format("{}", spec.maximum)};
    REQUIRE_FALSE(values.empty());  // new kinds need values here
    for (const std::string& value : values) {
      record::Params params(schema);
      if (!spec.needs_key.empty()) REQUIRE(params.set(spec.needs_key, spec.needs_value).ok());
      REQUIRE(params.set(spec.key, std::string_view(value)).ok());
      all.push_back(std::move(params));
    }
  }
  return all;
}

bool is_range(const lessons::Axis& axis) {
  return std::isfinite(axis.low) && std::isfinite(axis.high) && axis.low < axis.high;
}

void check(const FigureData& data) {
  CHECK_FALSE(data.head.provenance.empty());
  if (!data.head.empty_reason.empty()) {
    CHECK(data.head.empty_reason.back() == '.');
    return;
  }
  const lessons::Axes axes = lessons::axes_of(data);
  CHECK(is_range(axes.x));
  if (axes.x.unit != lessons::AxisUnit::kBytes) CHECK(is_range(axes.y));
  CHECK(!data.panels.empty());
  const lessons::Timeline& timeline = tests::timeline_of(data);
  for (std::size_t i = 0; i < timeline.stack.size(); ++i) {
    const lessons::StackColumn& column = timeline.stack[i];
    REQUIRE(column.begin < column.end);
    REQUIRE((i == 0 || column.begin >= timeline.stack[i - 1].begin));
    const auto total = std::accumulate(column.high.begin(), column.high.end(), record::Bytes{0});
    REQUIRE(static_cast<double>(total) <= timeline.y.high);
    REQUIRE(std::accumulate(column.low.begin(), column.low.end(), record::Bytes{0}) <= total);
  }
  for (const lessons::StepLine& line : timeline.lines) {
    REQUIRE(line.x.size() == line.y.size());
    REQUIRE(std::is_sorted(line.x.begin(), line.x.end()));
    REQUIRE(line.x.back() <= line.end);
  }
  for (const lessons::Bar& bar : tests::bars_of(data)) CHECK((bar.value > 0 && bar.value <= axes.x.high));
}

}  // namespace

TEST_CASE("every figure is built at the defaults and the extremes of its schema") {
  std::vector<record::Recording> runs;
  runs.emplace_back();
  for (const record::DeviceKind device : {record::DeviceKind::kCpu, record::DeviceKind::kGpu}) {
    runs.push_back(tests::made_recording({.device = device}));
    runs.push_back(tests::made_recording({.device = device, .out_of_memory = true}));
    runs.push_back(tests::made_recording({.device = device, .finished = false}));
  }
  runs.push_back(tests::llama_recording({.steps = 1, .cap = record::kGiB}));  // too small for one step
  for (const record::DeviceKind device : {record::DeviceKind::kCpu, record::DeviceKind::kGpu})
    runs.push_back(tests::made_bench({.device = device, .report = true}));
  runs.push_back(tests::made_bench({.finished = false}));
  for (const bool finished : {true, false}) {
    runs.push_back(tests::made_report_sweep({.finished = finished}));
    runs.push_back(tests::made_report_sweep({.llama_1b = false, .finished = finished}));
    runs.push_back(tests::made_ladder({.finished = finished}));
    for (const int series : {1, 2}) runs.push_back(tests::made_batch_sweep(series, {.finished = finished}));
  }
  for (const std::uint64_t events : {1, 400, 1300})
    runs.push_back(tests::llama_recording({.source = record::Source::kLive, .stop_after = events}));
  int shown = 0;
  for (const lessons::Figure* figure : lessons::figures()) {
    for (const record::Params& params : variants(figure->schema)) {
      for (std::size_t i = 0; i < runs.size(); ++i) {
        std::string what = std::string(figure->id) + " of run " + std::to_string(i);
        for (const auto& [key, value] : params.to_map()) what += ", " + key + "=" + value;
        INFO(what);
        const record::Ledger ledger(runs[i]);
        const FigureData data = figure->build({.run = &ledger, .params = &params});
        check(data);
        shown += data.head.empty_reason.empty();
      }
    }
  }
  CHECK(shown > 60);
}
