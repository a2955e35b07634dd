// Walks through the shipped course in the window by mouse and keys: pages, questions (right and wrong), tour steps
// and figure exports. tests/gui/walk_test.cpp checks the contents without drawing; this walk checks that a reader can
// reach them.
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>

#include "imgui_te_engine.h"
#include "tests/gui/harness.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::page::Question;

namespace {

namespace fs = std::filesystem;

// The value as a reader types it.
std::string typed(double value, lessons::AxisUnit unit) {
  if (unit == lessons::AxisUnit::kNumber) return fmt::format("{:.0f}", value);
  if (unit == lessons::AxisUnit::kPercent) return fmt::format("{:.3f} %", value);
  if (unit == lessons::AxisUnit::kBytesPerSecond) return fmt::format("{:.3f} GB/s", value / 1e9);
  return fmt::format("{:.3f} KiB", value / static_cast<double>(record::kKiB));
}

// Scrolls down and clicks the last item: Lock, later Read more.
void click_below_words(const Actor& actor, const std::string& name) {
  actor.ctx->MouseMoveToPos({200, 400});
  actor.ctx->MouseWheelY(-50);
  actor.frames(2);
  actor.click(name);
  actor.frames(2);
}

// Sorts the items by keys.
void put_in_order(const Actor& actor) {
  const auto& order = actor.question().order();
  for (std::size_t place = 0; place < order.size(); ++place)
    while (order[place] != place && !actor.ctx->IsError()) {
      actor.ctx->NavMoveTo(fmt::format("**/item {}", place + 1).c_str());
      actor.ctx->KeyPress(ImGuiMod_Alt | ImGuiKey_UpArrow);
      actor.frames(2);
    }
}

// Answers by typing and clicking; returns the page's reply.
std::string answer(const Actor& actor, bool right) {
  const Question& question = actor.question();
  if (const auto* number = question.number()) {
    const double is = number->answer->of(*actor.page().on_show()->ledger);
    actor.ctx->ItemInput("**/##guess");
    actor.ctx->KeyCharsReplaceEnter(typed(right ? 1.04 * is : is / 3, question.unit()).c_str());
  } else {
    if (question.items() != nullptr && right) put_in_order(actor);
    if (const auto* choices = question.choices()) {
      std::size_t chosen = 0;
      while (choices->choices[chosen].right != right) ++chosen;
      actor.ctx->KeyPress(static_cast<ImGuiKey>(ImGuiKey_1 + chosen));
    }
    actor.frames(2);
    click_below_words(actor, "lock");
  }
  actor.frames(3);
  if (const auto& reveal = question.reveal()) {
    const Question::Distance distance = app::page::distance_of(*reveal);
    return std::string(distance.head) + " " + distance.value + " " + std::string(distance.unit);
  }
  return question.right() ? "Right" : std::string(question.reply());
}

void write_every_figure(const Actor& actor, const fs::path& folder) {
  actor.app.ui().export_folder = folder.string();
  actor.app.ui().export_formats = {false, false, false, true, false};  // CSV
  const std::vector<std::string>& figures = actor.page().page().figures;
  const auto first = static_cast<std::size_t>(actor.page().figures().tab());  // the question's
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const std::string& figure = figures[(first + i) % figures.size()];
    if (actor.page().figure(400).head.empty_reason.empty()) {  // else the current run lacks it
      IM_CHECK_STR_EQ(actor.page().figure(400).head.id.c_str(), figure.c_str());
      actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_E);
      actor.frames(1);
      actor.ctx->ItemClick("//$FOCUSED/write");
      actor.frames(1);
      IM_CHECK(fs::exists(folder / (figure + ".csv")));
      fs::remove(folder / (figure + ".csv"));
      actor.ctx->KeyPress(ImGuiKey_Escape);
      actor.frames(1);
    }
    actor.ctx->KeyPress(ImGuiKey_V);  // next figure; finally the first again
    actor.frames(2);
  }
}

// The last Continue turns the page.
void read_on(const Actor& actor, bool last_page) {
  const std::size_t steps = actor.page().page().more.size();
  if (steps > 0) {
    click_below_words(actor, "more");
    for (std::size_t step = 0; step < steps; ++step) {
      actor.frames(2);
      IM_CHECK_EQ(actor.app.view().state().step, static_cast<int>(step));
      IM_CHECK(actor.app.view().state().reading_more);
      if (step + 1 < steps) actor.click("continue");
    }
  }
  if (!last_page) actor.click("continue");
  actor.frames(2);
}

}  // namespace

TEST_CASE("a reader gets through the whole course, with right answers and with wrong ones", "[gui][walk]") {
  TestAssets files;  // a folder to write to
  Stage stage;
  stage.assets = fs::path(HEADROOM_SOURCE_DIR) / "assets";
  std::map<std::string, std::string> replies;  // to right answers, by page
  for (const bool right : {true, false}) {
    perform(right ? "walk, right" : "walk, wrong", stage, [&](Actor& actor) {
      const auto pages = actor.app.course().pages();
      for (const lessons::Page* page : pages) {
        actor.ctx->LogInfo("page %s", page->id.c_str());
        IM_CHECK_STR_EQ(actor.page().page().id.c_str(), page->id.c_str());
        if (page->question) {
          IM_CHECK(actor.question().hides());
          const std::string reply = answer(actor, right);
          IM_CHECK(actor.question().state() == Question::State::kAnswered);
          IM_CHECK_EQ(actor.question().right(), right);
          IM_CHECK(!reply.empty());
          if (right) replies[page->id] = reply;
          IM_CHECK(right || reply != replies[page->id]);
        }
        if (right) write_every_figure(actor, files.path());
        read_on(actor, page == pages.back());
      }
    });
  }
  CHECK(replies.size() > 10);
}
