// Techniques' figures on hand-made recordings: gradients by size, 8-bit moments, formulas next to a run, links.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "demos/experiments/demo.h"
#include "demos/predict/step_settings.h"
#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

// 10 numbers in [2^-30, 2^-29), 30 in [2^-20, 2^-19), 60 in [2^-10, 2^-9).
record::Recording counted() {
  record::Recording recording = tests::made_recording();
  record::Histogram gradients{
      .name = "gradients", .step = 2, .low_exponent = -30, .counts = std::vector<std::int64_t>(21)};
  gradients.counts[0] = 10;
  gradients.counts[10] = 30;
  gradients.counts[20] = 60;
  recording.append(gradients);
  gradients.name = "updates";
  recording.append(gradients);
  gradients.name = "updates.lost";
  gradients.counts[20] = 0;
  recording.append(gradients);
  return recording;
}

FigureData built_technique(const char* id, const record::Recording& recording,
                           std::initializer_list<const char*> settings) {
  const Figure* figure = find_figure(id);
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  const record::Ledger ledger(recording);
  return figure->build({.run = &ledger, .params = &params});
}

}  // namespace

TEST_CASE("fp16's window says how much is lost, and a loss scale moves the gradients into it") {
  const record::Recording run = counted();
  const FigureData bare = built_technique("gradient_histogram", run, {});
  REQUIRE(tests::charts_of(bare).size() == 1);
  CHECK(tests::charts_of(bare)[0]->title == "In fp16: 10.0 % become zero, 30.0 % lose digits, 0.0 % become infinite");
  REQUIRE(tests::charts_of(bare)[0]->spans.size() == 4);
  CHECK(tests::charts_of(bare)[0]->spans[2].low == -14);
  CHECK(tests::charts_of(bare)[0]->spans[2].high == 16);
  const FigureData scaled = built_technique("gradient_histogram", run, {"scale=65536"});
  CHECK(tests::charts_of(scaled)[0]->title == "In fp16: 0.0 % become zero, 0.0 % lose digits, 0.0 % become infinite");
  CHECK(tests::charts_of(scaled)[0]->series[0].points[0].x == -13.5);
  const FigureData too_far =
      built_technique("gradient_histogram", run, {"scale=16777216"});  // 2^24: 60 numbers at 2^14, still representable
  CHECK(tests::charts_of(too_far)[0]->title.find("0.0 % become infinite") != std::string::npos);
  CHECK(tests::charts_of(built_technique("gradient_histogram", run, {"format=bf16"}))[0]->title.find(
            "In bf16: 0.0 % become zero") == 0);
}

TEST_CASE("updates that rounding swallowed are counted") {
  const FigureData figure = built_technique("gradient_histogram", counted(), {"numbers=updates"});
  REQUIRE(tests::charts_of(figure).size() == 1);
  CHECK(tests::charts_of(figure)[0]->title == "40.0 % of the updates leave their weight unchanged");
  CHECK(tests::charts_of(figure)[0]->series.size() == 2);
  CHECK_FALSE(built_technique("gradient_histogram", tests::made_recording(), {}).head.empty_reason.empty());
}

TEST_CASE("the map of 8 bits has a row for each way and an empty cell where there are no numbers") {
  record::Recording run = tests::made_recording();
  record::Histogram way{
      .name = "second_moment.dynamic.256", .low_exponent = -6, .counts = {5, 0, 7}, .errors = {0.5, 0, 0.01}};
  run.append(way);
  way.name = "second_moment.linear.256";
  way.errors = {1, 0, 0.02};
  run.append(way);
  const FigureData figure = built_technique("state_error_map", run, {});
  REQUIRE(lessons::panels_of<lessons::HeatMap>(figure.panels).size() == 1);
  const HeatMap& map = *panels_of<HeatMap>(figure.panels)[0];
  REQUIRE(map.rows.size() == 2);
  CHECK(map.rows[0] == "dynamic levels, blocks of 256");
  REQUIRE(map.cells[1].size() == 3);
  CHECK(map.cells[1][0] == Approx(100));
  CHECK(std::isnan(map.cells[1][1]));
  CHECK(map.cells[0][2] == Approx(1));
  CHECK(map.columns == std::vector<std::string>{"−6", "−5", "−4"});
  CHECK_FALSE(built_technique("state_error_map", run, {"moment=first_moment"}).head.empty_reason.empty());
}

