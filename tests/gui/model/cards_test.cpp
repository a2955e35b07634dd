// Every figure of a page uses the strip's card.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/page/page_facts.h"
#include "app/page/page_model.h"
#include "demos/experiments/schemas.h"
#include "lessons/card_limit.h"
#include "tests/gui/support/reader.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

// An empty name leaves the GPU unknown.
std::shared_ptr<const record::Recording> gpu_run(const std::string& name = "NVIDIA H200") {
  const auto stored = small_run({.device = record::DeviceKind::kGpu});
  record::RunInfo info = stored->info();
  info.params["device"] = "cuda";
  if (!name.empty()) info.provenance["gpu"] = name;
  info.device_memory = 140 * record::kGiB;
  stored->set_info(info);
  return stored;
}

// Uses the closed form, which answers at once.
std::unique_ptr<PageModel> opened(const char* id, std::shared_ptr<const record::Recording> stored) {
  PageSources sources{.why_no_engine = "A test has no engine.", .stored = {std::move(stored)}};
  auto model = std::make_unique<PageModel>(tests::page(id), demo(), std::move(sources));
  model->question().skip();
  for (const auto& [key, value] : {std::pair{"model", "llama-3.2-1b"}, {"precision", "bf16"}, {"seq", "1024"}})
    REQUIRE(model->set_param(key, value).ok());
  return model;
}

std::optional<lessons::CapLine> line_of(PageModel& model) {
  const lessons::FigureData& figure = model.figure(400);
  model.poll(0, false);
  return tests::timeline_of(figure).cap;
}

int place_of(const PageModel& model, std::string_view figure) {
  return static_cast<int>(std::ranges::find(model.page().figures, figure) - model.page().figures.begin());
}

std::string title_of_map(PageModel& model) {
  model.show_tab(place_of(model, "fit_map"));
  return tests::panel_in<lessons::HeatMap>(model.figure(400)).title;
}

}  // namespace

TEST_CASE("a step that does not fit has the line of the strip's card, whatever chose the card", "[window][page]") {
  const auto model = opened("where_memory_goes", gpu_run());
  struct Case {
    const char *limit, *card, *batch, *label;
  };
  for (const auto& [limit, card, batch, label] :
       {Case{"0", "", "64", "NVIDIA H200 leaves "}, Case{"24GiB", "", "16", "24 GiB limit"},
        Case{"0", "GeForce RTX 4090", "16", "GeForce RTX 4090 leaves "},
        Case{"16GiB", "", "16", "16 GiB limit"}}) {  // a later limit replaces the card
    INFO(label);
    if (*card != '\0') model->choose_card(lessons::card_named(card));
    REQUIRE(model->set_param("cap", limit).ok());
    REQUIRE(model->set_param("batch", batch).ok());
    const auto line = line_of(*model);
    REQUIRE(plan_of(*model) != nullptr);
    const app::CardPlan& on = plan_of(*model)->cards.front();
    CHECK(on.fit.verdict == predict::Verdict::kDoesNotFit);
    REQUIRE(line);
    CHECK(line->y == static_cast<double>(on.card.memory - on.card.process.bytes));
    CHECK(line->label.starts_with(label));
  }
  model->choose_card(lessons::card_named("GeForce RTX 4090"));
  CHECK(model->settings().integer("cap") == 0);
  CHECK(line_of(*model)->label.starts_with("GeForce RTX 4090"));
}

TEST_CASE("a figure has no line if the strip names no card", "[window][page]") {
  const auto model = opened("where_memory_goes", gpu_run(""));
  REQUIRE(model->set_param("batch", "64").ok());
  CHECK_FALSE(line_of(*model));
  CHECK_FALSE(card_of(*model));
}

TEST_CASE("a map of fitting steps uses the strip's card, at first that of its page", "[window][page]") {
  const auto model = opened("will_it_fit", gpu_run());
  REQUIRE(chosen_card(*model) != nullptr);
  CHECK(chosen_card(*model)->name == "GeForce RTX 4090");
  CHECK(title_of_map(*model).starts_with("On GeForce RTX 4090: "));
  model->choose_card(lessons::card_named("A100 80 GB SXM"));
  CHECK(title_of_map(*model).starts_with("On A100 80 GB SXM: "));
  model->choose_card(nullptr);
  CHECK(title_of_map(*model).starts_with("On NVIDIA H200: "));
  REQUIRE(model->set_param("cap", "12GiB").ok());
  CHECK(title_of_map(*model).starts_with("On 12 GiB: "));
  model->show_tab(place_of(*model, "memory_timeline"));
  (void)line_of(*model);
  (void)line_of(*model);
  REQUIRE(plan_of(*model) != nullptr);
  CHECK(plan_of(*model)->cards.front().card.memory == 12 * record::kGiB);
}

TEST_CASE("figures of a page that calculates use 24 GiB until a card is chosen", "[window][page]") {
  PageModel over(tests::page("memory_over_batch"), experiments::shape_schema(), {});
  over.question().skip();
  const auto foot = [&] { return tests::table_of(over.figure(400)).foot; };
  CHECK(foot().starts_with("Tensors alone on 24 GiB: "));
  over.choose_card(lessons::card_named("A100 80 GB SXM"));
  CHECK(foot().starts_with("Tensors alone on A100 80 GB SXM: "));
  over.choose_card(nullptr);
  CHECK(foot().starts_with("Tensors alone on 24 GiB: "));

  PageModel fixed(tests::page("static_bytes"), experiments::shape_schema(), {});
  fixed.question().skip();
  const auto limit = [&] { return tests::charts_of(fixed.figure(400)).at(0)->references.front().label; };
  CHECK(limit() == "24 GiB card");
  fixed.choose_card(lessons::card_named("A100 80 GB SXM"));
  CHECK(limit() == "A100 80 GB SXM");
}
