// Kept tensors: compared with the stored runs, and by batch and sequence.
#include <filesystem>
#include <string>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/step_bytes.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/steps/kept_measured.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

record::Params train_step(std::initializer_list<std::string_view> assignments) {
  record::Params params(experiments::training_step().schema);
  for (const std::string_view each : assignments) REQUIRE(params.set_assignment(each).ok());
  return params;
}

FigureData terms(const FigureInput& input, std::string_view bars = "bars=tensors") {
  const Figure* const figure = find_figure("activation_terms");
  record::Params params(figure->schema);
  REQUIRE(params.set_assignment(bars).ok());
  FigureInput with = input;
  with.params = &params;
  return figure->build(with);
}

}  // namespace

TEST_CASE("each tensor that the closed form lists is in the stored runs, of the same bytes") {
  for (const char* name :
       {"llama-3.2-1b_h200_b4", "tiny_cpu", "technique_checkpointing_selective_h200", "technique_fp8_h200",
        "technique_checkpointing_selective_cpu", "technique_bf16_mixed_cpu", "llama-3.2-1b_h200_fused_kernels"}) {
    INFO(name);
    const record::Recording run = tests::stored(name);
    const record::Ledger ledger(run);
    const auto step = predict::settings_of(run.info(), experiments::training_step().schema);
    const auto tensors = predict::kept_tensors(step);
    const auto measured = kept_measured(ledger, tensors, step.model.num_layers);
    REQUIRE(measured);
    record::Bytes sum = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      INFO(tensors[i].name());
      CHECK(measured->tensors[i] == tensors[i].bytes);
      sum += measured->tensors[i];
    }
    CHECK(sum == measured->layer);
  }
}

TEST_CASE("a layer of the 1B is 17 bars, and all layers are 4,096, 2,048 and 648 MiB of 6,857") {
  const record::Recording run = tests::stored("llama-3.2-1b_h200_b4");
  const record::Ledger ledger(run);
  const FigureData figure = terms({.run = &ledger});
  REQUIRE(tests::bars_of(figure).size() == 17);
  CHECK(tests::panel_in<Bars>(figure).total_label == "sum per layer 424.53 MiB, 108,680 B per token");
  CHECK(tests::bars_of(figure).back().label == "Product");
  CHECK(tests::bars_of(figure).back().note == "2 · F · B · T, measured 64.00 MiB");
  const FigureData by_part = terms({.run = &ledger}, "bars=parts");
  const std::vector<Bar>& parts = tests::bars_of(by_part);
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].value_text + ", " + parts[0].note == "4,096.0 MiB, 60 %, measured 4,096.0 MiB");
  CHECK(parts[1].value_text + ", " + parts[1].note == "2,048.0 MiB, 30 %, measured 2,048.0 MiB");
  CHECK(parts[2].value_text + ", " + parts[2].note == "648.0 MiB, 9 %, measured 648.0 MiB");
  CHECK(parts[3].note == "1 %, measured 64.5 MiB");
  CHECK(tests::panel_in<Bars>(by_part).total_label ==
        "sum of 16 layers and the final norm, formula 6,856.5 MiB, measured 6,856.5 MiB");
}

TEST_CASE("other settings than the run's are the closed form alone, and follow the kernels") {
  const record::Recording run = tests::stored("llama-3.2-1b_h200_b4");
  const record::Ledger ledger(run);
  const record::Params fused = train_step(
      {"model=llama-3.2-1b", "batch=4", "seq=1024", "precision=bf16", "fused.rms_norm=on", "fused.swiglu=on"});
  const FigureData figure = terms({.run = &ledger, .settings = &fused});
  const FigureData by_part = terms({.run = &ledger, .settings = &fused}, "bars=parts");
  CHECK(tests::bars_of(by_part)[0].note == "63 %");
  CHECK(tests::panel_in<Bars>(figure).total_label == "sum per layer 200.53 MiB, 51,336 B per token");
  const record::Params eager =
      train_step({"model=llama-3.2-1b", "batch=4", "seq=1024", "precision=bf16", "attention=eager"});
  record::Bytes scores = 0;
  const FigureData composed = terms({.settings = &eager});
  for (const Bar& bar : tests::bars_of(composed))
    if (bar.label.starts_with("Scores")) scores += static_cast<record::Bytes>(bar.value);
  CHECK(scores == 805'306'368);
  const record::Params fp32 = train_step({"model=llama-3.2-1b", "batch=4", "seq=1024", "precision=fp32"});
  CHECK(tests::panel_in<Bars>(terms({.settings = &fp32})).total_label ==
        "sum per layer 784.53 MiB, 200,840 B per token");
}