TEST_CASE("each moment's formulas are next to what a run of the same settings measured, or to what is predicted") {
  using Columns = std::vector<std::string>;
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  const FigureData alone = find_figure("formula_table")->build({.run = &ledger});
  const Table& table = tests::table_of(alone);
  CHECK(table.columns == Columns{"at the loss", "loss, measured", "end of backward", "end, measured"});
  for (const TableRow& row : table.rows) CHECK(row.cells.size() == table.columns.size());
  const auto named = [&](const char* name) { return *std::ranges::find(table.rows, name, &TableRow::name); };
  CHECK(named("Gradients").cells[0] == "0 B");
  CHECK(named("Sum").note.starts_with("the peak: "));
  CHECK(named("Difference").note == "measured − formula");

  record::Params settings(experiments::find_demo("train_step")->schema);
  REQUIRE(settings.set("batch", "32").ok());
  const FigureData asked = find_figure("formula_table")->build({.run = &ledger, .settings = &settings});
  CHECK(tests::table_of(asked).columns == Columns{"at the loss", "end of backward"});  // the run has other settings
  CHECK(tests::table_of(asked).foot.find("other settings") != std::string::npos);
  const FigureData predicted =
      find_figure("formula_table")->build({.run = &ledger, .settings = &settings, .predicted = &ledger});
  CHECK(tests::table_of(predicted).columns ==
        Columns{"at the loss", "loss, predicted", "end of backward", "end, predicted"});

  record::Recording form = tests::made_recording();
  record::RunInfo info = form.info();
  info.source = record::Source::kFormula;
  form.set_info(info);
  const record::Ledger stands_in(form);
  CHECK(tests::table_of(find_figure("formula_table")->build({.settings = &settings, .predicted = &stands_in}))
            .columns.size() == 2);  // not compared with itself
}

TEST_CASE(
    "GPT-2 XL's sequence crosses the card's line at the loss, where 14 of 16 bytes are, and pure bf16 stays below") {
  const FigureData figure = find_figure("static_bytes")->build({});
  const Chart& chart = *tests::charts_of(figure).at(0);
  CHECK(chart.categories ==
        std::vector<std::string>{"mixed, loss", "mixed, end", "fp32, loss", "fp32, end", "bf16, loss", "bf16, end"});
  const auto sum = [&](std::size_t place) {
    double bytes = 0;
    for (const ChartSeries& series : chart.series) bytes += series.points.at(place).y;
    return bytes;
  };
  const double activations = 114.0 * 1'024 * 1'600 * 48, card = chart.references.at(0).y.at(0);
  CHECK(sum(0) == 14 * 1.5e9 + activations);
  CHECK(sum(1) == 16 * 1.5e9);
  CHECK(sum(3) == 16 * 1.5e9);
  CHECK(sum(4) == 6 * 1.5e9 + activations);
  CHECK(sum(5) == 8 * 1.5e9);
  CHECK(sum(0) > card);
  CHECK(sum(4) < card);
  for (std::size_t place = 0; place < chart.categories.size(); ++place) CHECK(chart.y.high > sum(place));
  CHECK(tests::table_of(figure).rows.at(0).cells.at(0) == "16 B");

  record::Params none(find_figure("static_bytes")->schema);
  REQUIRE(none.set("tokens", "0").ok());
  const FigureData state = find_figure("static_bytes")->build({.params = &none});
  CHECK(tests::charts_of(state).at(0)->series.back().points.at(0).y == 0);
}

