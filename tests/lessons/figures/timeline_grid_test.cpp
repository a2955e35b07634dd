// A grid of steps has the bytes and peaks of their memory timelines.
#include <algorithm>
#include <string>
#include <vector>

#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/llama_step.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::Chart;
using lessons::FigureData;

namespace {

double highest(const Chart& chart) {
  double most = 0;
  for (std::size_t i = 0; i < chart.series.front().points.size(); ++i) {
    double sum = 0;
    for (const lessons::ChartSeries& series : chart.series) sum += series.points[i].y;
    most = std::max(most, sum);
  }
  return most;
}

struct Four {
  std::vector<record::Recording> runs;
  std::vector<record::Ledger> ledgers;
  std::vector<const record::Ledger*> beside;

  Four() {
    for (const record::DeviceKind device : {record::DeviceKind::kCpu, record::DeviceKind::kGpu})
      for (const bool other : {false, true})
        runs.push_back(other ? tests::made_recording({.device = device, .out_of_memory = true})
                             : tests::made_recording({.device = device}));
    ledgers.reserve(runs.size());
    for (const record::Recording& run : runs) ledgers.emplace_back(run);
    for (const record::Ledger& ledger : ledgers) beside.push_back(&ledger);
  }

  FigureData build(const std::string& axis, bool hidden = false) const {
    const lessons::Figure* const figure = lessons::find_figure("timeline_grid");
    REQUIRE(figure != nullptr);
    record::Params params(figure->schema);
    REQUIRE(params.set("time", std::string_view(axis)).ok());
    return figure->build({.run = beside[0], .params = &params, .beside = beside, .view = {.hidden = hidden}});
  }
};

}  // namespace

TEST_CASE("each step of the grid has the peak of its memory timeline, on shared axes") {
  const Four four;
  for (const char* const axis : {"phase", "device"}) {
    const FigureData grid = four.build(axis);
    const auto charts = tests::charts_of(grid);
    REQUIRE(charts.size() == 4);
    for (std::size_t i = 0; i < charts.size(); ++i) {
      record::Params last_step(lessons::find_figure("memory_timeline")->schema);
      const auto step = record::last_whole_step(four.runs[i]);
      REQUIRE(step);
      REQUIRE(last_step.set("show", "step").ok());
      REQUIRE(last_step.set_assignment("step=" + std::to_string(step->step)).ok());
      const FigureData alone =
          lessons::find_figure("memory_timeline")->build({.run = four.beside[i], .params = &last_step});
      REQUIRE(tests::timeline_of(alone).peak);
      CHECK(highest(*charts[i]) == tests::timeline_of(alone).peak->y);
      CHECK(charts[i]->references[0].y[0] == tests::timeline_of(alone).peak->y);
      CHECK(charts[i]->x.high == charts[0]->x.high);
      CHECK(charts[i]->y.high == charts[0]->y.high);
      CHECK(charts[i]->series.size() == charts[0]->series.size());
    }
  }
}

TEST_CASE("the page's four steps have the peaks that were recorded") {
  std::vector<record::Recording> runs;
  for (const std::string& name : tests::course().find_page("four_timelines")->beside) {
    auto run = record::Recording::read(std::string(HEADROOM_SOURCE_DIR) + "/assets/recordings/" + name + ".hrec");
    REQUIRE(run.ok());
    runs.push_back(std::move(run).value());
  }
  std::vector<record::Ledger> ledgers(runs.begin(), runs.end());
  std::vector<const record::Ledger*> beside;
  for (const record::Ledger& ledger : ledgers) beside.push_back(&ledger);
  const FigureData grid = lessons::find_figure("timeline_grid")->build({.run = beside[0], .beside = beside});
  const auto charts = tests::charts_of(grid);
  REQUIRE(charts.size() == 4);
  CHECK(highest(*charts[0]) == 16'648'141'312.0);
  CHECK(highest(*charts[1]) == 1'964'907'008.0);
  CHECK(highest(*charts[2]) == 18'155'734'528.0);
  CHECK(highest(*charts[3]) == 2'477'234'688.0);
  const std::string host = "checkpointing, optimizer on the host, weights on the host";
  CHECK(charts[0]->title == "A, peak 15.50 GiB: batch 112, fused kernels, fused linear cross entropy, " + host);
  CHECK(charts[2]->title == "C, peak 16.91 GiB: batch 8, " + host);
}

TEST_CASE("a step of the grid ends where its time does, or with all others where phases are aligned") {
  const Four four;
  const FigureData aligned = four.build("phase");
  for (const Chart* chart : tests::charts_of(aligned))
    CHECK(chart->series[0].points.back().x == Approx(chart->x.high).epsilon(1e-6));
  const FigureData own = four.build("device");
  double longest = 0;
  for (const Chart* chart : tests::charts_of(own)) longest = std::max(longest, chart->series[0].points.back().x);
  CHECK(longest == Approx(tests::charts_of(own)[0]->x.high));
}

TEST_CASE("while the question is open the steps have letters and no names") {
  const Four four;
  const FigureData hidden = four.build("phase", true), shown = four.build("phase");
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string letter(1, static_cast<char>('A' + i)), before = tests::charts_of(hidden)[i]->title;
    CHECK(before.starts_with(letter + ", peak "));
    CHECK(before.ends_with("iB"));
    CHECK(tests::charts_of(shown)[i]->title.starts_with(before + ": batch "));
  }
}

TEST_CASE("without others the grid is the run alone, and at most four are drawn") {
  Four four;
  const lessons::Figure* const figure = lessons::find_figure("timeline_grid");
  CHECK(tests::charts_of(figure->build({.run = four.beside[0]})).size() == 1);
  four.beside.push_back(four.beside[0]);
  CHECK(tests::charts_of(four.build("phase")).size() == 4);
}