TEST_CASE("while the question is open the tensors have formulas and no bytes") {
  const record::Params settings = train_step({"model=llama-3.2-1b", "precision=bf16"});
  const FigureData figure = terms({.settings = &settings, .view = {.hidden = true}});
  CHECK(tests::bars_of(figure).empty());
  const Table& table = tests::table_of(figure);
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows.front().name == "Attention norm: input in fp32, normed rows, result, 1/RMS");
  CHECK(table.rows.back().name == "MLP: gate, up, gate after SiLU, product");
  CHECK(table.rows.back().note == "2 · F + 2 · F + 2 · F + 2 · F");
}

namespace {

FigureData over(const FigureInput& input, std::initializer_list<std::string_view> own = {}) {
  const Figure* const figure = find_figure("memory_over");
  record::Params params(figure->schema);
  for (const std::string_view each : own) REQUIRE(params.set_assignment(each).ok());
  FigureInput with = input;
  with.params = &params;
  return figure->build(with);
}

record::Params mixed() { return train_step({"model=llama-3.2-1b", "batch=4", "seq=1024", "precision=bf16_mixed"}); }

double height_at(const Chart& chart, double x) {
  double sum = 0;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points)
      if (!series.over && point.x == x) sum += point.y;
  return sum;
}

const ChartSeries* series_named(const Chart& chart, std::string_view label) {
  for (const ChartSeries& series : chart.series)
    if (series.label == label) return &series;
  return nullptr;
}

}  // namespace

