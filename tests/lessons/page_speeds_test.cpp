// Times, speeds and launches in page texts equal those of stored runs, rounded as printed.
#include <algorithm>
#include <string>
#include <vector>

#include "demos/predict/cards.h"
#include "demos/predict/techniques.h"
#include "demos/record/ledger.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/product_peaks.h"
#include "lessons/pages/live_numbers.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/kernel_rows.h"
#include "lessons/steps/step_budget.h"
#include "lessons/steps/step_work.h"
#include "lessons/theory/line_fit.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::StepBudget;
using lessons::StepWork;
using record::KernelSpan;
using record::Recording;
using tests::check_said;
using tests::peak_of;
using tests::stored;

namespace {

lessons::FigureData figure_of(const char* id, const record::Ledger& run, std::initializer_list<const char*> settings) {
  const lessons::Figure* figure = lessons::find_figure(id);
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure->build({.run = &run, .params = &params, .view = {}});
}

// Work of a traced step, or of its operators `op`.
StepWork step_of(const Recording& run, std::string_view op = {}) {
  return lessons::work_of(lessons::spans_of(run, {.step = lessons::last_traced_step(run), .op = op}));
}

// Rows with a cold cache, of one variant and pass.
std::vector<const record::Measurement*> rows_of(const Recording& run, const std::string& panel, const char* variant,
                                                const char* pass) {
  std::vector<const record::Measurement*> rows = lessons::rows_of(run, panel, pass, "cold");
  std::erase_if(rows, [&](const record::Measurement* row) { return row->variant != variant; });
  return rows;
}

double speed(const Recording& sweep, const std::string& key, std::string_view value) {
  const auto& points = sweep.sweep_points();
  const auto found = std::ranges::find(points, value, [&](const auto& point) { return point.params.at(key); });
  REQUIRE(found != points.end());
  return found->tokens_per_second;
}

StepBudget budget(const Recording& run) {
  std::string why;
  const auto found = lessons::budget_of(run, predict::AttentionFlops::kNone, {}, why);
  INFO(why);
  REQUIRE(found);
  return *found;
}

constexpr double kMicro = 1e3, kMilli = 1e6, kGiga = 1e9, kTera = 1e12;

}  // namespace

TEST_CASE("the launches of RMSNorm are those of the page on many launches") {
  const Recording run = stored("rms_norm_h200_launches");
  const std::vector<KernelSpan> eager = lessons::kernels_of(run, "eager"), fused = lessons::kernels_of(run, "fused");
  const auto micros = [](const std::vector<KernelSpan>& spans) { return lessons::length_of(spans) / kMicro; };
  const StepWork work = lessons::work_of(eager);
  const double all = micros(eager), busy = static_cast<double>(work.kernel_time) / kMicro;
  const double idle = all - busy, graph = micros(lessons::kernels_of(run, "graph")), one = micros(fused);
  REQUIRE(eager.size() == 8);
  check_said("many_launches", "the eager form takes 127 µs and the fused kernel 11 µs", {all, one});
  check_said("many_launches", "idle for only 11 of the 127 µs", {idle, all});
  check_said("many_launches", "the gaps between them, 11 µs here", {idle});
  check_said("many_launches", "take 116 µs of the 127", {busy, all});
  check_said("many_launches", "The graph takes 111 µs, the fused kernel 11 µs", {graph, one});
  std::vector<double> gaps, lengths;
  for (std::size_t i = 0; i < eager.size(); ++i) {
    lengths.push_back(static_cast<double>(eager[i].duration) / kMicro);
    if (i > 0)
      gaps.push_back(static_cast<double>(eager[i].start - eager[i - 1].start - eager[i - 1].duration) / kMicro);
  }
  std::sort(lengths.begin(), lengths.end());
  for (const double length : {lengths[0], lengths[1]}) check_said("many_launches", "take 1.2 µs each", {length});
  check_said("many_launches", "there are 0.9 to 5.2 µs in which none runs",
             {*std::ranges::min_element(gaps), *std::ranges::max_element(gaps)});
  const auto bytes_per_row = [](const std::vector<KernelSpan>& spans) {
    return static_cast<double>(lessons::work_of(spans).bytes) / 1024;
  };
  check_said("many_launches", "The eager kernels move 294,952 bytes per row, the fused one 32,788",
             {bytes_per_row(eager), bytes_per_row(fused)});
  check_said("many_launches", "the eager kernels reach 61 % of a copy's bandwidth",
             {100 * static_cast<double>(work.bytes) / (busy * kMicro) / 4270});
}

