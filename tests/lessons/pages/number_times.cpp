// Times, speeds and launches that pages print.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "demos/experiments/technique_table.h"
#include "demos/predict/cards/cards.h"
#include "demos/record/ledger.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/product_peaks.h"
#include "lessons/pages/numbers/live_numbers.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/kernel_rows.h"
#include "lessons/steps/step_budget.h"
#include "lessons/steps/step_work.h"
#include "lessons/theory/line_fit.h"
#include "tests/lessons/pages/answer_keys.h"
#include "tests/lessons/pages/number_values.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::StepBudget;
using lessons::StepWork;
using record::KernelSpan;
using record::Recording;
using tests::NumberValues;
using tests::stored;

namespace {

lessons::FigureData figure_of(const char* id, const record::Ledger& run) {
  const lessons::Figure* figure = lessons::find_figure(id);
  REQUIRE(figure != nullptr);
  const record::Params params(figure->schema);
  return figure->build({.run = &run, .params = &params, .view = {}});
}

double launches(const Recording& run, std::string_view op = {}) {
  const auto spans = lessons::spans_of(run, {.step = lessons::last_traced_step(run), .op = op});
  return static_cast<double>(lessons::work_of(spans).launches);
}

// Rows with a cold cache, of one variant and pass.
std::vector<const record::Measurement*> rows_of(const Recording& run, const std::string& panel, const char* variant,
                                                const char* pass) {
  std::vector<const record::Measurement*> rows = lessons::rows_of(run, panel, pass, "cold");
  std::erase_if(rows, [&](const record::Measurement* row) { return row->variant != variant; });
  return rows;
}

StepBudget budget(const Recording& run) {
  std::string why;
  const auto found = lessons::budget_of(run, predict::AttentionFlops::kNone, {}, why);
  INFO(why);
  REQUIRE(found);
  return *found;
}

constexpr double kMicro = 1e3, kMilli = 1e6, kGiga = 1e9, kTera = 1e12;

NumberValues launch_numbers() {
  const Recording run = stored("rms_norm_h200_launches");
  const std::vector<KernelSpan> eager = lessons::kernels_of(run, "eager"), fused = lessons::kernels_of(run, "fused");
  REQUIRE(eager.size() == 8);
  const auto micros = [](const std::vector<KernelSpan>& spans) { return lessons::length_of(spans) / kMicro; };
  const auto bytes_per_row = [](const std::vector<KernelSpan>& spans) {
    return static_cast<double>(lessons::work_of(spans).bytes) / 1024;
  };
  std::vector<double> gaps, lengths;
  for (std::size_t i = 0; i < eager.size(); ++i) {
    lengths.push_back(static_cast<double>(eager[i].duration) / kMicro);
    if (i > 0)
      gaps.push_back(static_cast<double>(eager[i].start - eager[i - 1].start - eager[i - 1].duration) / kMicro);
  }
  std::sort(lengths.begin(), lengths.end());
  constexpr double kCopy = 4.27e12;
  const StepWork work = lessons::work_of(eager);
  const double busy = static_cast<double>(work.kernel_time) / kMicro;
  return {{"rms_norm.eager.time", micros(eager)},
          {"rms_norm.eager.busy", busy},
          {"rms_norm.eager.idle", micros(eager) - busy},
          {"rms_norm.eager.shortest", lengths[0]},
          {"rms_norm.eager.shortest", lengths[1]},
          {"rms_norm.eager.least_gap", *std::ranges::min_element(gaps)},
          {"rms_norm.eager.most_gap", *std::ranges::max_element(gaps)},
          {"rms_norm.eager.bytes", bytes_per_row(eager)},
          {"rms_norm.eager.share_of_copy", 100 * static_cast<double>(work.bytes) / (busy / 1e6) / kCopy},
          {"rms_norm.fused.time", micros(fused)},
          {"rms_norm.fused.bytes", bytes_per_row(fused)},
          {"rms_norm.graph.time", micros(lessons::kernels_of(run, "graph"))}};
}

NumberValues traced_step_numbers() {
  const Recording eager = stored("llama-3.2-1b_h200_eager_kernels"), fused = stored("llama-3.2-1b_h200_fused_kernels");
  const auto kernel_time = [](const Recording& run) {
    const auto spans = lessons::spans_of(run, {.step = lessons::last_traced_step(run)});
    return static_cast<double>(lessons::work_of(spans).kernel_time) / kMilli;
  };
  const auto step_time = [](const Recording& run) { return 1024 / budget(run).tokens_per_second * 1e3; };
  return {{"eager_step.launches", launches(eager)},
          {"eager_step.rms_norm.launches", launches(eager, "rms_norm")},
          {"eager_step.rope.launches", launches(eager, "rope")},
          {"eager_step.kernels.time", kernel_time(eager)},
          {"eager_step.time", step_time(eager)},
          {"eager_step.mfu", 100 * budget(eager).mfu()},
          {"fused_step.launches", launches(fused)},
          {"fused_step.rms_norm.launches", launches(fused, "rms_norm")},
          {"fused_step.kernels.time", kernel_time(fused)},
          {"fused_step.time", step_time(fused)},
          {"fused_step.mfu", 100 * budget(fused).mfu()}};
}

NumberValues utilization_numbers() {
  const Recording ladder = stored("ladder_h200");
  const auto attention = predict::AttentionFlops::kNone;
  const std::vector<StepBudget> rungs = lessons::ladder_budgets(ladder, attention, {});
  REQUIRE(rungs.size() == 4);
  const auto mfu = [](const StepBudget& each) { return 100 * each.mfu(); };
  const StepBudget best = lessons::published_budgets(attention).back();
  const auto card = lessons::measured_card(stored("product_rates_h200"));
  REQUIRE(card);
  const predict::Card& sheet = *predict::card_of_gpu("NVIDIA H200");
  return {{"ladder.fp32.mfu", mfu(rungs[0])},
          {"ladder.fp32.speed", rungs[0].tokens_per_second},
          {"ladder.bf16.mfu", mfu(rungs[1])},
          {"ladder.bf16.speed", rungs[1].tokens_per_second},
          {"ladder.bf16.mfu_of_measured", mfu(lessons::ladder_budgets(ladder, attention, {0, {*card}})[1])},
          {"ladder.checkpointing.mfu", mfu(rungs[2])},
          {"ladder.checkpointing.hfu", 100 * rungs[2].hfu()},
          {"ladder.checkpointing.more_work", 100 * rungs[2].again / rungs[2].model},
          {"report.best.more_work", 100 * best.again / best.model},
          {"report.best.hfu", 100 * best.hfu()},
          {"h200.fp32.peak", *sheet.fp32 / kTera},
          {"h200.fp32.peak", rungs[0].peak / kTera},
          {"h200.bf16.peak", *sheet.bf16 / kTera},
          {"h200.bf16.peak", rungs[1].peak / kTera},
          {"h200.fp8.peak", *sheet.fp8 / kTera},
          {"h200.fp32.measured", *card->fp32 / kTera},
          {"h200.bf16.measured", *card->bf16 / kTera},
          {"h200.bf16.measured_share", 100 * *card->bf16 / *sheet.bf16},
          {"h200.fp8.measured", *card->fp8 / kTera}};
}

// The two laws, fitted to a report's steps with all kernels, and how much longer (%) these steps take than Hugging
// Face's.
struct ReportSteps {
  explicit ReportSteps(const char* recording, bool published = false) {
    const Recording sweep = stored(recording);
    const record::Ledger run(sweep);
    const lessons::FigureData figure = figure_of("fixed_cost", run);
    REQUIRE(tests::charts_of(figure).size() == 2);
    const auto& series = tests::charts_of(figure)[published ? 0 : 1]->series;
    std::vector<lessons::LinePoint> points;
    for (const lessons::ChartPoint& point : series[2].points) points.push_back({point.x, point.y});
    line = *lessons::fit_line(points);
    larger = *lessons::fit_larger(points);
    line_misses = 100 * lessons::worst_miss(line, points);
    larger_misses = 100 * lessons::worst_miss(larger, points);
    for (std::size_t i = 0; i < series[0].points.size(); ++i) {
      REQUIRE(series[0].points[i].x == series[2].points[i].x);
      longer.push_back(100 * (series[2].points[i].y / series[0].points[i].y - 1));
    }
  }

