// The map of fitting steps and the two recipes: closed-form numbers, and the fewest switches.
#include <algorithm>
#include <cmath>
#include <string>

#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "demos/experiments/switch_search.h"
#include "demos/predict/forms/form_recording.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/measurements/tables.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using predict::Verdict;

namespace {

record::Params fitting_settings(const std::vector<std::string>& settings) {
  record::Params params(experiments::training_step().schema);
  for (const char* setting : {"device=cuda", "model=llama-3.2-1b", "precision=bf16", "seq=1024"})
    REQUIRE(params.set_assignment(setting).ok());
  for (const std::string& setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return params;
}

// `card`: a card's name; if empty, the settings' limit applies.
lessons::FigureData build_fitting(const char* id, const record::Params& settings, const char* card = "",
                                  const record::Ledger* predicted = nullptr) {
  const lessons::Figure& figure = *lessons::find_figure(id);
  const record::Params params(figure.schema);
  lessons::FigureInput input{.params = &params, .settings = &settings, .predicted = predicted};
  if (const predict::Card* const found = lessons::card_named(card))
    input.view.card = {found->name, *found->memory, predict::process_bytes(found->name)};
  return figure.build(input);
}

struct FittingCell {
  double left = 0;
  Verdict verdict{};
};
FittingCell cell(const lessons::HeatMap& map, const std::string& row, const std::string& column) {
  const auto r = static_cast<std::size_t>(std::ranges::find(map.rows, row) - map.rows.begin());
  const auto c = static_cast<std::size_t>(std::ranges::find(map.columns, column) - map.columns.begin());
  REQUIRE(r < map.rows.size());
  REQUIRE(c < map.columns.size());
  return {map.cells[r][c], map.states[r][c]};
}

std::string cell_of(const lessons::TableRow& row, std::size_t column) { return row.cells.at(column); }

}  // namespace

TEST_CASE("the map has what is left of the card by closed form, with the settings' step among the others") {
  const auto data = build_fitting("fit_map", fitting_settings({"batch=5", "cap=24GiB"}));
  INFO(data.head.empty_reason);
  const auto& map = tests::panel_in<lessons::HeatMap>(data);
  const record::Bytes peak = experiments::closed_form_peak(fitting_settings({"batch=5", "cap=24GiB"}));
  const FittingCell own = cell(map, "1,024 tokens", "5");
  CHECK(own.left == Approx(24 - static_cast<double>(peak) / static_cast<double>(record::kGiB)));
  CHECK(own.verdict == Verdict::kFits);
  REQUIRE(map.chosen);
  CHECK(map.columns.at(map.chosen->column) == "5");
  CHECK(map.rows.at(map.chosen->row) == "1,024 tokens");
  CHECK(map.title == "On 24 GiB: up to 5 sequences of 1,024 tokens, by closed form");
  // Only the number of tokens counts, not its split into sequences; more tokens leave less room.
  CHECK(cell(map, "2,048 tokens", "2").left == Approx(cell(map, "1,024 tokens", "4").left).margin(0.01));
  for (const auto& row : map.cells) CHECK(std::ranges::is_sorted(row, std::greater{}));
  CHECK(cell(map, "1,024 tokens", "8").verdict == Verdict::kDoesNotFit);
}

TEST_CASE("on a card the process takes its part, and a margin is left") {
  const auto of_limit = build_fitting("fit_map", fitting_settings({"batch=4"}));
  const auto of_card = build_fitting("fit_map", fitting_settings({"batch=4"}), "rtx_4090");
  const auto &limit = tests::panel_in<lessons::HeatMap>(of_limit), &card = tests::panel_in<lessons::HeatMap>(of_card);
  // 24,576 against 24,564 MiB, of which the process takes 716.8 MiB.
  CHECK(cell(limit, "1,024 tokens", "4").left - cell(card, "1,024 tokens", "4").left ==
        Approx((24'576 - 24'564 + 716.8) / 1024).margin(0.001));
  CHECK(card.title.starts_with("On GeForce RTX 4090: up to 4 sequences"));
}

TEST_CASE("all cells are by closed form, that of the settings too where its step was predicted") {
  const record::Params settings = fitting_settings({"batch=4"});
  record::Recording run(record::RunInfo{.demo = "train_step",
                                        .params = settings.to_map(),
                                        .device = record::DeviceKind::kGpu,
                                        .source = record::Source::kPredicted});
  run.append(record::MemEvent{
      .storage = 1, .requested = 10 * record::kGiB, .block = 10 * record::kGiB, .device = record::DeviceKind::kGpu});
  run.set_outcome({.kind = record::OutcomeKind::kCompleted});
  const record::Ledger predicted(run);
  const auto data = build_fitting("fit_map", settings, "", &predicted);
  const auto& map = tests::panel_in<lessons::HeatMap>(data);
  CHECK(map.cells == tests::panel_in<lessons::HeatMap>(build_fitting("fit_map", settings)).cells);
  CHECK(map.tips == tests::panel_in<lessons::HeatMap>(build_fitting("fit_map", settings)).tips);
  CHECK(map.high_text.find("closed form") != std::string::npos);
}

TEST_CASE("each validated run is a mark, on the line where it was predicted to the byte") {
  const lessons::Figure& figure = *lessons::find_figure("fit_validation");
  std::size_t marks[3] = {};
  for (const auto& [gpu, place] : {std::pair("both", 0), std::pair("H200", 1), std::pair("H100", 2)}) {
    record::Params params(figure.schema);
    REQUIRE(params.set("gpu", gpu));
    lessons::FigureInput input;
    input.params = &params;
    const lessons::FigureData data = figure.build(input);
    const auto& chart = std::get<lessons::Chart>(data.panels.front());
    for (const lessons::ChartSeries& series : chart.series) marks[place] += series.points.size();
    const auto on_line = [](const lessons::ChartPoint& point) {
      return std::abs(point.x * double{record::kGiB} - point.y) < 1;
    };
    CHECK(std::ranges::all_of(chart.series.front().points, on_line));
    if (chart.series.size() > 1) CHECK(std::ranges::none_of(chart.series.back().points, on_line));
  }
  CHECK(marks[0] == lessons::validated_runs().size());
  CHECK(marks[0] == marks[1] + marks[2]);
  CHECK(marks[2] > 50);
}

TEST_CASE("settings that no run takes are refused by the map and the recipes") {
  const record::Params settings = fitting_settings({"optimizer_in_backward=on", "accumulate=2"});
  for (const char* id : {"fit_map", "recipe_steps"})
    CHECK(build_fitting(id, settings).head.empty_reason.find("accumulate") != std::string::npos);
}

TEST_CASE("the fewest switches are as many as they must be, and the report's order is at least as long") {
  const record::Params settings = fitting_settings({"precision=bf16_mixed", "batch=8"});
  const auto data = build_fitting("recipe_steps", settings, "rtx_4090");
  const auto tables = lessons::panels_of<lessons::Table>(data.panels);
  REQUIRE(tables.size() == 2);
  for (const lessons::Table* table : tables) {
    REQUIRE(table->rows.size() >= 2);
    CHECK(cell_of(table->rows.front(), 2) == "41.28 GiB");
    CHECK(cell_of(table->rows.front(), 3) == "does not fit");
    CHECK(cell_of(table->rows.back(), 3) == "fits");
  }
  const lessons::Table &report = *tables[0], &fewest = *tables[1];
  CHECK(report.rows.size() >= fewest.rows.size());
  REQUIRE(fewest.rows.size() == 3);
  CHECK(fewest.rows[1].name == "1. fused linear cross entropy");
  CHECK(cell_of(fewest.rows[1], 0) == "a little rounding in dW");
  CHECK(fewest.rows[2].name == "2. checkpointing");
  // No single switch is enough.
  const predict::ProcessBytes process = predict::process_bytes("GeForce RTX 4090");
  for (const auto& alone : experiments::switch_sets(settings, {}, 1)) {
    INFO(alone.switches.front()->id);
    CHECK(predict::fit_of_closed_form(alone.bytes, 24'564 * record::kMiB, process, false).verdict != Verdict::kFits);
  }
}

TEST_CASE("what fits as it is needs no recipe, and what cannot fit says so") {
  const auto fits = build_fitting("recipe_steps", fitting_settings({"batch=1"}), "h200");
  CHECK(lessons::panels_of<lessons::Table>(fits.panels)[1]->rows.size() == 1);
  const auto never = build_fitting("recipe_steps", fitting_settings({"model=llama-3-8b", "batch=256", "seq=8192"}));
  CHECK(lessons::panels_of<lessons::Table>(never.panels)[1]->foot.starts_with("Not enough"));
}
