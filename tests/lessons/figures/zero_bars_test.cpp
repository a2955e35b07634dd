// Model state per GPU by stage of ZeRO: the paper's numbers, moments of a step, and bytes sent.
#include <cmath>
#include <string>
#include <vector>

#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

using Numbers = std::vector<double>;

FigureData build_zero_bars(std::initializer_list<const char*> settings, bool hidden = false) {
  const Figure* const figure = find_figure("zero_bars");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure->build({.params = &params, .view = {.hidden = hidden}});
}

const Chart& at_loss(const FigureData& figure) { return *tests::charts_of(figure).at(0); }
const Chart& at_end(const FigureData& figure) { return *tests::charts_of(figure).at(1); }

// Height of each stage's bar in multiples of `unit`.
Numbers heights(const Chart& chart, double unit) {
  Numbers sums(chart.categories.size());
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) sums.at(static_cast<std::size_t>(point.x)) += point.y / unit;
  return sums;
}

std::vector<std::string> column(const FigureData& figure, std::size_t cell) {
  std::vector<std::string> texts;
  for (const TableRow& row : tests::table_of(figure).rows) texts.push_back(row.cells.at(cell));
  return texts;
}

// "3.45 GiB, 1 ×" without the bytes.
std::vector<std::string> multiples(std::initializer_list<const char*> settings) {
  std::vector<std::string> texts;
  for (const std::string& sent : column(build_zero_bars(settings), 3))
    texts.push_back(sent.substr(sent.find(", ") + 2));
  return texts;
}

using Words = std::vector<std::string>;

constexpr double kBillion = 1e9;

}  // namespace

TEST_CASE("the bars of 7.5 billion parameters on 64 GPUs are the ZeRO paper's") {
  const FigureData figure = build_zero_bars({"parameters=7500000000", "ranks=64"});
  CHECK(at_end(figure).categories == Words{"off", "1", "2", "3"});
  CHECK(heights(at_end(figure), kBillion) == Numbers{120, 31.40625, 16.640625, 1.875});
  CHECK(column(figure, 2) == Words{"120 GB", "31.4 GB", "16.6 GB", "1.88 GB"});
  CHECK(tests::table_of(figure).rows.at(0).note == "2 + 2 + 12 = 16 B per parameter");
  CHECK(tests::table_of(figure).rows.at(2).note == "2 + 2/64 + 12/64 = 2.219 B per parameter");
  CHECK(figure.head.source == record::Source::kFormula);
}

TEST_CASE("at the loss stage 2 holds as much as stage 1, unless earlier micro-batches left gradients") {
  // Bytes per parameter of the 1B on four GPUs.
  const FigureData one = build_zero_bars({});
  CHECK(heights(at_loss(one), 1'235'814'400) == Numbers{14, 5, 5, 3.5});
  CHECK(heights(at_end(one), 1'235'814'400) == Numbers{16, 7, 5.5, 4});
  CHECK(at_loss(one).title == "At the loss");
  CHECK(at_loss(one).y.high == at_end(one).y.high);
  const FigureData four = build_zero_bars({"accumulate=4"});
  CHECK(heights(at_loss(four), 1'235'814'400) == Numbers{16, 7, 5.5, 4});
  CHECK(heights(at_end(four), 1'235'814'400) == Numbers{16, 7, 5.5, 4});
  CHECK(at_loss(four).title == "At the loss of micro-batch 4");
}

TEST_CASE("stages 1 and 2 send what data parallelism sends, stage 3 half as much again") {
  CHECK(column(build_zero_bars({"parameters=1000000000", "ranks=4"}), 3) ==
        Words{"2.79 GiB, 1 ×", "2.79 GiB, 1 ×", "2.79 GiB, 1 ×", "4.19 GiB, 1.5 ×"});  // 4 P · 3/4, 6 P · 3/4
  CHECK(multiples({"ranks=1024"}) == Words{"1 ×", "1 ×", "1 ×", "1.5 ×"});
  // Stage 2 sums m times and gathers once, stage 3 gathers twice and sums m times, in units of two.
  CHECK(multiples({"accumulate=4"}) == Words{"1 ×", "1 ×", "2.5 ×", "6 ×"});
  CHECK(column(build_zero_bars({"ranks=1"}), 3) == Words(4, "nothing"));
}

TEST_CASE("ranks that share in pairs hold more, send less, and must divide into groups") {
  const FigureData pairs = build_zero_bars({"parameters=1000000000", "ranks=8", "zero_group=2"});
  CHECK(heights(at_end(pairs), kBillion) == Numbers{16, 10, 9, 8});
  // 3 · 2 P · 1/2 in pairs, then 2 · 1 P · 3/4 among four copies, of data parallelism's 2 · 2 P · 7/8.
  CHECK(multiples({"parameters=1000000000", "ranks=8", "zero_group=2"}).at(3) == "1.29 ×");
  CHECK(build_zero_bars({"zero_group=3"}).head.empty_reason.starts_with("zero_group=3 does not divide ranks=4"));
}

TEST_CASE("precision and optimizer set the bytes per parameter, and the card is a line") {
  CHECK(heights(at_end(build_zero_bars({"precision=bf16"})), 1'235'814'400) == Numbers{8, 5, 3.5, 2});
  CHECK(heights(at_end(build_zero_bars({"optimizer=sgd"})), 1'235'814'400) == Numbers{8, 5, 3.5, 2});
  const FigureData figure = build_zero_bars({});
  for (const Chart* chart : tests::charts_of(figure)) {
    CHECK(chart->references.at(0).label == "24 GiB card");
    CHECK(chart->references.at(0).y.at(0) == 24.0 * record::kGiB);
  }
  CHECK(build_zero_bars({}, true).head.empty_reason == kIsAnswer);
}
