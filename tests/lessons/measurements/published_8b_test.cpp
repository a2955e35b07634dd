// Llama 3 8B as published, and the closed form's slope.
#include <string>

#include "lessons/figure.h"
#include "lessons/measurements/tables.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::FigureData;

namespace {

FigureData build_published(const std::string& assignment = "", bool hidden = false) {
  const lessons::Figure* const figure = lessons::find_figure("published_8b");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  if (!assignment.empty()) REQUIRE(params.set_assignment(assignment).ok());
  return figure->build({.params = &params, .view = {.hidden = hidden}});
}

std::string cell(const FigureData& figure, std::size_t row) { return tests::table_of(figure).rows.at(row).cells[0]; }

}  // namespace

TEST_CASE("the published bars are those of the table") {
  const auto all = lessons::published_trainings();
  REQUIRE(all.size() == 6);
  CHECK(all[2].implementation == "huggingface");
  CHECK(all[2].batch == 64);
  CHECK(all[2].peak == 66'800 * record::kMiB);
  CHECK(all[5].tokens_per_second == 12'250);
}

TEST_CASE("each further sequence takes 879.5 MiB by the closed form, and 890.6 by the slope of the points") {
  const FigureData figure = build_published();
  CHECK(cell(figure, 0) == "879.5 MiB");  // (12 · 128,256 + 2 · 4,096 · 32) · 512 B
  CHECK(tests::table_of(figure).rows[0].name ==
        "Closed form: 751.5 MiB of logits in fp32 and 128.0 MiB of kept inputs");
  CHECK(cell(figure, 1) == "890.6 MiB");
  CHECK(cell(figure, 2) == "228.1 MiB");
  CHECK(cell(build_published("copies=2"), 0) == "629.0 MiB");
  CHECK(cell(build_published("tokens=1024"), 0) == "1,759.0 MiB");
}

TEST_CASE("the line has the closed form's slope and goes through the mean of the points") {
  const FigureData figure = build_published();
  const lessons::Chart& memory = *tests::charts_of(figure)[0];
  REQUIRE(memory.references.size() == 2);
  const lessons::ChartReference& line = memory.references[0];
  CHECK(line.label == "879.5 MiB per sequence");
  const double slope = (line.y[1] - line.y[0]) / (line.x[1] - line.x[0]);
  CHECK(slope == Approx(879.5));
  CHECK(line.y[0] + slope * (48 - line.x[0]) == Approx((38'300 + 55'700 + 66'800) / 3.0));
  CHECK(memory.references[1].limit);
  CHECK(memory.y.high > 81'920);
}

TEST_CASE("while the question is open the memory of Hugging Face's way is not there") {
  const FigureData figure = build_published("", true);
  REQUIRE(tests::charts_of(figure).size() == 2);
  REQUIRE(tests::charts_of(figure)[0]->series.size() == 1);
  CHECK(tests::charts_of(figure)[0]->series[0].label == "Liger, published");
  CHECK(tests::charts_of(figure)[0]->references.empty());
  CHECK(tests::charts_of(figure)[1]->series.size() == 2);
  CHECK(tests::table_of(figure).rows.empty());
}
