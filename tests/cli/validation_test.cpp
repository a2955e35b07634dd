// Drawn configurations, and comparisons written as table rows.
#include "app/common/validation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/common/validation_draw.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/llama/config.h"
#include "demos/predict/cards/gpu_extras.h"
#include "demos/predict/forms/closed_form.h"
#include "demos/predict/step_settings.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::app;

namespace {

DrawOptions on_h200(std::uint32_t seed) {
  return {.seed = seed,
          .count = 200,
          .on_gpu = true,
          .memory = 140 * record::kGiB,
          .flops_per_second = 330e12,
          .fp32_flops_per_second = 40e12};
}

double part_below(const std::vector<std::int64_t>& values, std::int64_t middle) {
  const auto below = std::count_if(values.begin(), values.end(), [&](std::int64_t value) { return value < middle; });
  return static_cast<double>(below) / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("a draw has every technique, precision and shape, whatever the seed") {
  const std::uint32_t seed = GENERATE(1u, 0x77dcb60au, 0xffffffffu);
  CAPTURE(seed);
  const std::vector<record::Params> drawn = draw_configurations(on_h200(seed));
  REQUIRE(drawn.size() == 200);
  std::map<std::string, int> uses;
  std::set<std::string> lines;
  std::vector<std::int64_t> batches, sequences, widths;
  int capped = 0, odd_widths = 0;
  for (const record::Params& params : drawn) {
    CAPTURE(as_line(params));
    CHECK_FALSE(experiments::refused_combination(params));
    const predict::StepSettings step = predict::step_settings(params);
    REQUIRE(llama::check(step.model).ok());
    const std::int64_t parameters = llama::num_parameters(step.model);
    CHECK(parameters >= 100'000'000);
    CHECK(parameters <= 8'200'000'000);
    const record::Bytes bytes = record::total(predict::closed_form(step).peak().bytes);
    CHECK(bytes < 140 * record::kGiB);
    CHECK(params.integer("cap") < bytes);
    lines.insert(as_line(params));
    batches.push_back(step.batch);
    sequences.push_back(step.sequence);
    widths.push_back(step.model.hidden_size);
    capped += params.integer("cap") > 0 ? 1 : 0;
    odd_widths += step.model.hidden_size % 128 != 0 ? 1 : 0;
    for (const record::ParamSpec& spec : params.schema())
      if (spec.role == record::ParamRole::kTechnique && !record::choices_of(spec).empty() && params.in_use(spec.key))
        ++uses[std::string(spec.key) + "=" + params.as_text(spec.key)];
  }
  CHECK(lines.size() == 200);
  for (const record::ParamSpec& spec : drawn.front().schema()) {
    if (spec.role != record::ParamRole::kTechnique || spec.group == experiments::kRanksGroup) continue;
    for (const record::Choice& choice : record::choices_of(spec)) {
      const std::string value = std::string(spec.key) + "=" + std::string(choice.key);
      CAPTURE(value);
      CHECK(uses[value] >= 5);
    }
  }
  CHECK(capped >= 20);
  CHECK(odd_widths >= 15);
  CHECK(*std::ranges::max_element(batches) > 24);
  CHECK(*std::ranges::max_element(sequences) > 8'000);
  CHECK(*std::ranges::min_element(sequences) < 200);
  // Slow or large configurations are redrawn, so large values are rarer than in a log-uniform draw.
  CHECK(part_below(batches, 8) > 0.45);
  CHECK(part_below(batches, 8) < 0.9);
  CHECK(part_below(sequences, 2'048) > 0.45);
  CHECK(part_below(sequences, 2'048) < 0.9);
  CHECK(part_below(widths, 1'774) > 0.3);
  CHECK(part_below(widths, 1'774) < 0.75);
}

TEST_CASE("a draw of several ranks has every stage of ZeRO") {
  DrawOptions options = on_h200(7);
  options.count = 40;
  options.ranks = 4;
  std::map<std::string, int> uses;
  int accumulate = 0;
  for (const record::Params& params : draw_configurations(options)) {
    CAPTURE(as_line(params));
    CHECK(params.integer("ranks") == 4);
    CHECK_FALSE(experiments::refused_combination(params));
    CHECK(predict::check(predict::step_settings(params).parallel).ok());
    ++uses[params.text("zero")];
    accumulate += params.integer("accumulate") > 1 ? 1 : 0;
  }
  for (const char* const zero : {"off", "1", "2", "3"}) {
    CAPTURE(zero);
    CHECK(uses[zero] >= 6);
  }
  CHECK(accumulate >= 10);
}

TEST_CASE("the caps of a CPU's draw are below the peaks of its runs") {
  DrawOptions options{.seed = 5, .count = 100, .on_gpu = false, .memory = 2 * record::kGiB};
  options.flops_per_second = options.fp32_flops_per_second = 30e9;
  int capped = 0;
  for (const record::Params& params : draw_configurations(options)) {
    CAPTURE(as_line(params));
    const predict::StepSettings step = predict::step_settings(params);
    // A CPU allocates no workspace for GEMMs.
    const record::Bytes bytes = record::total(predict::closed_form(step).peak().bytes) - predict::kBlasWorkspace;
    CHECK(params.integer("cap") < bytes);
    capped += params.integer("cap") > 0 ? 1 : 0;
  }
  CHECK(capped > 5);
}

TEST_CASE("equal seeds draw equal configurations, other seeds others") {
  const auto lines = [](std::uint32_t seed) {
    std::vector<std::string> all;
    DrawOptions options = on_h200(seed);
    options.count = 20;
    for (const record::Params& params : draw_configurations(options)) all.push_back(as_line(params));
    return all;
  };
  CHECK(lines(3) == lines(3));
  CHECK(lines(3) != lines(4));
}

TEST_CASE("settings survive a round trip as a line, and a bad line says what is wrong") {
  DrawOptions options = on_h200(9);
  options.count = 50;
  for (const record::Params& params : draw_configurations(options)) {
    const auto back = from_line(as_line(params));
    REQUIRE(back.ok());
    CHECK(back.value() == params);
  }
  const auto wrong = from_line("batch=4 sequence=8");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("sequence") != std::string::npos);
  CHECK_FALSE(from_line("batch=many").ok());
}

TEST_CASE("a comparison survives a round trip as a row, with signed errors, and rows are summarized") {
  ComparedRun run{.params = from_line("batch=2 precision=bf16").value()};
  run.requested = {1000, 1000};
  run.allocated = {1024, 2048};
  run.reserved = {4096, 4000};
  run.by_category[0] = {512, 1024};
  const std::string row = run.row();
  const std::string head = ComparedRun::head();
  CHECK(std::count(row.begin(), row.end(), ',') == std::count(head.begin(), head.end(), ','));
  CHECK(row.starts_with("batch=2 precision=bf16,"));
  CHECK(row.find("-50.000000") != std::string::npos);
  const auto back = ComparedRun::of_row(row.substr(0, row.size() - 1));
  REQUIRE(back);
  CHECK(back->params == run.params);
  CHECK(back->allocated.predicted == 1024);
  CHECK(back->by_category[0].measured == 1024);
  CHECK_FALSE(ComparedRun::of_row(row.substr(0, row.size() / 2)));

  ValidationSummary summary;
  summary.add(run);
  ComparedRun other = run;
  other.allocated = {2048, 2048};
  other.ran_out = true;
  summary.add(other);
  other.trouble = "The engine ended unexpectedly.";
  summary.add(other);
  CHECK(summary.compared == 2);
  CHECK(summary.with_trouble == 1);
  CHECK(summary.requested.equal == 2);
  CHECK(summary.allocated.equal == 1);
  CHECK(summary.reserved.equal == 0);
  CHECK(summary.wrong_outcome == 1);
  CHECK(summary.allocated.worst == Approx(-0.5));
  CHECK(summary.reserved.worst == Approx(0.024));
  CHECK(summary.worst_category == Approx(-0.25));
  CHECK(summary.text().find("equal in 1 of 2, worst -50.000 %") != std::string::npos);
}

TEST_CASE("drawn borders have a limit of 8 to 24 GiB, whatever the seed") {
  const std::uint32_t seed = GENERATE(1u, 0x77dcb60au, 0xffffffffu);
  CAPTURE(seed);
  const std::vector<record::Params> borders = draw_borders(on_h200(seed), 60);
  REQUIRE(borders.size() == 60);
  std::set<std::string> lines;
  for (const record::Params& params : borders) {
    CAPTURE(as_line(params));
    lines.insert(as_line(params));
    CHECK(params.integer("batch") == 1);
    CHECK(params.integer("cap") >= 8 * record::kGiB);
    CHECK(params.integer("cap") <= 24 * record::kGiB);
    CHECK_FALSE(experiments::refused_combination(params));
    const predict::StepSettings step = predict::step_settings(params);
    CHECK(record::total(predict::closed_form(step).peak().bytes) <= params.integer("cap"));
  }
  CHECK(lines.size() == 60);
}

TEST_CASE("a border survives a round trip as a row, and a summary counts errors per side") {
  ComparedBorder border{.params = from_line("batch=1 cap=8GiB").value(), .trouble = {}, .predicted = 5, .measured = 5};
  const std::string row = border.row(), head = ComparedBorder::head();
  CHECK(std::count(row.begin(), row.end(), ',') == std::count(head.begin(), head.end(), ','));
  const auto back = ComparedBorder::of_row(row.substr(0, row.size() - 1));
  REQUIRE(back);
  CHECK(back->params == border.params);
  CHECK(back->predicted == 5);
  CHECK_FALSE(ComparedBorder::of_row("batch=1"));
  BorderSummary summary;
  summary.add(border);
  border.measured = 4;
  summary.add(border);
  border.measured = 6;
  summary.add(border);
  border.measured = 9;
  summary.add(border);
  border.trouble = "The engine ended unexpectedly.";
  summary.add(border);
  CHECK(summary.compared == 4);
  CHECK(summary.exact == 1);
  CHECK(summary.one_off == 2);
  CHECK(summary.too_large == 1);
  CHECK(summary.with_trouble == 1);
  CHECK(summary.text().find("1 exact, 2 off by one, 1 off by more; 1 predicted to fit ran out of memory") !=
        std::string::npos);
}
