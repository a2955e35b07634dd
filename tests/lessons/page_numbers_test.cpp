// Numbers that the pages' texts take from stored runs: each is the recording's, rounded as it is printed.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <regex>
#include <string>
#include <vector>

#include "demos/predict/cards.h"
#include "demos/predict/techniques.h"
#include "demos/record/ledger.h"
#include "lessons/bench.h"
#include "lessons/kernel_rows.h"
#include "lessons/product_peaks.h"
#include "lessons/step_budget.h"
#include "lessons/step_work.h"
#include "lessons/validated.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::StepBudget;
using lessons::StepWork;
using record::KernelSpan;
using record::Recording;

namespace {

Recording stored(const std::string& name) {
  return Recording::read(std::filesystem::path(HEADROOM_SOURCE_DIR "/assets/recordings") / (name + ".hrec")).value();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Of a page, with plain blanks and signs.
std::string text_of(const std::string& page) {
  std::ifstream file(HEADROOM_SOURCE_DIR "/assets/text/" + page + ".md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return replaced(replaced(text, "\u00a0", " "), "−", "-");
}

// The page has these words, and the numbers in them are these values, each within half of its last digit.
void check_said(const std::string& page, const std::string& words, const std::vector<double>& values) {
  INFO(page << ": " << words);
  CHECK(text_of(page).find(words) != std::string::npos);
  static const std::regex number(R"([-+]?\d[\d,]*(\.\d+)?)");
  std::size_t i = 0;
  for (std::sregex_iterator at(words.begin(), words.end(), number), end; at != end; ++at) {
    const auto before = static_cast<std::size_t>(at->position());
    if (before > 0 && std::isalpha(static_cast<unsigned char>(words[before - 1]))) continue;  // "bf16"
    REQUIRE(i < values.size());
    const std::string decimals = (*at)[1];
    const double unit = decimals.empty() ? 1 : std::pow(10, -static_cast<double>(decimals.size() - 1));
    CHECK(std::stod(replaced(at->str(), ",", "")) == Approx(values[i]).margin(0.501 * unit).epsilon(0));
    ++i;
  }
  CHECK(i == values.size());
}

lessons::FigureData figure_of(const char* id, const record::Ledger& run, std::initializer_list<const char*> settings) {
  const lessons::Figure* figure = lessons::find_figure(id);
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure->build({.run = &run, .params = &params, .view = {}});
}

// All that a traced step did, or what operators of that name did.
StepWork step_of(const Recording& run, std::string_view op = {}) {
  return lessons::work_of(lessons::spans_of(run, {.step = lessons::last_traced_step(run), .op = op}));
}

// Of a kernel's rows with a cold cache: all of one variant and pass.
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

std::vector<double> losses_of(const Recording& run) {
  std::vector<double> losses;
  for (const record::MetricSample& sample : run.metrics())
    if (sample.kind == record::MetricKind::kLoss) losses.push_back(sample.value);
  return losses;
}

double last_fifty(const Recording& run) {
  const std::vector<double> losses = losses_of(run);
  return std::accumulate(losses.end() - 50, losses.end(), 0.0) / 50;
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
  check_said("many_launches", "the eager form takes 121 µs and the fused kernel 11 µs", {all, one});
  check_said("many_launches", "In only 8 of the 121 µs", {idle, all});
  check_said("many_launches", "the gaps between them, 8 µs here", {idle});
  check_said("many_launches", "take 114 µs of the 121", {busy, all});
  check_said("many_launches", "The graph takes 111 µs, the fused kernel 11 µs", {graph, one});
  std::vector<double> gaps, lengths;
  for (std::size_t i = 0; i < eager.size(); ++i) {
    lengths.push_back(static_cast<double>(eager[i].duration) / kMicro);
    if (i > 0)
      gaps.push_back(static_cast<double>(eager[i].start - eager[i - 1].start - eager[i - 1].duration) / kMicro);
  }
  std::sort(lengths.begin(), lengths.end());
  for (const double length : {lengths[0], lengths[1]}) check_said("many_launches", "take 1.1 µs each", {length});
  check_said("many_launches", "there are 1.0 to 1.2 µs in which none runs",
             {*std::ranges::min_element(gaps), *std::ranges::max_element(gaps)});
  const auto bytes_per_row = [](const std::vector<KernelSpan>& spans) {
    return static_cast<double>(lessons::work_of(spans).bytes) / 1024;
  };
  check_said("many_launches", "The eager kernels move 294,952 bytes per row, the fused one 32,788",
             {bytes_per_row(eager), bytes_per_row(fused)});
  check_said("many_launches", "the eager kernels reach 62 % of a copy's bandwidth",
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
  const auto step_time = [](const Recording& run) { return 1024 / budget(run).tokens_per_second * 1e3; };
  check_said("kernels_of_a_step", "the kernels fill 25.6 of 40.4 ms; with fused kernels, 18.1 of 20.8 ms",
             {millis(a.kernel_time), step_time(eager), millis(b.kernel_time), step_time(fused)});
}

TEST_CASE("the ladder, the traced steps and the products are those of the page on MFU, and of the ladder's own") {
  const Recording ladder = stored("ladder_h200"), rates = stored("product_rates_h200");
  const auto attention = predict::AttentionFlops::kNone;
  const std::vector<StepBudget> rungs = lessons::ladder_budgets(ladder, attention, {});
  REQUIRE(rungs.size() == 4);
  const auto mfu = [](const StepBudget& each) { return 100 * each.mfu(); };
  check_said("mfu",
             "bf16 reaches an MFU of 51.2 %. With checkpointing it is 43.5 %; with the matrix multiplications that run "
             "again it is 51.8 %",
             {mfu(rungs[1]), mfu(rungs[2]), 100 * rungs[2].hfu()});
  check_said("mfu", "would give 58.0 %", {mfu(rungs[2]) * 8 / 6});
  check_said("mfu", "uses 69.5 % of 67 TFLOP/s, the bf16 rung 51.2 % of 989",
             {mfu(rungs[0]), rungs[0].peak / kTera, mfu(rungs[1]), rungs[1].peak / kTera});
  check_said(
      "mfu", "raise the MFU from 19.0 to 37.0 %",
      {mfu(budget(stored("llama-3.2-1b_h200_eager_kernels"))), mfu(budget(stored("llama-3.2-1b_h200_fused_kernels")))});
  check_said("ladder", "6,280 tokens per second are 69 % of the fp32 peak; 68,299 are 51 % of the bf16 peak",
             {rungs[0].tokens_per_second, mfu(rungs[0]), rungs[1].tokens_per_second, mfu(rungs[1])});
  const auto card = lessons::measured_card(rates);
  REQUIRE(card);
  const predict::Card& sheet = *predict::card_of_gpu("NVIDIA H200");
  check_said("mfu",
             "8,192 × 8,192 matrices have 772 TFLOP/s in bf16, 78 % of it, 51 of 67 in fp32, 1,413 of 1,979 in fp8",
             {8192, 8192, *card->bf16 / kTera, 100 * *card->bf16 / *sheet.bf16, *card->fp32 / kTera,
              *sheet.fp32 / kTera, *card->fp8 / kTera, *sheet.fp8 / kTera});
  for (const record::Measurement* row : lessons::fastest_products(rates))
    if (row->storage != "tf32") CHECK(row->rows == 8192);
  check_said("mfu", "has an MFU of 65.6 %", {mfu(lessons::ladder_budgets(ladder, attention, {0, {*card}})[1])});
}

TEST_CASE("the report's experiment is that of the pages on it") {
  // How much longer a step of all kernels takes than one of Hugging Face's way, in %, from the fewest tokens to the most.
  struct Fixed {
    double at_zero = 0, per_token = 0;  // ns
    std::vector<double> longer;
  };
  const auto fixed_part = [](const char* name) {
    const Recording sweep = stored(name);
    const record::Ledger run(sweep);
    const lessons::FigureData figure = figure_of("fixed_cost", run, {});
    REQUIRE(tests::charts_of(figure).size() == 2);
    const lessons::Chart& chart = *tests::charts_of(figure)[1];
    const lessons::ChartReference& line = chart.references[0];
    Fixed fixed{.at_zero = line.y.front(), .per_token = (line.y.back() - line.y.front()) / line.x.back(), .longer = {}};
    REQUIRE(line.x.front() == 0);
    for (std::size_t i = 0; i < chart.series[0].points.size(); ++i) {
      REQUIRE(chart.series[0].points[i].x == chart.series[2].points[i].x);
      fixed.longer.push_back(100 * (chart.series[2].points[i].y / chart.series[0].points[i].y - 1));
    }
    return fixed;
  };
  const Fixed gpu = fixed_part("report_h200"), cpu = fixed_part("report_quick_cpu");
  check_said("fixed_cost", "has 0.23 s, and 0.014 s per 1,000 tokens",
             {gpu.at_zero / kGiga, 1000 * gpu.per_token / kGiga, 1000});
  REQUIRE(gpu.longer.size() == 3);
  check_said("fixed_cost", "change its step by -1.5, -8.8 and -2.8 %", gpu.longer);
  check_said("fixed_cost", "15 ms of fixed part", {cpu.at_zero / kMilli});
  check_said("fixed_cost", "shorten the step by 2 to 13 %",
             {-*std::ranges::max_element(cpu.longer), -*std::ranges::min_element(cpu.longer)});
  const Recording sweep = stored("report_h200");
  double eager = 0, fused = 0;
  for (const record::SweepPoint& point : sweep.sweep_points()) {
    if (point.params.at("seq") != "1024") continue;
    double& best = point.series == "hf" ? eager : fused;
    if (point.series != "liger_without_flce") best = std::max(best, point.tokens_per_second);
  }
  check_said("report", "the fixed part is 0.2 seconds, and the speed grows 2.9 times",
             {gpu.at_zero / kGiga, fused / eager});
}

TEST_CASE("the kernels are those of the pages that compare them") {
  const Recording run = stored("kernels_h200");
  const auto widest = [&](const std::string& panel, const char* variant) {
    return rows_of(run, "report." + panel, variant, "full").back()->median;
  };
  for (const auto& [panel, words] : {std::pair{"rope", "| RoPE | 10.1 | 12.0 |"},
                                     {"rms_norm", "| RMSNorm | 8.7 | 13.9 |"},
                                     {"cross_entropy", "| cross entropy | 2.4 | 3.8 |"},
                                     {"layer_norm", "| LayerNorm | 1.4 | 7.7 |"},
                                     {"geglu", "| GeGLU | 1.02 | 1.03 |"},
                                     {"swiglu", "| SwiGLU | 1.01 | 1.03 |"}}) {
    const std::string published = std::string(words).substr(std::string(words).find_first_of("0123456789"));
    check_said("liger_panels", words, {std::stod(published), widest(panel, "eager") / widest(panel, "fused")});
  }
  check_said("liger_panels", "which take 0.68 ms at this width. Ours take 0.44 ms",
             {widest("layer_norm", "library") / kMilli, widest("layer_norm", "fused") / kMilli});

  const record::Ledger ledger(run);
  const lessons::FigureData roofs = figure_of("bench_roofline", ledger, {});
  REQUIRE(tests::charts_of(roofs)[0]->references.size() == 2);
  const lessons::ChartReference& roof = tests::charts_of(roofs)[0]->references[1];
  check_said("fused_against_unfused", "can do 169 operations: 722 TFLOP/s against 4.26 TB/s",
             {roof.x.front(), roof.y.front() / kTera, roof.y.front() / roof.x.front() / kTera});
  const auto share_of_copy = [&](const char* panel) {
    return 100 * rows_of(run, panel, "copy", "forward").front()->median /
           rows_of(run, panel, "fused", "forward").front()->median;
  };
  check_said("fused_against_unfused", "the fused RMSNorm at 2,048 numbers per row reaches 106 %",
             {2048, share_of_copy("rms_norm")});
}

TEST_CASE("the sweeps are those of the pages on chunks and schedules") {
  const Recording chunks = stored("sweep_loss_chunk_h200");
  const auto thousands = [&](const char* rows) { return speed(chunks, "loss_chunk", rows) / 1e3; };
  check_said("chunk", "reach 30.5 thousand tokens/s with 32 rows, 53.1 with the rule's 256, 56.9 with 2,048",
             {thousands("32"), 32, thousands("256"), 256, thousands("2048"), 2048});
  const Recording schedule = stored("sweep_checkpoint_every_cpu");
  std::vector<double> speeds;
  for (const record::SweepPoint& point : schedule.sweep_points()) speeds.push_back(point.tokens_per_second);
  check_said("schedule", "the speeds differ by 3 % at most",
             {100 * (*std::ranges::max_element(speeds) / *std::ranges::min_element(speeds) - 1)});
}

TEST_CASE("the times of switches are those of the pages that name them") {
  const auto times = [](std::string_view id) {
    const auto all = predict::memory_switches();
    const auto found = std::ranges::find(all, id, &predict::MemorySwitch::id);
    REQUIRE(found != all.end());
    return found->times;
  };
  check_said("recipe", "| 30.31 GiB | 0.94 |", {30.31, times("flce")});
  check_said("recipe", "| step in backward | 41.28 GiB | 1.00 |", {41.28, times("optimizer_in_backward")});
  check_said("recipe", "| 28.51 GiB | 1.20 |", {28.51, times("checkpointing")});
  check_said("recipe", "| 27.47 GiB | 3.96 |", {27.47, times("offload_optimizer")});
  check_said("recipe", "AdamW | 34.41 GiB | 0.98 |", {34.41, times("adamw_8bit")});
  check_said("checkpointing",
             "for 5 % of the speed; recomputing each layer leaves 320 MiB for 17 %, 1.20 times the time",
             {100 - 100 / times("selective"), 320, 100 - 100 / times("checkpointing"), times("checkpointing")});

  // Of the last step: seconds in the optimizer, and their share of the step.
  const auto optimizer = [](const char* name) {
    const Recording recording = stored(name);
    const record::Ledger run(recording);
    const lessons::FigureData figure = figure_of("memory_timeline", run, {});
    const lessons::Timeline& timeline = tests::timeline_of(figure);
    const auto band = std::ranges::find(timeline.bands, "optimizer", &lessons::Band::label);
    REQUIRE(band != timeline.bands.end());
    return std::pair{(band->end - band->begin) / kGiga, (band->end - band->begin) / timeline.x.high};
  };
  check_said("offload", "the optimizer takes 0.25 seconds", {optimizer("technique_offload_optimizer_h200").first});
  check_said("four_timelines", "for nearly half of C's step", {});
  CHECK(optimizer("report_hf_8_h200").second == Approx(0.47).margin(0.03));
}

TEST_CASE("the gradients in fp16 are those of the page on loss scaling") {
  const auto last_of = [](const char* name) {
    const Recording run = stored(name);
    record::Histogram last;
    for (const record::Histogram& each : run.histograms())
      if (each.name == "gradients") last = each;
    return last;
  };
  // In %: those below 2^exponent, and how many reach it.
  const auto below = [](const record::Histogram& gradients, int exponent) {
    double less = static_cast<double>(gradients.zeros), all = less + static_cast<double>(gradients.not_finite);
    for (std::size_t i = 0; i < gradients.counts.size(); ++i) {
      all += static_cast<double>(gradients.counts[i]);
      if (gradients.low_exponent + static_cast<int>(i) < exponent) less += static_cast<double>(gradients.counts[i]);
    }
    return std::pair{100 * less / all, all - less};
  };
  constexpr int kVanish = -25, kCoarse = -14, kInfinite = 16;  // of fp16
  const record::Histogram large = last_of("technique_fp16_mixed_h200"), tiny = last_of("technique_fp16_mixed_cpu");
  REQUIRE(large.step == 2);
  const auto loses_digits = [&](const record::Histogram& gradients, int scale) {
    return below(gradients, kCoarse - scale).first - below(gradients, kVanish - scale).first;
  };
  check_said("loss_scaling", "0.29 % are below 2⁻²⁵ and become zero. Another 53.8 % are below",
             {below(large, kVanish).first, 2, loses_digits(large, 0)});
  check_said("loss_scaling", "only the 0.15 % below 2⁻²⁶", {below(large, kCoarse - 12).first, 2});
  CHECK(below(large, kCoarse - 10).first < 1);
  CHECK(below(large, kCoarse - 9).first > 1);
  CHECK(below(large, kInfinite - 12).second == 0);
  CHECK(below(large, kInfinite - 20).second > 6600);
  check_said("loss_scaling", "0.29 % vanish and 53.8 % lose digits without a scale",
             {below(large, kVanish).first, loses_digits(large, 0)});
  check_said("loss_scaling", "3.9 % lose digits, at 2¹² 0.15 %", {loses_digits(large, 7), 2, loses_digits(large, 12)});
  check_said("loss_scaling", "In the tiny model 41.9 % do", {loses_digits(tiny, 0)});
}

TEST_CASE("long runs lose what their pages say, and keep the memory of three steps") {
  const Recording nearest = stored("lost_updates_nearest_h200"), stochastic = stored("lost_updates_stochastic_h200"),
                  mixed = stored("lost_updates_mixed_h200");
  for (const Recording* run : {&nearest, &stochastic, &mixed}) {
    REQUIRE(losses_of(*run).size() == 300);
    CHECK(losses_of(*run).front() == losses_of(nearest).front());
    CHECK(record::Ledger(*run).first_mismatch() == record::kNever);
  }
  const auto peak = [](const Recording& run) {
    return static_cast<double>(record::Ledger(run).peak().totals.allocated) / record::kGiB;
  };
  check_said(
      "lost_updates",
      "the last 50 losses are 1.139 on average to nearest, 1.009 with stochastic rounding and 1.003 with masters, "
      "which take 9.21 GiB more",
      {50, last_fifty(nearest), last_fifty(stochastic), last_fifty(mixed), peak(mixed) - peak(stochastic)});
  check_said(
      "lost_updates", "it is 3.97 to nearest, 3.74 with stochastic rounding and 3.74 with masters",
      {losses_of(stored("lost_updates_nearest_cpu")).back(), losses_of(stored("lost_updates_stochastic_cpu")).back(),
       losses_of(stored("lost_updates_mixed_cpu")).back()});
  for (const auto& [name, loss] :
       {std::pair{"losses_full_cpu", 2.2}, {"losses_lora_cpu", 6.4}, {"losses_qlora_cpu", 6.4}})
    CHECK(last_fifty(stored(name)) == Approx(loss).margin(0.05));
  check_said("low_rank", "end near 2.2 with all weights and near 6.4 with LoRA or QLoRA", {2.2, 6.4});
}

TEST_CASE("the compared predictions are those of the page on what fits") {
  const auto runs = lessons::validated_runs();
  double equal = 0, worst = 0;
  for (const lessons::ValidatedRun& run : runs) {
    const auto measured = static_cast<double>(run.measured), off = static_cast<double>(run.predicted) - measured;
    equal += off == 0 ? 1 : 0;
    worst = std::max(worst, 100 * std::abs(off) / measured);
  }
  check_said("will_it_fit", "equal to the byte in 392 of 396 runs, the others within 1.1 %",
             {equal, static_cast<double>(runs.size()), worst});
}