TEST_CASE("the traced steps are those of the page on the kernels of a step") {
  const Recording eager = stored("llama-3.2-1b_h200_eager_kernels"), fused = stored("llama-3.2-1b_h200_fused_kernels");
  const StepWork a = step_of(eager), b = step_of(fused);
  const auto launches = [](const StepWork& work) { return static_cast<double>(work.launches); };
  const auto millis = [](record::Nanoseconds time) { return static_cast<double>(time) / kMilli; };
  check_said("kernels_of_a_step", "cut 1,864 launches of a step to 675", {launches(a), launches(b)});
  check_said("kernels_of_a_step", "is 1,864 [launches]", {launches(a)});
  check_said("kernels_of_a_step", "About 675", {launches(b)});
  check_said("kernels_of_a_step", "791 for the norms alone, 480 for RoPE",
             {launches(step_of(eager, "rms_norm")), launches(step_of(eager, "rope"))});
  check_said("kernels_of_a_step", "131 instead of 791",
             {launches(step_of(fused, "rms_norm")), launches(step_of(eager, "rms_norm"))});
  // 15 operations per number of norms, rotations and SwiGLU, forward and backward.
  constexpr double kNumbers = 16.0 * (2 * 2'048 + (32 + 8) * 64 + 8'192), kOperations = 15, kStep = 6 * 1'235'814'400.0;
  CHECK(kNumbers * kOperations < kStep / 1000);
  check_said("kernels_of_a_step", "SwiGLU are less than a thousandth of the step. By launches they are three quarters",
             {});
  double beside = 0;
  for (const char* const op : {"rms_norm", "rope", "silu", "product"}) beside += launches(step_of(eager, op));
  CHECK(beside / launches(a) == Approx(0.75).margin(0.05));
  const auto step_time = [](const Recording& run) { return 1024 / budget(run).tokens_per_second * 1e3; };
  check_said("kernels_of_a_step", "the kernels fill 25.6 of 42.3 ms; with fused kernels, 18.1 of 20.7 ms",
             {millis(a.kernel_time), step_time(eager), millis(b.kernel_time), step_time(fused)});
}

TEST_CASE("the ladder, the traced steps and the products are those of the page on MFU, and of the ladder's own") {
  const Recording ladder = stored("ladder_h200"), rates = stored("product_rates_h200");
  const auto attention = predict::AttentionFlops::kNone;
  const std::vector<StepBudget> rungs = lessons::ladder_budgets(ladder, attention, {});
  REQUIRE(rungs.size() == 4);
  const auto mfu = [](const StepBudget& each) { return 100 * each.mfu(); };
  check_said("mfu",
             "bf16 reaches an MFU of 52.4 %. With checkpointing it is 44.7 %; counting the recomputed matrix "
             "multiplications, it is 53.2 %",
             {mfu(rungs[1]), mfu(rungs[2]), 100 * rungs[2].hfu()});
  const StepBudget best = lessons::published_budgets(attention).back();
  check_said("mfu", "a layer's last matrix multiplication: 19 % more work", {100 * rungs[2].again / rungs[2].model});
  check_said("mfu", "recomputed whole layers: 26 %, an HFU of 58.0 % at best",
             {100 * best.again / best.model, 100 * best.hfu()});
  check_said("mfu", "uses 69.4 % of 67 TFLOP/s, the bf16 rung 52.4 % of 989",
             {mfu(rungs[0]), rungs[0].peak / kTera, mfu(rungs[1]), rungs[1].peak / kTera});
  check_said(
      "mfu", "raise the MFU from 18.1 to 37.1 %",
      {mfu(budget(stored("llama-3.2-1b_h200_eager_kernels"))), mfu(budget(stored("llama-3.2-1b_h200_fused_kernels")))});
  check_said("ladder", "6,270 tokens per second are 69 % of the fp32 peak; 69,894 are 52 % of the bf16 peak",
             {rungs[0].tokens_per_second, mfu(rungs[0]), rungs[1].tokens_per_second, mfu(rungs[1])});
  const auto card = lessons::measured_card(rates);
  REQUIRE(card);
  const predict::Card& sheet = *predict::card_of_gpu("NVIDIA H200");
  check_said("mfu",
             "square matrices have at most 789 TFLOP/s in bf16, 80 % of it, 51 of 67 in fp32, 1,423 of 1,979 in fp8",
             {*card->bf16 / kTera, 100 * *card->bf16 / *sheet.bf16, *card->fp32 / kTera, *sheet.fp32 / kTera,
              *card->fp8 / kTera, *sheet.fp8 / kTera});
  check_said("mfu", "has an MFU of 65.7 %", {mfu(lessons::ladder_budgets(ladder, attention, {0, {*card}})[1])});
}

