// Shares of a step's time: published, stored and traced runs against worked numbers.
#include <filesystem>
#include <string>

#include "demos/experiments/schemas.h"
#include "lessons/figure.h"
#include "lessons/steps/step_budget.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::StepBudget;
using predict::AttentionFlops;

namespace {

double sum(const StepBudget& budget) {
  return budget.model + budget.again + budget.products + budget.memory + budget.idle + budget.rest;
}

lessons::FigureData build_budget(bool hidden) {
  const record::Recording run = tests::stored("llama-3.2-1b_h200_fused_kernels"), rungs = tests::stored("ladder_h200");
  const record::Ledger ledger(run), ladder(rungs);
  const record::Ledger* const beside[] = {&ladder};
  const record::Params settings(experiments::shape_schema().schema);
  return lessons::find_figure("step_budget")
      ->build({.run = &ledger, .settings = &settings, .beside = beside, .view = {.hidden = hidden}});
}

}  // namespace

TEST_CASE("the report's five runs reach 1.5 to 46 percent of an RTX 4090") {
  const auto budgets = lessons::published_budgets(AttentionFlops::kNone);
  const double expected[] = {1.5, 10.9, 11.1, 31.2, 46.0};
  const double recomputed = 2.0 * 16 * 60'821'504 / (6.0 * 1'235'814'400);  // 2 L P_layer of 6 P
  REQUIRE(budgets.size() == 5);
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    INFO(budgets[i].name);
    CHECK(100 * budgets[i].mfu() == Approx(expected[i]).margin(0.05));
    CHECK(budgets[i].again / budgets[i].model == Approx(recomputed));  // whole layers are recomputed
    CHECK(sum(budgets[i]) == Approx(1));
  }
}

TEST_CASE("the ladder's rungs are held against the peak of the format they multiply in") {
  const auto budgets = lessons::ladder_budgets(tests::stored("ladder_h200"), AttentionFlops::kNone, {});
  REQUIRE(budgets.size() == 4);
  CHECK(budgets[0].name == "fp32");
  CHECK(budgets[0].peak == 67e12);
  CHECK(budgets[1].name == "16 bits");
  CHECK(budgets[1].peak == 989e12);
  CHECK(budgets[1].hfu() == budgets[1].mfu());
  CHECK(budgets[0].flops_per_token == budgets[1].flops_per_token);
  CHECK(budgets[2].name == "checkpoints");
  CHECK(budgets[2].again / budgets[2].model == Approx(0.19).margin(0.001));  // without the layers' last GEMMs
}

TEST_CASE("a traced step is divided by its kernels") {
  std::string why;
  const auto eager =
      lessons::budget_of(tests::stored("llama-3.2-1b_h200_eager_kernels"), AttentionFlops::kNone, {}, why);
  const auto fused =
      lessons::budget_of(tests::stored("llama-3.2-1b_h200_fused_kernels"), AttentionFlops::kNone, {}, why);
  REQUIRE(eager);
  REQUIRE(fused);
  for (const StepBudget& each : {*eager, *fused}) {
    CHECK(each.rest == 0);
    CHECK(sum(each) == Approx(1));
    CHECK(each.memory > 0);
    CHECK(each.idle > 0);
  }
  CHECK(eager->idle > fused->idle);
  CHECK(eager->memory > fused->memory);
}

TEST_CASE("the bound of a step rises with the batch, and holds for what was measured") {
  const predict::Card& card = *predict::card_of_gpu("NVIDIA H200");
  record::Params params(experiments::shape_schema().schema);
  REQUIRE(params.set_assignment("precision=bf16").ok());
  double before = 0;
  for (const char* batch : {"batch=1", "batch=4", "batch=32"}) {
    REQUIRE(params.set_assignment(batch).ok());
    const auto least =
        lessons::least_budget(predict::step_settings(experiments::step_params(params)), AttentionFlops::kNone, card);
    REQUIRE(least);
    CHECK(least->mfu() > before);
    CHECK(least->mfu() < 1);
    CHECK(sum(*least) == Approx(1));
    before = least->mfu();
  }
  CHECK(before > lessons::ladder_budgets(tests::stored("ladder_h200"), AttentionFlops::kNone, {})[1].mfu());
}

TEST_CASE("a run on a device without a data sheet says so, and takes the reader's peak") {
  std::string why;
  CHECK_FALSE(lessons::budget_of(tests::stored("tiny_cpu"), AttentionFlops::kNone, {}, why));
  CHECK(why.find("data sheet") != std::string::npos);
  const auto given =
      lessons::budget_of(tests::stored("tiny_cpu"), AttentionFlops::kNone, {.given = 1e12, .measured = {}}, why);
  REQUIRE(given);
  CHECK(given->mfu() > 0);
  CHECK(given->mfu() < 1);
}

TEST_CASE("the figure keeps the published runs back while they are asked about") {
  CHECK(tests::charts_of(build_budget(true)).size() == 1);
  const lessons::FigureData figure = build_budget(false);
  REQUIRE(tests::charts_of(figure).size() == 2);
  CHECK(tests::charts_of(figure)[0]->categories.size() == 5);
  CHECK(tests::charts_of(figure)[1]->categories.back() == "at best");
  CHECK(tests::table_of(figure).rows.size() == 2);
}
