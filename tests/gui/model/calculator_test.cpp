// Calculator pages follow the settings by closed form, without runs.
#include <algorithm>
#include <stdexcept>

#include "app/page/page_facts.h"
#include "app/page/page_model.h"
#include "app/page/words/page_words.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::page;

namespace {

// The window's page model without a backend, with the question skipped.
struct Opened : PageModel {
  explicit Opened(const char* id) : PageModel(tests::page(id), *lessons::demo_or_schema(tests::page(id)), {}) {
    question().skip();
  }
};

const lessons::Table& table_of(PageModel& model) {
  const auto* table = lessons::panel_of<lessons::Table>(model.figure(600));
  if (table == nullptr) throw std::logic_error("The figure has no table");
  return *table;
}

int tab_of(const PageModel& model, const char* figure) {
  const auto& figures = model.page().figures;
  return static_cast<int>(std::find(figures.begin(), figures.end(), figure) - figures.begin());
}

}  // namespace

TEST_CASE("the formulas of a calculator follow a setting, without a run and without a prediction", "[window]") {
  Opened model("static_bytes");
  model.show_tab(tab_of(model, "formula_table"));
  CHECK(table_of(model).columns == std::vector<std::string>{"at the loss", "end of backward"});
  CHECK(table_of(model).rows.at(0).note == "2 · P = 2 × 1,235,814,400");
  CHECK(table_of(model).foot.find("runs") == std::string::npos);
  const int revision = model.figures().revision();
  REQUIRE(model.set_param("model", "llama-3-8b"));
  CHECK(table_of(model).rows.at(0).note == "2 · P = 2 × 8,030,261,248");
  CHECK(model.figures().revision() > revision);
  const auto activations = [&] {
    const auto& rows = table_of(model).rows;
    return std::ranges::find(rows, "Activations", &lessons::TableRow::name)->note;
  };
  CHECK(activations().starts_with("loss: B · T · (L · layer + final norm) = 4,096 × (32 × "));
  REQUIRE(model.set_param("checkpointing", "layer"));
  CHECK(activations().starts_with("loss: B · T · H · (s · L + "));
  CHECK_FALSE(model.set_param("device", "cuda").ok());  // only runs have a device
}

TEST_CASE("numbers in a calculator's text follow its settings", "[window]") {
  Opened model("static_bytes");
  const auto words = [&] {
    (void)model.figure(400);
    std::string all;
    for (const PagePart& part : model.text().more.at(0)) all += part.words.markdown;
    return all;
  };
  CHECK(words().find("The settings here have 1,235,814,400 parameters") != std::string::npos);
  REQUIRE(model.set_param("model", "llama-3-8b"));
  CHECK(words().find("The settings here have 8,030,261,248 parameters") != std::string::npos);
  CHECK(words().find("14.96 GiB of weights") != std::string::npos);  // 2 bytes per parameter
}

TEST_CASE("the needle follows the settings' model and the figure's own parameters", "[window]") {
  Opened model("vocabulary");
  const auto last_point = [&] { return tests::charts_of(model.figure(600)).at(0)->series.at(0).points.back(); };
  CHECK(last_point().y == 32.0 * 1024 * 3 * 4 * 128256);
  REQUIRE(model.set_param("seq", "2048"));
  CHECK(last_point().x == 32.0 * 2048);
  REQUIRE(model.figures().set_param("copies", "4"));
  CHECK(last_point().y == 32.0 * 2048 * 4 * 4 * 128256);
  CHECK(table_of(model).rows.size() == 5);
  REQUIRE(model.set_param("model", "custom"));
  REQUIRE(model.set_param("hidden_size", "1024"));
  REQUIRE(model.set_param("num_layers", "8"));
  REQUIRE(model.set_param("vocab_size", "65536"));
  REQUIRE(table_of(model).rows.size() == 6);  // the published models and the custom one
  CHECK(table_of(model).rows[0].name == "Custom");
  CHECK(table_of(model).rows[0].cells == std::vector<std::string>{"65,536", "8,192", "64.00"});
  REQUIRE(model.figures().set_param("vocabulary", "32000"));
  CHECK(table_of(model).rows[0].name == "Custom, other vocabulary");
  CHECK_FALSE(model.figures().set_param("copies", "9").ok());
}

TEST_CASE("a page that calculates runs nothing and reports no trouble", "[window]") {
  for (const lessons::Page* page : tests::course().pages()) {
    if (page->schema.empty()) continue;
    INFO(page->id);
    Opened model(page->id.c_str());
    CHECK_FALSE(model.control().can_run());
    CHECK(model.control().fixed_settings().empty());
    CHECK_FALSE(has_predictions(model));
    CHECK_FALSE(can_pin(model));
    CHECK(model.runs().all().empty());
    CHECK(status_line(model).empty());
    CHECK_FALSE(notice_of(model).has_value());
    for (int tab = 0; tab < static_cast<int>(page->figures.size()); ++tab) {
      model.show_tab(tab);
      CHECK(model.figure(600).head.empty_reason == "");
      CHECK(model.figure(600).head.source == record::Source::kFormula);
    }
  }
}

TEST_CASE("a calculator takes over the settings of another one", "[window]") {
  Opened first("vocabulary"), second("static_bytes");
  REQUIRE(first.set_param("model", "llama-3.2-3b"));
  second.show_tab(tab_of(second, "formula_table"));
  const std::string before = table_of(second).rows.at(0).note;
  second.adopt(first.settings());
  CHECK(second.settings() == first.settings());
  CHECK(table_of(second).rows.at(0).note != before);
  const int revision = second.figures().revision();
  second.adopt(first.settings());  // a no-op
  second.figure(600);
  CHECK(second.figures().revision() == revision);
}

TEST_CASE("the answer of a calculator's page is hidden in its figure", "[window]") {
  for (const char* id : {"static_bytes", "vocabulary"}) {
    INFO(id);
    PageModel model(tests::page(id), *lessons::demo_or_schema(tests::page(id)), {});
    CHECK(model.figure(600).panels.empty());
    model.question().skip();
    CHECK_FALSE(model.figure(600).panels.empty());
  }
}