TEST_CASE("the report's experiment is that of the pages on it") {
  // Both laws fitted to the steps with all kernels, and how much longer (%) these take than Hugging Face's, by tokens.
  struct Steps {
    lessons::LineFit line;
    lessons::LargerFit larger;
    double line_misses = 0, larger_misses = 0;  // %
    std::vector<double> longer;
  };
  const auto steps_of = [](const char* name, bool published = false) {
    const Recording sweep = stored(name);
    const record::Ledger run(sweep);
    const lessons::FigureData figure = figure_of("fixed_cost", run, {});
    REQUIRE(tests::charts_of(figure).size() == 2);
    const lessons::Chart& chart = *tests::charts_of(figure)[published ? 0 : 1];
    std::vector<lessons::LinePoint> points;
    for (const lessons::ChartPoint& point : chart.series[2].points) points.push_back({point.x, point.y});
    Steps steps{.line = *lessons::fit_line(points), .larger = *lessons::fit_larger(points), .longer = {}};
    steps.line_misses = 100 * lessons::worst_miss(steps.line, points);
    steps.larger_misses = 100 * lessons::worst_miss(steps.larger, points);
    for (std::size_t i = 0; i < chart.series[0].points.size(); ++i) {
      REQUIRE(chart.series[0].points[i].x == chart.series[2].points[i].x);
      steps.longer.push_back(100 * (chart.series[2].points[i].y / chart.series[0].points[i].y - 1));
    }
    return steps;
  };
  const Steps gpu = steps_of("report_h200"), cpu = steps_of("report_quick_cpu"), report = steps_of("report_h200", true);
  check_said("fixed_cost", "the sum misses the report's steps by up to 12 %, the longer of the two by 23 %",
             {report.line_misses, report.larger_misses});
  check_said("fixed_cost", "on the H200 it is 27 and 11 %", {gpu.line_misses, gpu.larger_misses});
  check_said("fixed_cost", "0.38 s up to 16,384 tokens, then 0.016 s per 1,000",
             {gpu.larger.constant / kGiga, 16'384, 1000 * gpu.larger.slope / kGiga, 1000});
  REQUIRE(gpu.longer.size() == 3);
  check_said("fixed_cost", "change the step by +6.7, +5.2 and -2.8 %", gpu.longer);
  check_said("fixed_cost", "only 11 ms of fixed time", {cpu.line.at_zero / kMilli});
  check_said("fixed_cost", "shorten the step by 19 to 29 %",
             {-*std::ranges::max_element(cpu.longer), -*std::ranges::min_element(cpu.longer)});
  const double plain = tests::result_after("peers-h200", "| off | 16 | transformers |"),
               liger = tests::result_after("peers-h200", "| off | 16 | Liger-Kernel |");
  check_said("fixed_cost",
             "at batch 16 with 53,756 tokens per second by transformers, and 70,862 with Liger-Kernel: 32 %",
             {16, plain, liger, 100 * (liger / plain - 1)});
  const Recording sweep = stored("report_h200");
  double eager = 0, fused = 0;
  for (const record::SweepPoint& point : sweep.sweep_points()) {
    if (point.params.at("seq") != "1024") continue;
    double& best = point.series == "hf" ? eager : fused;
    if (point.series != "liger_without_flce") best = std::max(best, point.tokens_per_second);
  }
  check_said("report", "On the stored H200 run the gain is 3.0 times", {fused / eager});
}

TEST_CASE("the kernels are those of the pages that compare them") {
  const Recording run = stored("kernels_h200");
  const auto widest = [&](const std::string& panel, const char* variant) {
    return rows_of(run, "report." + panel, variant, "full").back()->median;
  };
  for (const auto& [panel, words] : {std::pair{"rope", "| RoPE | 10.1 | 12.1 |"},
                                     {"rms_norm", "| RMSNorm | 8.7 | 13.9 |"},
                                     {"cross_entropy", "| cross entropy | 2.4 | 3.8 |"},
                                     {"layer_norm", "| LayerNorm | 1.4 | 7.7 |"},
                                     {"geglu", "| GeGLU | 1.02 | 1.02 |"},
                                     {"swiglu", "| SwiGLU | 1.01 | 1.03 |"}}) {
    const std::string published = std::string(words).substr(std::string(words).find_first_of("0123456789"));
    check_said("liger_panels", words, {std::stod(published), widest(panel, "eager") / widest(panel, "fused")});
  }
  check_said("liger_panels", "which take 0.68 ms at this width. Ours take 0.45 ms",
             {widest("layer_norm", "library") / kMilli, widest("layer_norm", "fused") / kMilli});

  const record::Ledger ledger(run);
  const lessons::FigureData roofs = figure_of("bench_roofline", ledger, {});
  REQUIRE(tests::charts_of(roofs)[0]->references.size() == 2);
  const lessons::ChartReference& roof = tests::charts_of(roofs)[0]->references[1];
  check_said("fused_against_unfused", "can do 173 operations: 731 TFLOP/s against 4.24 TB/s",
             {roof.x.front(), roof.y.front() / kTera, roof.y.front() / roof.x.front() / kTera});
  const auto share_of_copy = [&](const char* panel) {
    return 100 * rows_of(run, panel, "copy", "forward").front()->median /
           rows_of(run, panel, "fused", "forward").front()->median;
  };
  check_said("fused_against_unfused", "the fused RMSNorm at 2,048 numbers per row reaches 107 %",
             {2048, share_of_copy("rms_norm")});
}

TEST_CASE("the sweeps are those of the pages on chunks and schedules") {
  const Recording chunks = stored("sweep_loss_chunk_h200");
  const auto thousands = [&](const char* rows) { return speed(chunks, "loss_chunk", rows) / 1e3; };
  check_said("chunk", "reach 31.1 thousand tokens/s with 32 rows, 53.8 with the rule's 256, 57.5 with 2,048",
             {thousands("32"), 32, thousands("256"), 256, thousands("2048"), 2048});
  const Recording schedule = stored("sweep_checkpoint_every_cpu");
  std::vector<double> speeds;
  for (const record::SweepPoint& point : schedule.sweep_points()) speeds.push_back(point.tokens_per_second);
  check_said("schedule", "the speeds differ by 2 % at most",
             {100 * (*std::ranges::max_element(speeds) / *std::ranges::min_element(speeds) - 1)});
}

TEST_CASE("the times of switches are those of the pages that name them") {
  const auto of = [](std::string_view id) {
    const auto all = experiments::memory_techniques();
    const auto found = std::ranges::find(all, id, &experiments::Technique::id);
    REQUIRE(found != all.end());
    return *found;
  };
  const auto times = [&](std::string_view id) { return of(id).cost.times; };
  check_said("recipe", "| 30.31 GiB | 0.95 |", {30.31, times("flce")});
  check_said("recipe", "| step in backward | 41.28 GiB | 1.01 |", {41.28, times("optimizer_in_backward")});
  check_said("recipe", "| 28.51 GiB | 1.22 |", {28.51, times("checkpointing")});
  check_said("recipe", "| 27.47 GiB | 0.33 s more |", {27.47, of("offload_optimizer").cost.seconds});
  check_said("recipe", "AdamW | 34.41 GiB | 0.98 |", {34.41, times("adamw_8bit")});
  // Ratio of a step's time to its GPU part.
  const auto longer = [](const char* batch, const char* step) {
    const std::string row = std::string(batch) + step;
    return std::stod(std::string(step)) / tests::result_after("offload-h200", row + " ms |");
  };
  check_said("recipe", "the CPU's AdamW takes some 0.3 seconds",
             {tests::result_after("offload-h200", "| 8 | 363 ms | 126.3 ms | 78.0 ms | 45.2 ms |") / 1e3});
  check_said("recipe", "2.9 times as long as its GPU part at batch 8, and 1.13 times at batch 32",
             {longer("| 8 | ", "363"), 8, longer("| 32 | ", "593"), 32});
  check_said(
      "checkpointing",
      "the peak falls from 14.37 to 10.94 GiB for 6 % of the speed; recomputing each layer makes it 9.80 GiB for "
      "18 %, 1.22 times the time",
      {peak_of("technique_loss_flce_h200"), peak_of("technique_checkpointing_selective_h200"),
       100 - 100 / times("selective"), peak_of("technique_checkpointing_layer_h200"),
       100 - 100 / times("checkpointing"), times("checkpointing")});

  // Optimizer seconds of the last step, and their share.
  const auto optimizer = [](const char* name) {
    const Recording recording = stored(name);
    const record::Ledger run(recording);
    const lessons::FigureData figure = figure_of("memory_timeline", run, {});
    const lessons::Timeline& timeline = tests::timeline_of(figure);
    const auto band = std::ranges::find(timeline.bands, "optimizer", &lessons::Band::label);
    REQUIRE(band != timeline.bands.end());
    return std::pair{(band->end - band->begin) / kGiga, (band->end - band->begin) / timeline.x.high};
  };
  const Recording offload = stored("technique_offload_optimizer_h200");
  const record::Ledger ledger(offload);
  const std::string said = lessons::with_numbers("{optimizer.time}", {.run = &ledger});
  const double time = kGiga * optimizer("technique_offload_optimizer_h200").first;
  CHECK(said == lessons::amount_text(time, lessons::time_unit(time)));
  CHECK(tests::text_of("offload").find("In the step on show the optimizer takes {optimizer.time}.") !=
        std::string::npos);
  check_said("four_timelines", "for half of C's step", {});
  CHECK(optimizer("report_hf_8_h200").second == Approx(0.5).margin(0.05));
}