TEST_CASE("a run from a checkpoint is shown with the shape that it took") {
  record::Recording run = tests::made_recording();
  record::RunInfo info = run.info();
  const llama::Config taken{.id = "custom",
                            .hidden_size = 256,
                            .intermediate_size = 704,
                            .num_layers = 5,
                            .num_heads = 8,
                            .num_kv_heads = 2,
                            .head_dim = 32,
                            .vocab_size = 4096,
                            .tie_word_embeddings = false};
  info.params = record::Params(experiments::find_demo("train_step")->schema).to_map();
  info.params["model"] = "custom";
  info.params["weights"] = "/checkpoint";
  info.provenance.merge(predict::shape_facts(taken));
  run.set_info(info);
  const record::Ledger ledger(run);
  record::Params settings = record::Params::known_of(experiments::find_demo("train_step")->schema, info.params);
  for (const record::Params* asked : {static_cast<const record::Params*>(nullptr), &std::as_const(settings)}) {
    const FigureData figure = find_figure("formula_table")->build({.run = &ledger, .settings = asked});
    CHECK(figure.head.provenance_line.starts_with("Custom, 5 layers, hidden size 256,"));
    CHECK(figure.head.provenance.at("model.num_kv_heads") == "2");
    CHECK(figure.head.provenance.count("set.num_layers") == 0);  // settings of an unused shape
    CHECK(figure.head.provenance.count("setting.num_layers") == 0);
    const Table* table = panel_of<Table>(figure);
    REQUIRE(table != nullptr);
    // 4 P: two tables of V · H, five layers, the final norm.
    const std::int64_t layer = 2 * 256 * 256 + 2 * 64 * 256 + 3 * 256 * 704 + 2 * 256;
    CHECK(table->rows.front().cells.front() == record::format_bytes(4 * (2 * 4096 * 256 + 5 * layer + 256)));
    CHECK(table->columns.at(1) == "loss, measured");  // the run has these settings
  }
}

TEST_CASE("the links of a machine are bars from the widest on, with slow ways beside them") {
  record::RunInfo info;
  info.demo = "bandwidth";
  info.provenance = {{"device", "Example GPU"}};
  record::Recording run;
  run.set_info(info);
  const auto add = [&](const char* variant, const char* storage, double nanoseconds) {
    record::Measurement row{.panel = "bandwidth", .variant = variant, .timing = "wall", .storage = storage};
    row.median = row.low = row.high = nanoseconds;
    row.samples = 5;
    row.bytes = 1'000'000'000;
    run.append(row);
  };
  add("to_device", "pageable", 1e8);  // 10 GB/s
  add("to_device", "locked", 2e7);    // 50 GB/s
  add("device_copy", "device", 5e5);  // 2 TB/s
  const FigureData figure = built_technique("bandwidth_ladder", run, {});
  REQUIRE(tests::charts_of(figure).size() == 1);
  const Chart& chart = *tests::charts_of(figure)[0];
  CHECK(chart.categories == std::vector<std::string>{"GPU copy", "host to GPU"});
  REQUIRE(chart.series.size() == 2);
  CHECK(chart.series[0].points[0].y == Approx(2e12));
  CHECK(chart.series[0].points[1].y == Approx(5e10));
  CHECK(chart.series[1].points[0].y == Approx(1e10));
  CHECK(chart.series[1].points[0].x == 1);

  record::Recording faster;  // used as run A, whose bars extend the axis
  faster.set_info(info);
  record::Measurement row{.panel = "bandwidth", .variant = "device_copy", .timing = "wall", .storage = "device"};
  row.median = row.low = row.high = 1e4;  // 100 TB/s
  row.bytes = 1'000'000'000;
  faster.append(row);
  const record::Ledger now(run), before(faster);
  const FigureData beside = find_figure("bandwidth_ladder")->build({.run = &now, .baseline = &before});
  REQUIRE(tests::charts_of(beside)[0]->series.size() == 3);
  CHECK(tests::charts_of(beside)[0]->series[2].points[0].y == Approx(1e14));
  CHECK(tests::charts_of(beside)[0]->y.high > 1e14);
}
