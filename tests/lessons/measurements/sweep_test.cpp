// Figures of sweeps, the report's published points and their closed form.
#include <algorithm>
#include <numeric>
#include <string>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/report_form.h"
#include "demos/predict/forms/step_bytes.h"
#include "lessons/figure.h"
#include "lessons/measurements/sweep.h"
#include "lessons/measurements/tables.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"
#include "tests/support/made_sweep.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::Chart;
using lessons::FigureData;

namespace {

FigureData build_sweep(const char* id, const record::Recording& recording, const std::string& assignment = "") {
  const lessons::Figure* const figure = lessons::find_figure(id);
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  if (!assignment.empty()) REQUIRE(params.set_assignment(assignment).ok());
  const record::Ledger ledger(recording);
  return figure->build({.run = &ledger, .params = &params});
}

const lessons::ChartSeries* sweep_series(const Chart& chart, const std::string& label) {
  for (const lessons::ChartSeries& series : chart.series)
    if (series.label == label) return &series;
  return nullptr;
}

}  // namespace

TEST_CASE("the closed form meets the published peaks, 21 of 24 to the byte") {
  int exact = 0, points = 0;
  for (const lessons::PublishedRun& run : lessons::published_runs()) {
    if ((run.experiment != "batch" && run.experiment != "sequence") || run.out_of_memory) continue;
    if (run.experiment == "sequence" && run.seq == 1024) continue;  // in both sweeps
    const auto strategy = predict::report_loss(run.strategy);
    REQUIRE(strategy);
    const record::Bytes off =
        predict::report_peak(*strategy, static_cast<double>(run.batch), run.seq).bytes() - run.peak;
    INFO(run.strategy << " " << run.batch << " × " << run.seq);
    ++points;
    exact += off == 0;
    const bool known = (run.batch == 16 && off == -1'048'576) || (run.seq == 4096 && off == -1'048'576) ||
                       (run.seq == 24576 && off == -917'504);
    CHECK((off == 0 || known));
  }
  CHECK(points == 24);
  CHECK(exact == 21);
}

TEST_CASE("the published points are those of the table") {
  const auto runs = lessons::published_runs();
  CHECK(runs.size() == 65);
  const auto count = [&](std::string_view experiment, bool out_of_memory) {
    return std::count_if(runs.begin(), runs.end(), [&](const auto& run) {
      return run.experiment == experiment && run.out_of_memory == out_of_memory;
    });
  };
  CHECK(count("batch", false) == 3 + 3 + 8);
  CHECK(count("batch", true) == 5 + 5);
  CHECK(count("sequence", false) == 3 + 3 + 7);
  CHECK(count("sequence", true) == 4 + 4);
  CHECK(count("repeat", false) == 3);
  for (const lessons::PublishedRun& run : runs) {
    if (run.experiment == "checkpoints") CHECK(run.peak == run.batch * 1024 * 2048 * 2 * 16);
    if (run.experiment == "logits_x3") CHECK(run.peak == 3 * run.batch * 1024 * 128'256 * 4);
  }
}

TEST_CASE("the report's figure sets each strategy beside its published points, and says where memory ran out") {
  const record::Recording sweep = tests::made_report_sweep();
  const FigureData figure = build_sweep("report_batch", sweep);
  REQUIRE(tests::charts_of(figure).size() == 2);
  const Chart &speeds = *tests::charts_of(figure)[0], &peaks = *tests::charts_of(figure)[1];
  CHECK(peaks.x.unit == lessons::AxisUnit::kNumber);
  CHECK(tests::charts_of(build_sweep("report_batch", sweep, "spacing=even"))[1]->categories ==
        std::vector<std::string>{"1", "4", "8", "16", "32", "64", "96", "112"});
  const auto* const hf = sweep_series(peaks, "Hugging Face's way");
  REQUIRE(hf != nullptr);
  REQUIRE(hf->points.size() == 5);
  CHECK(hf->points[2].x == 8);  // to scale: linear laws are straight lines
  CHECK(sweep_series(*tests::charts_of(build_sweep("report_batch", sweep, "spacing=even"))[1], "Hugging Face's way")
            ->points[2]
            .x == 2);
  CHECK(hf->points[2].y == static_cast<double>(2 * record::kGiB + 8 * 1024 * 2 * record::kMiB));
  CHECK_FALSE(hf->points[2].out_of_memory);
  CHECK(hf->points[3].out_of_memory);
  const auto* const all = sweep_series(speeds, "all fused kernels");
  REQUIRE(all != nullptr);
  CHECK(all->points.back().y == 112 * 1024 / 4);
  const auto* const published = sweep_series(peaks, "all, published");
  REQUIRE(published != nullptr);
  CHECK(published->published);
  CHECK(published->points.back().y == 20'867'054'592.0);
  REQUIRE(peaks.references.size() == 4);  // the card, and a line per strategy that ends within the chart
  for (const lessons::ChartReference& line : peaks.references) {
    CHECK(std::is_sorted(line.x.begin(), line.x.end()));
    for (const double y : line.y) CHECK(y <= peaks.y.high * (1 + 1e-9));
  }
  CHECK(tests::charts_of(build_sweep("report_batch", sweep, "strategies=two"))[1]->series.size() == 4);
  CHECK(tests::charts_of(build_sweep("report_batch", sweep, "published=off"))[1]->series.size() == 3);
  CHECK(tests::charts_of(build_sweep("report_batch", sweep, "formula=off"))[1]->references.size() == 1);
}

TEST_CASE("the sweep over the sequence has the points of the other direction") {
  const FigureData figure = build_sweep("report_sequence", tests::made_report_sweep());
  REQUIRE(tests::charts_of(figure).size() == 2);
  CHECK(tests::charts_of(build_sweep("report_sequence", tests::made_report_sweep(), "spacing=even"))[1]->categories ==
        std::vector<std::string>{"512", "1,024", "2,048", "4,096", "8,192", "12,288", "16,384", "24,576"});
  CHECK(sweep_series(*tests::charts_of(figure)[1], "all fused kernels")->points.size() == 5);
}

TEST_CASE("beside the tiny model nothing was published") {
  const FigureData figure = build_sweep("report_batch", tests::made_report_sweep({.llama_1b = false}));
  REQUIRE(tests::charts_of(figure).size() == 2);
  CHECK(tests::charts_of(figure)[1]->series.size() == 3);
  CHECK(tests::charts_of(figure)[1]->references.size() == 1);
  CHECK(sweep_series(*tests::charts_of(figure)[1], "all fused kernels")->points.size() == 5);
}

TEST_CASE("a rung of the ladder is compared with the last one that ran") {
  const FigureData figure = build_sweep("ladder_waterfall", tests::made_ladder());
  REQUIRE(tests::rungs_of(figure).size() == 7);
  CHECK(tests::rungs_of(figure)[0].label == "naive");
  CHECK(tests::rungs_of(figure)[0].out_of_memory);
  CHECK(tests::rungs_of(figure)[1].before == 0);  // nothing to compare with
  CHECK(tests::rungs_of(figure)[1].delta.empty());
  CHECK(tests::rungs_of(figure)[2].delta == "\u221216.00 GiB");
  CHECK(tests::rungs_of(figure)[2].label == "+ fused linear cross entropy");
  CHECK(tests::rungs_of(figure)[3].delta == "+4.00 GiB");
  CHECK(tests::rungs_of(figure)[4].note == "It does not go with what is below it.");
  CHECK(tests::rungs_of(figure)[6].before == 20 * record::kGiB);  // of "checkpointing"; rungs 4 and 5 did not run
  CHECK(tests::rungs_of(figure)[6].speed.text == "24,000");
  const FigureData naive = build_sweep("ladder_waterfall", tests::made_ladder(), "delta=naive");
  CHECK(tests::rungs_of(naive)[6].before == 32 * record::kGiB);
}

TEST_CASE("rungs of two machines have no difference") {
  record::Recording ladder = tests::made_ladder({.finished = false});
  const auto add = [&](const char* label, record::Bytes gib, double speed, std::map<std::string, std::string> facts) {
    const record::Bytes quarter = gib * record::kGiB / 4;
    record::SweepPoint point = tests::made_point("ladder", label, {quarter, quarter, quarter, quarter}, speed);
    point.provenance = std::move(facts);
    point.outcome = {};
    ladder.append(std::move(point));
  };
  add("rounding", 7, 1'000, {{"gpu", "Another GPU"}});
  add("fused_kernels", 6, 1'100, {{"gpu", "Another GPU"}});
  add("graph", 5, 0, {{std::string(lessons::kSourceOfPoint), "predicted"}});
  ladder.set_outcome({});
  for (const char* delta : {"delta=step", "delta=naive"}) {
    INFO(delta);
    const auto rungs = tests::rungs_of(build_sweep("ladder_waterfall", ladder, delta));
    REQUIRE(rungs.size() == 10);
    CHECK_FALSE(rungs[6].delta.empty());
    CHECK(rungs[7].delta == "other machine");
    CHECK(rungs[7].speed.delta.empty());
    CHECK(rungs[7].before == 0);
    CHECK(rungs[7].tip.ends_with("on Another GPU"));
    CHECK_FALSE(rungs[7].value.empty());
  }
  const FigureData figure = build_sweep("ladder_waterfall", ladder);
  CHECK(tests::rungs_of(figure)[8].delta == "\u22121.00 GiB");  // both rungs on the other machine
  CHECK(tests::rungs_of(figure)[8].speed.delta == "+100");
  CHECK(tests::rungs_of(figure)[9].delta == "\u22121.00 GiB");  // predictions have no machine
  const auto* const panel = std::get_if<lessons::Rungs>(&figure.panels.front());
  REQUIRE(panel != nullptr);
  CHECK(panel->foot.find("Rungs of different machines are not compared.") != std::string::npos);
  CHECK(std::get<lessons::Rungs>(build_sweep("ladder_waterfall", tests::made_ladder()).panels.front())
            .foot.find("machines") == std::string::npos);
  // Rungs are not compared with a run A from another machine either.
  record::Recording other = tests::made_ladder();
  record::RunInfo info = other.info();
  info.provenance["gpu"] = "Another GPU";
  other.set_info(info);
  const record::Recording one = tests::made_ladder();
  const record::Ledger run(one), run_a(other);
  record::Params params(lessons::find_figure("ladder_waterfall")->schema);
  REQUIRE(params.set("delta", "a").ok());
  for (const lessons::Rung& rung : tests::rungs_of(
           lessons::find_figure("ladder_waterfall")->build({.run = &run, .baseline = &run_a, .params = &params}))) {
    CHECK((rung.delta.empty() || rung.delta == "other machine"));
    CHECK(rung.speed.delta.empty());
  }
}

TEST_CASE("a rung names what its switch turns off") {
  record::Recording ladder = tests::made_ladder();
  record::SweepPoint point = tests::made_point("ladder", "adamw_8bit", {}, 1);
  point.params = {{"optimizer", "adamw_8bit"}, {"optimizer_in_backward", "on"}, {"rounding", "stochastic"}};
  ladder.append(point);
  point.label = "offload_optimizer";
  point.params = {{"optimizer", "adamw"}, {"optimizer_in_backward", "off"}, {"rounding", "nearest"}};
  ladder.append(point);
  const FigureData figure = build_sweep("ladder_waterfall", ladder);
  CHECK(tests::rungs_of(figure)[7].note.empty());
  CHECK(tests::rungs_of(figure)[8].note == "drops 8-bit moments, step in backward, stochastic rounding");
  CHECK_FALSE(tests::rungs_of(figure)[8].value.empty());
}

TEST_CASE("a stored rung that was refused says why in the page's words, and tips name no keys") {
  record::Recording ladder = tests::made_ladder();
  record::SweepPoint refused = tests::made_point("ladder", "offload_parameters", {}, 1);
  refused.params = {{"offload.parameters", "on"}, {"offload.optimizer", "host"}, {"checkpointing", "off"}};
  refused.outcome = {record::OutcomeKind::kRefused, "offload.parameters=on does not go with checkpointing=off.",
                     std::nullopt};
  ladder.append(refused);
  const FigureData figure = build_sweep("ladder_waterfall", ladder);
  const lessons::Rung& last = tests::rungs_of(figure).back();
  CHECK(last.note.find("Stream weights “on” cannot be combined with Checkpointing “off”: unless whole layers") == 0);
  CHECK(last.tip.find("weights on the host: Stream weights “on”") == 0);
  for (const lessons::Rung& rung : tests::rungs_of(figure)) CHECK(rung.tip.find('_') == std::string::npos);
  const FigureData report = build_sweep("report_batch", tests::made_report_sweep());
  for (const Chart* chart : tests::charts_of(report))
    for (const lessons::ChartSeries& series : chart->series)
      for (const lessons::ChartPoint& point : series.points) CHECK(point.tip.find('_') == std::string::npos);
}

TEST_CASE("a sweep's bars are its peaks by kind, and add up to them") {
  const record::Recording sweep = tests::made_loss_sweep();
  const FigureData figure = build_sweep("sweep_curve", sweep);
  REQUIRE(tests::charts_of(figure).size() == 2);
  const Chart& peaks = *tests::charts_of(figure)[0];
  CHECK(peaks.stacked);
  CHECK(peaks.x.name == "loss");
  CHECK(peaks.categories == std::vector<std::string>{"flce", "plain", "hf_2025", "hf_2024"});
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (const lessons::ChartSeries& series : peaks.series) sum += series.points[i].y;
    CHECK(sum == static_cast<double>(sweep.sweep_points()[i].peak.allocated));
    CHECK(sum <= peaks.y.high);
  }
  CHECK(peaks.series.back().points[3].out_of_memory);
  CHECK(peaks.references.empty());
  CHECK(tests::charts_of(build_sweep("sweep_curve", sweep, "peak=total"))[0]->series.size() == 1);
}

TEST_CASE("a sweep over a number has it on its axis, what ran out too") {
  const FigureData figure = build_sweep("sweep_curve", tests::made_batch_sweep(1));
  REQUIRE(tests::charts_of(figure).size() == 2);
  for (const Chart* chart : tests::charts_of(figure)) {
    CHECK(chart->x.unit == lessons::AxisUnit::kNumber);
    CHECK(chart->x.name == "Batch, sequences");
    CHECK(chart->x.low == 0);
    CHECK(chart->categories.empty());
    REQUIRE(chart->series.front().points.size() == 4);
    for (const int i : {0, 1, 2, 3}) CHECK(chart->series.front().points[static_cast<std::size_t>(i)].x == 1 << i);
    CHECK(chart->series.front().points[3].out_of_memory);
  }
  const auto* const activations = sweep_series(*tests::charts_of(figure)[0], "activations");
  REQUIRE(activations != nullptr);
  CHECK(activations->points.size() == 3);  // the point that ran out of memory has no peak
  CHECK(activations->points[1].y == 2.0 * record::kGiB);
  const FigureData two = build_sweep("sweep_curve", tests::made_batch_sweep(2));
  CHECK(tests::charts_of(two)[0]->series.size() == 2);
  CHECK(tests::charts_of(two)[0]->references.empty());  // one line cannot fit both series
}

TEST_CASE("beside the points of a sweep is the closed form of its settings") {
  const FigureData figure = build_sweep("sweep_curve", tests::made_checkpoint_sweep());
  const Chart& peaks = *tests::charts_of(figure).at(0);
  REQUIRE(peaks.references.size() == 1);
  const lessons::ChartReference& line = peaks.references[0];
  CHECK(line.label == "activations by closed form: L/k inputs + k layers");
  CHECK(line.x == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
  const auto* const activations = sweep_series(peaks, "activations");
  REQUIRE(activations != nullptr);
  const experiments::DemoInfo& demo = *experiments::find_demo("train_step");
  for (const lessons::ChartPoint& point : activations->points) {
    record::Params params = record::Params::known_of(
        demo.schema, {{"model", "llama-3.2-1b"}, {"precision", "bf16"}, {"seq", "1024"}, {"checkpointing", "every"}});
    REQUIRE(params.set("checkpoint_every", record::ParamValue(static_cast<std::int64_t>(point.x))).ok());
    const record::Bytes closed = predict::activation_bytes(predict::step_settings(params));
    CHECK(line.y[static_cast<std::size_t>(point.x) - 1] == static_cast<double>(closed));
    CHECK(point.y == static_cast<double>(closed + 64 * record::kMiB));
    CHECK(point.y < peaks.y.high);
  }
}

TEST_CASE("a page's sweep is its closed form with the reader's settings, and points where they are of these settings") {
  const experiments::DemoInfo& demo = *experiments::find_demo("train_step");
  const auto sweep = experiments::sweep_axes(demo.schema, std::vector<std::string>{"checkpoint_every=1,2,4,8"}).value();
  record::Params settings(demo.schema);
  for (const char* each : {"model=llama-3.2-1b", "precision=bf16", "batch=4", "seq=1024", "checkpointing=every"})
    REQUIRE(settings.set_assignment(each).ok());
  const lessons::Figure& figure = *lessons::find_figure("sweep_curve");
  const FigureData before = figure.build({.settings = &settings, .sweep = sweep});
  CHECK(before.head.empty_reason.empty());
  CHECK(before.head.source == record::Source::kFormula);
  REQUIRE(tests::charts_of(before).size() == 1);
  const Chart& closed = *tests::charts_of(before)[0];
  REQUIRE(closed.series.size() == 1);
  CHECK(closed.series[0].points.size() == 4);
  CHECK(closed.series[0].points[2].y == 1'847'721'984);
  CHECK(closed.references.size() == 1);

  const record::Recording made = tests::made_checkpoint_sweep(), run = tests::made_recording({.steps = 1});
  const record::Ledger points(made), single(run);
  const auto charts = [&](const record::Ledger& ledger) {
    return tests::charts_of(figure.build({.run = &ledger, .settings = &settings, .sweep = sweep})).size();
  };
  CHECK(charts(points) == 2);
  CHECK(charts(single) == 1);
  REQUIRE(settings.set("batch", "8").ok());
  CHECK(charts(points) == 1);                             // the points have another batch
  REQUIRE(settings.set("weights", "a_checkpoint").ok());  // its shape is not read here
  CHECK(figure.build({.settings = &settings, .sweep = sweep}).head.empty_reason.find("no closed form") !=
        std::string::npos);
}

TEST_CASE("figures of sweeps say why they show nothing of another recording") {
  const record::Recording run = tests::made_recording({.steps = 1});
  for (const char* id : {"sweep_curve", "ladder_waterfall", "report_batch", "report_sequence"})
    CHECK(build_sweep(id, run).head.empty_reason == "This is one run, not a sweep: run `headroom sweep`.");
  CHECK(build_sweep("ladder_waterfall", tests::made_batch_sweep(1)).head.empty_reason.find("not the ladder") !=
        std::string::npos);
  CHECK(build_sweep("report_batch", tests::made_batch_sweep(1)).head.empty_reason.find("not the report's") !=
        std::string::npos);
  CHECK(build_sweep("needle_ratio", run).head.empty_reason.empty());  // computed, not measured
}

TEST_CASE("the needle is the report's arithmetic, which is for 1,024 tokens in a sequence") {
  const FigureData figure = build_sweep("needle_ratio", record::Recording());
  REQUIRE(tests::charts_of(figure).size() == 1);
  for (const lessons::PublishedRun& run : lessons::published_runs()) {
    const bool checkpoints = run.experiment == "checkpoints";
    if (!checkpoints && run.experiment != "logits_x3") continue;
    const lessons::ChartSeries& series = tests::charts_of(figure)[0]->series[checkpoints ? 1 : 0];
    const auto at = std::find_if(series.points.begin(), series.points.end(), [&](const lessons::ChartPoint& point) {
      return point.x == static_cast<double>(1024 * run.batch);
    });
    REQUIRE(at != series.points.end());
    CHECK(at->y == static_cast<double>(run.peak));
  }
}
