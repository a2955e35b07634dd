// Figures on fusion: threads of a block, attention over the sequence.
#include <string>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/attention_work.h"
#include "demos/predict/forms/step_bytes.h"
#include "lessons/figure.h"
#include "lessons/measurements/sweep.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

FigureData program(std::initializer_list<const char*> settings, View view = {}) {
  const Figure* figure = find_figure("block_program");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure->build({.params = &params, .view = view});
}

struct Threads {
  int all = 0, idle = 0;
  double numbers = 0;
};

Threads threads_of(const FigureData& figure) {
  Threads found;
  for (const HeatMap* map : panels_of<HeatMap>(figure.panels))
    for (const auto& row : map->cells)
      for (const double cell : row) {
        ++found.all;
        found.idle += cell == 0 ? 1 : 0;
        found.numbers += cell;
      }
  return found;
}

}  // namespace

TEST_CASE("a thousand numbers in blocks of 512 leave 24 threads idle, whoever writes the kernel") {
  for (const auto& [listing, load] :
       {std::pair{"listing=triton", "frame=4"}, {"listing=cuda", "frame=4"}, {"listing=compiler", "frame=4"}}) {
    INFO(listing);
    const Threads threads = threads_of(program({listing, load}));
    CHECK(threads.all == 1024);
    CHECK(threads.idle == 24);
    CHECK(threads.numbers == 1000);
  }
}

TEST_CASE("each line says what its thread computes, up to the line that is shown") {
  const FigureData figure = program({"follow=1000", "frame=3"});
  CHECK(figure.head.frames == 6);
  const Table& code = tests::table_of(figure);
  CHECK(code.columns.front() == "thread 488 of program 1");
  CHECK(code.rows[1].cells.front() == "1 × 512 + 488 = 1,000");
  CHECK(code.rows[2].cells.front() == "1,000 < 1,000: no");
  CHECK(code.rows[3].cells.front().empty());
  CHECK(tests::table_of(program({"follow=999", "frame=6"})).rows[5].cells.front() == "out[999]");
  CHECK(threads_of(figure).idle == 0);  // all threads compare
}

TEST_CASE("with several numbers per thread the last thread has a part of them, and CUDA's code treats it apart") {
  const Threads four = threads_of(program({"per_thread=4", "numbers=998"}));
  CHECK(four.all == 256);
  CHECK(four.idle == 6);
  CHECK(four.numbers == 998);
  const Threads whole = threads_of(program({"listing=cuda", "per_thread=4", "numbers=998", "frame=4"}));
  const Threads part = threads_of(program({"listing=cuda", "per_thread=4", "numbers=998", "frame=5"}));
  CHECK(whole.numbers == 996);
  CHECK(part.numbers == 2);
  CHECK(tests::table_of(program({"per_thread=4", "numbers=998", "follow=997"})).rows[2].cells.front() ==
        "2 of 4 are below 998");
}

TEST_CASE("a compiler that knows the length leaves the mask out where it is whole blocks") {
  CHECK(tests::table_of(program({"listing=compiler"})).rows.size() == 6);
  const FigureData whole = program({"listing=compiler", "numbers=1024"});
  const Table& code = tests::table_of(whole);
  REQUIRE(code.rows.size() == 5);
  for (const TableRow& row : code.rows) CHECK(row.name.find("mask") == std::string::npos);
}

TEST_CASE("while it is asked how many threads are idle, none is") {
  for (const char* listing : {"listing=triton", "listing=cuda", "listing=compiler"}) {
    const FigureData figure = program({listing, "frame=7"}, {.hidden = true});
    CHECK(threads_of(figure).idle == 0);
    CHECK(tests::table_of(figure).foot.empty());
  }
}

