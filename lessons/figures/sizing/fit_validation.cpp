// Predicted and measured bytes, one mark per run of docs/results/prediction.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/tables.h"
#include "lessons/params.h"

namespace headroom::lessons {
namespace {

constexpr std::array<record::Choice, 3> kGpus{{{"both", "H200 and H100"}, {"H200", "H200"}, {"H100", "H100"}}};
constexpr std::array kFitValidationSchema{
    experiments::choice("gpu", "GPU", "Device that made the runs", kGpus, "both")};

double in_gib(record::Bytes bytes) { return static_cast<double>(bytes) / double{record::kGiB}; }

ChartPoint point_of(const ValidatedRun& run, const ShownUnit& unit) {
  const std::string difference = run.measured == run.predicted
                                     ? "exact to the byte"
                                     : change_text(run.measured - run.predicted, unit) + " against the prediction";
  return exact_point(
      in_gib(run.predicted), static_cast<double>(run.measured),
      fmt::format("{} on {}: {}, {}", run.settings, run.gpu, bytes_text(run.measured, unit), difference));
}

void add_fit_validation_panels(FigureData& figure, const FigureInput& input) {
  const std::string& gpu = input.params->text("gpu");
  ChartSeries equal{.kind = SeriesKind::kFused};
  ChartSeries differs{.kind = SeriesKind::kEager};
  const ShownUnit unit = byte_unit(double{2 * record::kGiB});  // as on the predicted axis
  double most = 0, farthest = 0;                               // in GiB; as a share of measured bytes
  for (const ValidatedRun& run : validated_runs()) {
    if (gpu != "both" && run.gpu != gpu) continue;
    (run.measured == run.predicted ? equal : differs).points.push_back(point_of(run, unit));
    most = std::max(most, in_gib(std::max(run.predicted, run.measured)));
    farthest = std::max(farthest, std::abs(in_gib(run.measured - run.predicted)) / in_gib(run.measured));
  }
  equal.label = fmt::format("{} exact to the byte", equal.points.size());
  differs.label = fmt::format("{} others off by at most {:.1f} %", differs.points.size(), 100 * farthest);
  Chart chart{.title = "Most that the allocator reserved, runs with random settings",
              .x = number_axis(0, most * 1.05, "predicted before the run, GiB"),
              .y = {.unit = AxisUnit::kBytes, .name = "measured", .shown = unit},
              .joined = false};
  chart.references.push_back({"measured = predicted", {0, chart.x.high}, {0, chart.x.high * double{record::kGiB}}});
  chart.series.push_back(std::move(equal));
  if (!differs.points.empty()) chart.series.push_back(std::move(differs));
  fit_y(chart);
  figure.head.source = record::Source::kRecorded;
  figure.head.provenance_line = "settings drawn at random, PyTorch 2.11, driver 580";
  figure.add(std::move(chart));
}

}  // namespace

extern const Figure kFitValidation;
constinit const Figure kFitValidation{
    .id = "fit_validation",
    .title = "Predicted and measured",
    .caption = "What was predicted for random settings against what an H200 and an H100 then reserved",
    .schema = kFitValidationSchema,
    .basis = Basis::kParameters,
    .add_panels = add_fit_validation_panels};

}  // namespace headroom::lessons