  lessons::LineFit line;
  lessons::LargerFit larger;
  double line_misses = 0, larger_misses = 0;  // %
  std::vector<double> longer;                 // by batch
};

NumberValues report_numbers() {
  const ReportSteps gpu("report_h200"), cpu("report_quick_cpu"), published("report_h200", true);
  REQUIRE(gpu.longer.size() == 3);
  const double plain = tests::result_after("peers-h200", "| off | 16 | transformers |"),
               liger = tests::result_after("peers-h200", "| off | 16 | Liger-Kernel |");
  const Recording sweep = stored("report_h200");
  double eager = 0, fused = 0;
  for (const record::SweepPoint& point : sweep.sweep_points()) {
    if (point.params.at("seq") != "1024") continue;
    double& best = point.series == "hf" ? eager : fused;
    if (point.series != "liger_without_flce") best = std::max(best, point.tokens_per_second);
  }
  return {{"sum_law.report.miss", published.line_misses},
          {"longer_law.report.miss", published.larger_misses},
          {"sum_law.h200.miss", gpu.line_misses},
          {"longer_law.h200.miss", gpu.larger_misses},
          {"longer_law.h200.constant", gpu.larger.constant / kGiga},
          {"longer_law.h200.slope", 1000 * gpu.larger.slope / kGiga},
          {"all_kernels.batch_1.longer", gpu.longer[0]},
          {"all_kernels.batch_4.longer", gpu.longer[1]},
          {"all_kernels.batch_8.longer", gpu.longer[2]},
          {"tiny.fixed_time", cpu.line.at_zero / kMilli},
          {"tiny.least_shorter", -*std::ranges::max_element(cpu.longer)},
          {"tiny.most_shorter", -*std::ranges::min_element(cpu.longer)},
          {"transformers.speed", plain},
          {"liger.speed", liger},
          {"liger.gain", 100 * (liger / plain - 1)},
          {"report.h200.gain", fused / eager}};
}

NumberValues kernel_numbers() {
  const Recording run = stored("kernels_h200");
  const auto widest = [&](const char* panel, const char* variant) {
    return rows_of(run, std::string("report.") + panel, variant, "full").back()->median;
  };
  const auto gain = [&](const char* panel) { return widest(panel, "eager") / widest(panel, "fused"); };
  const auto narrowest = [&](const char* variant) {
    return rows_of(run, "rms_norm", variant, "forward").front()->median;
  };
  const record::Ledger ledger(run);
  const lessons::FigureData roofs = figure_of("bench_roofline", ledger);
  REQUIRE(tests::charts_of(roofs)[0]->references.size() == 2);
  const lessons::ChartReference& roof = tests::charts_of(roofs)[0]->references[1];
  return {{"rope.gain", gain("rope")},
          {"rms_norm.gain", gain("rms_norm")},
          {"cross_entropy.gain", gain("cross_entropy")},
          {"layer_norm.gain", gain("layer_norm")},
          {"geglu.gain", gain("geglu")},
          {"swiglu.gain", gain("swiglu")},
          {"layer_norm.library.time", widest("layer_norm", "library") / kMilli},
          {"layer_norm.fused.time", widest("layer_norm", "fused") / kMilli},
          {"h200.balance", roof.x.front()},
          {"h200.matrix_rate", roof.y.front() / kTera},
          {"h200.copy_rate", roof.y.front() / roof.x.front() / kTera},
          {"rms_norm.share_of_copy", 100 * narrowest("copy") / narrowest("fused")}};
}

NumberValues sweep_numbers() {
  const Recording chunks = stored("sweep_loss_chunk_h200"), schedule = stored("sweep_checkpoint_every_cpu");
  const auto thousands = [&](std::string_view rows) {
    const auto& points = chunks.sweep_points();
    const auto found = std::ranges::find(points, rows, [](const auto& point) { return point.params.at("loss_chunk"); });
    REQUIRE(found != points.end());
    return found->tokens_per_second / 1e3;
  };
  std::vector<double> speeds;
  for (const record::SweepPoint& point : schedule.sweep_points()) speeds.push_back(point.tokens_per_second);
  return {
      {"loss_chunk_32.speed", thousands("32")},
      {"loss_chunk_256.speed", thousands("256")},
      {"loss_chunk_2048.speed", thousands("2048")},
      {"checkpoint_every.spread", 100 * (*std::ranges::max_element(speeds) / *std::ranges::min_element(speeds) - 1)}};
}

NumberValues switch_numbers() {
  const auto of = [](std::string_view id) {
    const experiments::Technique* const found = experiments::find_technique(id);
    REQUIRE(found != nullptr);
    return found->cost;
  };
  const double layer = of("checkpointing").times;
  const auto longer = [](const char* batch, const char* step) {
    const std::string row = std::string(batch) + step;
    return std::stod(std::string(step)) / tests::result_after("offload-h200", row + " ms |");
  };
  return {
      {"flce.times", of("flce").times},
      {"step_in_backward.times", of("optimizer_in_backward").times},
      {"adamw_8bit.times", of("adamw_8bit").times},
      {"offload_optimizer.more_time", of("offload_optimizer").seconds},
      {"checkpointing.layer.times", layer},
      {"checkpointing.layer.slower", 100 - 100 / layer},
      {"checkpointing.selective.slower", 100 - 100 / of("selective").times},
      {"host_weights.batch_8.times", longer("| 8 | ", "363")},
      {"host_weights.batch_32.times", longer("| 32 | ", "593")},
      {"cpu_adamw.time", tests::result_after("offload-h200", "| 8 | 363 ms | 126.3 ms | 78.0 ms | 45.2 ms |") / 1e3}};
}

constexpr std::array kTimes{launch_numbers, traced_step_numbers, utilization_numbers, report_numbers,
                            kernel_numbers, sweep_numbers,       switch_numbers};

struct OptimizerBand {
  double time = 0, share = 0;
};
OptimizerBand optimizer_of(const char* recording) {
  const Recording stored_run = stored(recording);
  const record::Ledger run(stored_run);
  const lessons::FigureData figure = figure_of("memory_timeline", run);
  const lessons::Timeline& timeline = tests::timeline_of(figure);
  const auto band = std::ranges::find(timeline.bands, "optimizer", &lessons::Band::label);
  REQUIRE(band != timeline.bands.end());
  return {band->end - band->begin, (band->end - band->begin) / timeline.x.high};
}

}  // namespace

tests::NumberSources tests::sources_of_times() { return kTimes; }

TEST_CASE("norms, rotations and SwiGLU are three quarters of the launches, and a thousandth of the arithmetic") {
  // 15 operations per number, forward and backward.
  constexpr double kNumbers = 16.0 * (2 * 2'048 + (32 + 8) * 64 + 8'192), kOperations = 15;
  CHECK(kNumbers * kOperations < 6.0 * tests::kParameters / 1000);
  const Recording eager = stored("llama-3.2-1b_h200_eager_kernels");
  double sum = 0;
  for (const char* const op : {"rms_norm", "rope", "silu", "product"}) sum += launches(eager, op);
  CHECK(sum / launches(eager) == Approx(0.75).margin(0.05));
}

TEST_CASE("the optimizer's live time is its band in the figure, and half of the report's step") {
  const Recording offload = stored("technique_offload_optimizer_h200");
  const record::Ledger ledger(offload);
  const double time = optimizer_of("technique_offload_optimizer_h200").time;
  CHECK(lessons::with_numbers("{optimizer.time}", {.run = &ledger}) ==
        lessons::amount_text(time, lessons::time_unit(time)));
  CHECK(optimizer_of("report_hf_8_h200").share == Approx(0.5).margin(0.05));
}