TEST_CASE("over the batch weights and state are flat, activations and logits a ramp up to the card") {
  const record::Params settings = mixed();
  const FigureData figure = over({.settings = &settings});
  const Chart& chart = *tests::charts_of(figure).at(0);
  REQUIRE(chart.stacked);
  constexpr double kP = 1'235'814'400;
  for (const ChartPoint& point : series_named(chart, "Weights")->points) CHECK(point.y == 2 * kP);
  for (const ChartPoint& point : series_named(chart, "Optimizer state")->points) CHECK(point.y == 12 * kP);
  for (const ChartPoint& point : series_named(chart, "Logits and loss")->points)
    CHECK(point.y == point.x * 12 * 128'256 * 1024);
  for (const ChartPoint& point : series_named(chart, "Activations")->points)
    CHECK(point.y == point.x * 7'189'561'344 / 4);
  // Measured: 28.71 GiB at batch 4, 41.3 at 8.
  CHECK(height_at(chart, 4) / record::kGiB == Approx(28.68).epsilon(0.002));
  CHECK(height_at(chart, 8) / record::kGiB == Approx(41.25).epsilon(0.002));
  CHECK(chart.references.back().limit);
  CHECK(chart.references.back().label == "24 GiB card");
  const Table& table = tests::table_of(figure);
  CHECK(table.columns == std::vector<std::string>{"batch 4", "batch 8", "factor"});
  CHECK(table.rows.front().cells.back() == "1.00");
  CHECK(table.rows.back().cells.back() == "1.44");
  CHECK(table.foot == "Tensors alone on 24 GiB: batch 2 at most.");
}

TEST_CASE("over the sequence flash attention is a straight line, and eager attention bends it") {
  const auto bend = [](std::string_view attention) {
    record::Params settings = mixed();
    REQUIRE(settings.set_assignment(attention).ok());
    const predict::Card& card = *card_named("H200");
    FigureInput input{.settings = &settings};
    input.view.card = {card.name, *card.memory, predict::process_bytes(card.name)};
    const FigureData figure = over(input, {"over=seq"});
    const ChartSeries& kept = *series_named(*tests::charts_of(figure).at(0), "Activations");
    // The shortest sequences peak at another moment.
    const ChartPoint &half = kept.points[(kept.points.size() - 1) / 2], &last = kept.points.back();
    return (last.y / last.x) / (half.y / half.x);
  };
  CHECK(bend("attention=flash") == Approx(1).epsilon(0.001));
  CHECK(bend("attention=eager") > 1.5);
}

TEST_CASE("runs with these settings are marks at their batch, within a thousandth of the area's height") {
  for (const char* name : {"technique_bf16_mixed_h200", "llama-3.2-1b_h200_b4", "llama-3.2-1b_h200_eager_kernels"}) {
    INFO(name);
    const record::Recording run = tests::stored(name);
    const record::Ledger ledger(run);
    const FigureData figure = over({.run = &ledger});
    const Chart& chart = *tests::charts_of(figure).at(0);
    const ChartSeries* measured = series_named(chart, "measured");
    REQUIRE(measured != nullptr);
    REQUIRE(measured->points.size() == 1);
    CHECK(measured->over);
    const ChartPoint& point = measured->points.front();
    CHECK(point.y == Approx(height_at(chart, point.x)).epsilon(0.001));
  }
}

TEST_CASE("a sweep's points are marks where only the batch differs") {
  const record::Recording sweep = tests::stored("report_h200");
  const record::Ledger ledger(sweep);
  record::Params settings = record::Params::known_of(experiments::training_step().schema, sweep.info().params);
  for (const auto& point : sweep.sweep_points())
    if (point.series == "hf")
      for (const auto& [key, value] : point.params) (void)settings.set(key, std::string_view(value));
  for (const char* each : {"batch=4", "seq=1024"}) REQUIRE(settings.set_assignment(each).ok());
  const FigureData figure = over({.run = &ledger, .settings = &settings}, {"published_by=report"});
  const Chart& chart = *tests::charts_of(figure).at(0);
  const ChartSeries* measured = series_named(chart, "measured");
  REQUIRE(measured != nullptr);
  REQUIRE(measured->points.size() == 3);  // the others ran out of memory
  for (const ChartPoint& point : measured->points) {
    INFO("batch " << point.x);
    CHECK(point.y == Approx(height_at(chart, point.x)).epsilon(0.02));
  }
  const ChartSeries* published = series_named(chart, "report, Hugging Face, 1,024 tokens");
  REQUIRE(published != nullptr);
  REQUIRE(published->points.size() == 3);
  CHECK(published->points.back().y == 18'382'989'824);
}

TEST_CASE("Harmony's areas are beside ours, with the flat parts and the slopes that are read off") {
  const record::Params settings = mixed();
  struct Read {
    const char* published;
    double flat, slope;
  };
  for (const Read& read : {Read{"published_by=bert96", 19.6e9, 11.75e9}, Read{"published_by=gpt2", 25.8e9, 29.25e9}}) {
    const FigureData figure = over({.settings = &settings}, {read.published});
    REQUIRE(tests::charts_of(figure).size() == 2);
    const Chart& chart = *tests::charts_of(figure)[1];
    CHECK(chart.title.ends_with("by Harmony, published"));
    CHECK(height_at(chart, 1) - series_named(chart, "Activations")->points[0].y == read.flat);
    CHECK((height_at(chart, 9) - height_at(chart, 1)) / 8 == Approx(read.slope));
    CHECK(chart.references.front().y.front() == 10e9);
  }
}

TEST_CASE("while the question is open only the settings' own step is there") {
  const record::Params settings = mixed();
  const FigureData figure = over({.settings = &settings, .view = {.hidden = true}});
  const Chart& chart = *tests::charts_of(figure).at(0);
  CHECK(chart.bars);
  CHECK(chart.categories == std::vector<std::string>{"batch 4, 1,024 tokens"});
  for (const ChartSeries& series : chart.series) CHECK(series.points.size() == 1);
  CHECK(tests::table_of(figure).rows.empty());
}
