// Measured GEMM rates: the fastest per format, their figure, and steps compared with them.
#include <string>

#include "demos/experiments/schemas.h"
#include "demos/predict/time/step_flops.h"
#include "lessons/figure.h"
#include "lessons/measurements/product_peaks.h"
#include "lessons/steps/step_budget.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;
using record::Measurement;

namespace {

constexpr double kTeraFlops = 1e12;

Measurement rate(const std::string& format, std::int64_t side, double flops_per_second) {
  const double flops = 2.0 * static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(side);
  const double time = flops / flops_per_second * 1e9;
  return {.panel = Measurement::kProductRates,
          .variant = "matmul",
          .pass = "forward",
          .timing = "cold",
          .storage = format,
          .rows = side,
          .width = side,
          .median = time,
          .low = time,
          .high = time,
          .samples = 20,
          .flops = flops};
}

record::Recording rates_of(const std::string& gpu) {
  record::RunInfo info;
  info.demo = "product_rates";
  info.provenance = {{"gpu", gpu}, {"device", gpu}};
  info.device = record::DeviceKind::kGpu;
  record::Recording recording(std::move(info));
  recording.append(rate("fp32", 4096, 50 * kTeraFlops));
  recording.append(rate("bf16", 4096, 600 * kTeraFlops));
  recording.append(rate("bf16", 8192, 700 * kTeraFlops));
  recording.append(rate("bf16", 16384, 650 * kTeraFlops));
  Measurement none = rate("fp8", 16384, 1 * kTeraFlops);  // out of memory
  none.median = none.low = none.high = 0;
  none.samples = 0;
  recording.append(none);
  return recording;
}

}  // namespace

TEST_CASE("the fastest size of each format is its measured peak") {
  const record::Recording rates = rates_of("NVIDIA H200");
  const auto fastest = lessons::fastest_products(rates);
  REQUIRE(fastest.size() == 2);
  CHECK(fastest[0]->storage == "fp32");
  CHECK(fastest[1]->rows == 8192);
  CHECK(lessons::product_rate(*fastest[1]) == Approx(700 * kTeraFlops));

  const auto card = lessons::measured_card(rates);
  REQUIRE(card);
  CHECK(*card->bf16 == Approx(700 * kTeraFlops));
  CHECK(*card->fp32 == Approx(50 * kTeraFlops));
  CHECK(card->fp8 == predict::card_of_gpu("NVIDIA H200")->fp8);  // from the data sheet
  CHECK_FALSE(lessons::measured_card(rates_of("Example GPU")));
}

TEST_CASE("the figure of the rates has each format beside its data sheet, and a table by size") {
  const record::Recording rates = rates_of("NVIDIA H200"), other = tests::made_recording({});
  const record::Ledger ledger(rates), run(other);
  const record::Ledger* const beside[] = {&ledger};
  const lessons::Figure& figure = *lessons::find_figure("product_rates");
  for (const lessons::FigureInput& input : {lessons::FigureInput{.run = &ledger, .view = {}},
                                            lessons::FigureInput{.run = &run, .beside = beside, .view = {}}}) {
    const lessons::FigureData data = figure.build(input);
    REQUIRE(tests::charts_of(data).size() == 1);
    const lessons::Chart& chart = *tests::charts_of(data)[0];
    CHECK(chart.categories == std::vector<std::string>{"fp32", "bf16"});
    REQUIRE(chart.series.size() == 2);
    CHECK(chart.series[0].points[1].y == Approx(989 * kTeraFlops));
    CHECK(chart.series[1].points[1].y == Approx(700 * kTeraFlops));
    CHECK(tests::table_of(data).columns == std::vector<std::string>{"4,096", "8,192", "16,384"});
    CHECK(tests::table_of(data).rows[1].cells == std::vector<std::string>{"600", "700", "650"});
    CHECK(tests::table_of(data).rows[0].cells[1] == "–");
  }
  CHECK(figure.build({.run = &run, .view = {}}).head.empty_reason.find("bench products") != std::string::npos);
}

TEST_CASE("a step that is held against measured products is busier") {
  const auto card = lessons::measured_card(rates_of("NVIDIA H200"));
  REQUIRE(card);
  const auto ladder = record::Recording::read(HEADROOM_SOURCE_DIR "/assets/recordings/ladder_h200.hrec");
  REQUIRE(ladder.ok());
  const auto by_sheet = lessons::ladder_budgets(ladder.value(), predict::AttentionFlops::kNone, {});
  const auto by_measure =
      lessons::ladder_budgets(ladder.value(), predict::AttentionFlops::kNone, {.given = 0, .measured = {*card}});
  REQUIRE(by_sheet.size() == by_measure.size());
  for (std::size_t i = 0; i < by_sheet.size(); ++i) {
    CHECK(by_measure[i].tokens_per_second == by_sheet[i].tokens_per_second);
    CHECK(by_measure[i].mfu() == Approx(by_sheet[i].mfu() * by_sheet[i].peak / by_measure[i].peak));
  }
  CHECK(by_measure[1].peak == Approx(700 * kTeraFlops));
}
