// Pages on four screens: nothing moves at the reveal, and figures leave nothing out without a mark.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/left_out.h"

using namespace headroom;
using namespace headroom::tests;
using app::paint::Rect;

namespace {

struct Screen {
  const char* name;
  int width, height;
  float scale = 1;
  bool stage = false;
};
constexpr Screen kScreens[] = {
    {"small", 1280, 720}, {"large", 1920, 1080}, {"scale 2", 1920, 1080, 2}, {"stage", 1920, 1080, 1, true}};

struct Standing {
  float width = 0, height = 0;  // of the picture
  std::vector<Rect> plots;
  std::vector<double> axes;  // ends of the guess's axis

  std::string words() const {
    std::string words = fmt::format("{} x {}", width, height);
    for (const Rect& plot : plots) words += fmt::format(", ({}, {}) to ({}, {})", plot.x0, plot.y0, plot.x1, plot.y1);
    for (const double end : axes) words += fmt::format(", {}", end);
    return words;
  }
};

Standing standing(const Actor& actor) {
  const app::paint::Scene& scene = actor.app.view().figure().scene();
  Standing now{.width = scene.width, .height = scene.height};
  for (const app::paint::Item& item : scene.items) {
    const auto* fill = std::get_if<app::paint::Fill>(&item.shape);
    const auto* text = std::get_if<app::paint::Text>(&item.shape);
    if (fill != nullptr && item.layer == app::paint::Layer::kGround && fill->color == app::window::theme().well)
      now.plots.push_back(fill->rect);
    if (text != nullptr && text->text == "peak") now.plots.push_back(text->box);  // right of a ladder's bars
  }
  const lessons::FigureData& figure = actor.page().figures().data();
  if (const lessons::Axis* axis = lessons::guess_axis(figure); axis != nullptr && actor.question().number() != nullptr)
    now.axes = {axis->low, axis->high};
  return now;
}

// Plots may come with the answer, but none moves.
bool stands(const Standing& before, const Standing& after) {
  return before.width == after.width && before.height == after.height && before.axes == after.axes &&
         std::ranges::all_of(before.plots, [&](const Rect& plot) { return std::ranges::count(after.plots, plot) > 0; });
}

bool is_drawn(const Actor& actor) {
  const app::page::Question& question = actor.question();
  const app::page::FigureOnShow& figures = actor.page().figures();
  return figures.data().head.empty_reason.empty() &&
         (!question.hides() || question.spec()->figure.empty() || question.spec()->figure == figures.shown().id);
}

void lock(Actor& actor) {
  app::page::Question& question = actor.question();
  if (question.number() != nullptr)
    question.set_guess(lessons::value_at(*lessons::guess_axis(actor.page().figures().data()), 0.4));
  if (question.choices() != nullptr) question.choose(0);
  question.lock();
}

// Opens each page with a question on each screen.
void walk(const std::function<void(Actor&, const Screen&, const lessons::Page&)>& visit) {
  for (const Screen& screen : kScreens) {
    Stage stage = shipped("where_memory_goes");
    stage.width = screen.width, stage.height = screen.height, stage.scale = screen.scale;
    perform(screen.name, stage, [&](Actor& actor) {
      actor.app.ui().stage = screen.stage;
      for (const lessons::Page* page : actor.app.course().pages()) {
        if (!page->question || actor.ctx->IsError()) continue;
        actor.jump(page->id);
        actor.frames(static_cast<int>(lessons::recordings_in_turn(*page).size() + page->beside.size()) + 4);
        visit(actor, screen, *page);
      }
    });
  }
}

void check_reveals(const std::function<void(Actor&)>& answer) {
  int compared = 0;
  std::vector<std::string> moved;
  walk([&](Actor& actor, const Screen& screen, const lessons::Page& page) {
    const bool drawn = is_drawn(actor);
    const Standing before = standing(actor);
    answer(actor);
    actor.frames(6);
    if (!drawn || !is_drawn(actor)) return;
    ++compared;
    const Standing after = standing(actor);
    if (!stands(before, after))
      moved.push_back(fmt::format("{}, {}: {}; after: {}", screen.name, page.id, before.words(), after.words()));
  });
  CHECK(compared > 100);
  for (const std::string& each : moved) FAIL_CHECK(each);
}

}  // namespace

TEST_CASE("plots and axes stand still when an answer is locked", "[gui]") { check_reveals(lock); }

TEST_CASE("plots and axes stand still when a question is skipped", "[gui]") {
  check_reveals([](Actor& actor) { actor.question().skip(); });
}

TEST_CASE("an open question is in sight, down to Lock and Skip", "[gui]") {
  std::vector<std::string> cut;
  walk([&](Actor& actor, const Screen& screen, const lessons::Page& page) {
    if (screen.stage || screen.scale > 1) return;
    for (const char* name : {"**/lock", "**/skip"}) {
      const ImGuiTestItemInfo item = actor.ctx->ItemInfo(name);
      if (item.RectClipped.GetHeight() < item.RectFull.GetHeight())
        cut.push_back(fmt::format("{}, {}: {}", screen.name, page.id, name));
    }
  });
  CHECK(cut == std::vector<std::string>());
}

TEST_CASE("figures leave no name or value out without a mark", "[gui]") {
  std::size_t figures = 0;
  std::vector<std::string> missing;
  walk([&](Actor& actor, const Screen& screen, const lessons::Page& page) {
    actor.question().skip();
    for (int tab = 0; tab < static_cast<int>(page.figures.size()); ++tab) {
      actor.page().show_tab(tab);
      actor.frames(4);
      actor.picture(fmt::format("{} {} {}", screen.name, page.id, page.figures[static_cast<std::size_t>(tab)]));
      const lessons::FigureData& figure = actor.page().figures().data();
      if (!figure.head.empty_reason.empty() || std::ranges::count(page.widgets, "kernel_editor") > 0) continue;
      ++figures;
      const app::paint::Scene& scene = actor.app.view().figure().scene();
      for (const std::string& words : LeftOut(scene).of(figure, !actor.page().figures().draws_ladder()))
        missing.push_back(fmt::format("{}, {}: {}", screen.name, figure.head.id, words));
    }
  });
  CHECK(figures > 300);
  for (const std::string& each : missing) FAIL_CHECK(each);
}

TEST_CASE("a mark opens what it left out, by a click or by keys", "[gui]") {
  Stage stage = shipped("read_a_config");
  stage.width = 1920, stage.height = 1080, stage.scale = 2;
  perform("sheet", stage, [&](Actor& actor) {
    actor.question().skip();
    actor.frames(6);
    const app::paint::Scene& scene = actor.app.view().figure().scene();
    IM_CHECK(!scene.more.empty());
    const std::string name = scene.more.front().names.front().substr(0, scene.more.front().names.front().find(';'));
    const auto drawn = [&] {
      const std::vector<std::string> texts = actor.texts();
      return std::ranges::count(texts, name);
    };
    const auto before = drawn();
    actor.click("left out");
    actor.frames(3);
    actor.picture("sheet");
    IM_CHECK(drawn() > before);
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    IM_CHECK_EQ(drawn(), before);
    actor.ctx->NavMoveTo("**/left out");
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(3);
    IM_CHECK(drawn() > before);
  });
}