namespace {

record::Params step(std::initializer_list<const char*> settings) {
  record::Params params(experiments::training_step().schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return params;
}

FigureData attention(const record::Params& settings, const record::Recording* run, const char* assignment = "tile=128",
                     View view = {}) {
  const Figure* figure = find_figure("attention_curve");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  REQUIRE(params.set_assignment(assignment).ok());
  if (run == nullptr) return figure->build({.params = &params, .settings = &settings, .view = view});
  const record::Ledger ledger(*run);
  return figure->build({.run = &ledger, .params = &params, .settings = &settings, .view = view});
}

double at(const Chart& chart, std::size_t series, double x) {
  for (const ChartPoint& point : chart.series[series].points)
    if (point.x == x) return point.y;
  return -1;
}

}  // namespace

TEST_CASE("scores of the ladder's first rung are 8.00 GiB, and a sequence four times as long has 16 times as many") {
  const record::Params settings = step({"model=llama-3.2-1b", "precision=fp32", "batch=4", "seq=1024"});
  const predict::StepSettings short_step = predict::step_settings(settings);
  CHECK(16 * predict::score_bytes(short_step) == 8'589'934'592);
  CHECK(16 * (predict::score_bytes(short_step) - predict::log_sum_exp_bytes(short_step)) == 8'581'545'984);  // measured
  predict::StepSettings long_step = short_step;
  long_step.sequence *= 4;
  CHECK(predict::score_bytes(long_step) == 16 * predict::score_bytes(short_step));
  CHECK(predict::log_sum_exp_bytes(long_step) == 4 * predict::log_sum_exp_bytes(short_step));
  CHECK(predict::eager_attention_flops(long_step) == 16 * predict::eager_attention_flops(short_step));
  CHECK(6 * predict::flash_attention_flops(short_step, 1024) ==
        7 * predict::eager_attention_flops(short_step));  // one tile skips nothing
  const FigureData figure = attention(settings, nullptr);
  CHECK(figure.head.provenance_line.ends_with("scores 8 GiB, log-sum-exp 0.01 GiB"));
}

TEST_CASE("the stored sweep has the scores of the closed form to the byte, and flash attention's memory is linear") {
  const auto read =
      record::Recording::read(std::string(HEADROOM_SOURCE_DIR) + "/assets/recordings/sweep_attention_cpu.hrec");
  REQUIRE(read.ok());
  const record::Recording& sweep = read.value();
  REQUIRE(sweep.sweep_points().size() == 8);
  record::Params settings = settings_of(sweep, sweep.sweep_points().front());
  const FigureData figure = attention(settings, &sweep);
  CHECK(figure.head.source == record::Source::kRecorded);
  const auto charts = tests::charts_of(figure);
  REQUIRE(charts.size() == 2);
  for (const int seq : {256, 512, 1024, 2048}) {
    INFO(seq << " tokens");
    REQUIRE(settings.set_assignment("seq=" + std::to_string(seq)).ok());
    REQUIRE(settings.set_assignment("attention=flash").ok());
    const predict::StepSettings each = predict::step_settings(settings);
    const double flash = at(*charts[0], 1, seq);
    CHECK(at(*charts[0], 0, seq) - flash ==
          static_cast<double>(4 * (predict::score_bytes(each) - predict::log_sum_exp_bytes(each))));
    // The sweep has one more number per token, outside the layers.
    CHECK(flash == static_cast<double>(predict::activation_bytes(each) + 4 * each.tokens()));
  }
  CHECK(at(*charts[0], 1, 2048) == 4 * at(*charts[0], 1, 512));
  // The sweep does not apply to another batch.
  record::Params other = settings;
  REQUIRE(other.set_assignment("batch=3").ok());
  CHECK(attention(other, &sweep).head.source == record::Source::kFormula);
}

TEST_CASE("one tile of scores is in memory at a time, none above the diagonal, and the curves wait for the answer") {
  const record::Params settings = step({"model=llama-3.2-1b", "precision=fp32", "batch=4", "seq=1024"});
  const FigureData figure = attention(settings, nullptr, "frame=5");
  CHECK(figure.head.frames == 36);
  int scores = 0, alive = 0;
  for (const DiagramBox& box : tests::panel_in<Diagram>(figure).boxes) {
    if (box.id[0] != 's') continue;
    ++scores;
    if (box.state == BoxState::kAlive) {
      ++alive;
      CHECK(box.id == "s2_1");
      CHECK(box.value == 128 * 128 * 4);
    }
  }
  CHECK(scores == 36);
  CHECK(alive == 1);
  const FigureData asked = attention(settings, nullptr, "frame=5", {.hidden = true});
  CHECK(asked.panels.size() == 1);
  CHECK(asked.head.provenance_line.find("scores") == std::string::npos);
}

TEST_CASE("eager launches of RMSNorm take as long as their bytes from 580 rows on, the fused kernel's from 652") {
  const auto read =
      record::Recording::read(std::string(HEADROOM_SOURCE_DIR) + "/assets/recordings/rms_norm_h200_launches.hrec");
  REQUIRE(read.ok());
  const record::Ledger ledger(read.value());
  const Figure* figure = find_figure("launch_curve");
  REQUIRE(figure != nullptr);
  const FigureData data = figure->build({.run = &ledger});
  const Chart& chart = *tests::charts_of(data).at(0);
  REQUIRE(chart.series.size() == 3);
  const double launches = 8 * 5000, rows = 1024;
  const double bytes = 9 * 2.0 * 8192 * 2 * rows;  // nine times the bytes of the fused kernel
  const ChartReference& eager = chart.references[0];
  CHECK(eager.y[0] == launches);
  CHECK(eager.y[1] == Approx(launches));
  CHECK(eager.y[2] == Approx(2 * bytes / 4270).epsilon(0.001));
  const Table& table = tests::table_of(data);
  CHECK(table.rows[0].cells[0] == "8");
  CHECK(table.rows[0].cells[3] == "580 rows");
  CHECK(table.rows[1].cells[3] == "73 rows");  // a graph is one launch
  CHECK(table.rows[2].cells[3] == "652 rows");
  for (const ChartSeries& series : chart.series) {
    REQUIRE(series.points.size() == 1);
    CHECK(series.points[0].x == rows);
    CHECK(series.points[0].y > 0);
  }
  // Kernels do not reach a copy's bandwidth.
  CHECK(chart.series[0].points[0].y > bytes / 4270);
  const FigureData asked = figure->build({.run = &ledger, .view = {.hidden = true}});
  CHECK(tests::charts_of(asked)[0]->series.size() == 2);
}
