// Walks the shipped course in the window as three readers on three screens. Each reader opens each page once, while
// every property of the page is checked; a failure names page and screen. HEADROOM_SHOTS saves pictures, on more
// screens. tests/gui/model/walk_test.cpp checks contents without drawing; this walk checks that readers reach them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/window/views/figure_card.h"
#include "imgui_internal.h"  // ImGuiWindow: sizes and scrolling
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::tests;
using app::page::Question;
using app::window::ThemeId;

namespace {

namespace fs = std::filesystem;

enum class Reader {
  kThorough,   // has an engine, answers right, writes every figure, reads on with Continue
  kHasty,      // answers wrong, opens pages by the rail
  kPresenter,  // skips the question, opens pages by their number
};

struct Look {
  const char* name;
  int width, height;
  float scale;
  ThemeId theme;
  Reader reader;
  bool stage = false, for_pictures = false;
};
constexpr Look kLooks[] = {{"small", 1280, 720, 1, ThemeId::kLight, Reader::kThorough},
                           {"large_dark", 1920, 1080, 1, ThemeId::kDark, Reader::kHasty},
                           {"stage", 1920, 1080, 1, ThemeId::kLight, Reader::kPresenter, true},
                           {"scale_2", 1920, 1080, 2, ThemeId::kLight, Reader::kPresenter, false, true},
                           {"stage_dark", 1280, 720, 1, ThemeId::kDark, Reader::kPresenter, true, true}};

struct Visit {
  Actor& actor;
  const Look& look;
  const lessons::Page& page;
};

// Each function returns what is wrong, or an empty string.

enum Property : std::uint8_t {
  kIsReached,
  kFits,
  kHasNarrowFormulas,
  kTakesAnswers,
  kPinsItsBase,
  kDrawsFigures,
  kHasOneControlEach,
  kOffersRuns,
  kWritesFigures,
  kShowsSteps,
  kProperties
};

std::string is_reached(const Visit& visit) {
  const std::string& open = visit.actor.page().page().id;
  return open == visit.page.id ? "" : open + " is open";
}

std::string fits(const Visit&) {
  const ImVec2 beyond = ImGui::FindWindowByName("headroom")->ScrollMax;
  return beyond.x == 0 && beyond.y == 0 ? "" : fmt::format("{} x {} px do not fit", beyond.x, beyond.y);
}

// The window's name contains `words`.
const ImGuiWindow* column_of(std::string_view words) {
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->WasActive && std::string_view(window->Name).find(words) != std::string_view::npos) return window;
  return nullptr;
}

std::string has_narrow_formulas(std::string_view words) {
  const ImGuiWindow* column = column_of(words);
  if (column == nullptr || column->ContentSize.x <= 100) return fmt::format("{} shows no words", words);
  const float room = column->InnerRect.GetWidth();
  return column->ContentSize.x <= room ? "" : fmt::format("{} px in {} px", column->ContentSize.x, room);
}

std::string pins_its_base(const Visit& visit) {
  return visit.page.bases.empty() || visit.actor.page().run_a().pinned() != nullptr ? "" : "run A is empty";
}

bool has_editor(const lessons::Page& page) { return std::ranges::count(page.widgets, "kernel_editor") > 0; }

std::string draws_figure(const Visit& visit, const std::string& id) {
  const lessons::FigureData& figure = visit.actor.page().figure(400);
  if (figure.head.id != id) return fmt::format("{} is shown instead of {}", figure.head.id, id);
  if (!figure.head.empty_reason.empty()) return id + ": " + figure.head.empty_reason;
  if (figure.panels.empty()) return id + " has no panels";
  const bool drawn = !visit.actor.app.view().figure().scene().items.empty();
  return drawn || has_editor(visit.page) ? "" : id + " is not drawn";  // an editor covers its page's figure
}

// The figure's parameters on show share neither key nor label with the page's settings beside them.
std::string has_one_control_each(const Visit& visit) {
  const app::page::PageModel& page = visit.actor.page();
  const lessons::Figure& figure = page.figures().shown();
  if (lessons::calculates(visit.page) && !lessons::follows_settings(figure)) return {};
  for (const record::ParamSpec* own : app::window::figure_params(page))
    for (const record::ParamSpec& setting : page.settings().schema())
      if ((own->key == setting.key || own->label == setting.label) && page.settings().in_use(setting.key))
        return fmt::format("{} and the page both have {}", figure.id, own->label);
  return {};
}

std::string offers_runs(const Visit& visit) {
  const app::page::PageModel& page = visit.actor.page();
  std::set<std::string> names;
  for (const app::page::RunOnShow& run : page.runs().all()) names.insert(run.where + ": " + run.label);
  if (names.size() != page.runs().all().size()) return "two runs have one name";
  const bool of_runs = page.figures().shown().basis != lessons::Basis::kParameters;
  const bool listed = visit.actor.there("runs");
  return listed == (of_runs && names.size() > 1) ? "" : listed ? "there is no choice of runs" : "no list of runs";
}

std::string writes_figure(const Visit& visit, const fs::path& file) {
  visit.actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_E);
  visit.actor.frames(1);
  visit.actor.ctx->ItemClick("//$FOCUSED/write");
  visit.actor.frames(1);
  const bool written = fs::remove(file);
  visit.actor.ctx->KeyPress(ImGuiKey_Escape);
  visit.actor.frames(1);
  return written ? "" : "no file " + file.filename().string();
}

std::string shows_step(const Visit& visit, std::size_t step) {
  const app::window::PageState& state = visit.actor.app.view().state();
  return state.reading_more && state.step == static_cast<int>(step) ? "" : fmt::format("step {} is not shown", step);
}

// A chapter opens with its first page.
void open_by_rail(const Actor& actor, const lessons::Page& page) {
  const auto& chapters = actor.app.course().chapters();
  for (std::size_t c = 0; c < chapters.size(); ++c) {
    const auto& pages = chapters[c].pages;
    const auto at = std::ranges::find(pages, &page);
    if (at == pages.end()) continue;
    if (std::ranges::find(pages, &actor.page().page()) == pages.end())
      actor.ctx->ItemClick(fmt::format("**/rail/$${}/chapter", c).c_str());
    actor.frames(3);
    if (&actor.page().page() != &page)
      actor.ctx->ItemClick(fmt::format("**/rail/$${}/page", at - pages.begin()).c_str());
  }
}

// The thorough reader is at the last step of the previous page.
void open(const Visit& visit) {
  const Actor& actor = visit.actor;
  actor.ctx->LogInfo("page %s", visit.page.id.c_str());
  if (&actor.page().page() != &visit.page) {
    if (visit.look.reader == Reader::kThorough) actor.click("continue");
    if (visit.look.reader == Reader::kHasty) open_by_rail(actor, visit.page);
    if (visit.look.reader == Reader::kPresenter) actor.jump(visit.page.id);
  }
  const std::size_t recordings = lessons::recordings_in_turn(visit.page).size() + visit.page.beside.size();
  actor.frames(static_cast<int>(recordings) + 4);  // one recording loads per frame
}

std::string typed(double value, lessons::AxisUnit unit) {
  if (unit == lessons::AxisUnit::kNumber) return fmt::format("{:.0f}", value);
  if (unit == lessons::AxisUnit::kPercent) return fmt::format("{:.3f} %", value);
  if (unit == lessons::AxisUnit::kBytesPerSecond) return fmt::format("{:.3f} GB/s", value / 1e9);
  return fmt::format("{:.3f} KiB", value / static_cast<double>(record::kKiB));
}

// Scrolls the words down and clicks their last item: Lock, later Read more.
void click_below_words(const Actor& actor, const std::string& name) {
  const ImGuiWindow* words = column_of("/words_");
  IM_CHECK(words != nullptr);
  actor.ctx->MouseMoveToPos({words->Pos.x + 136, 400});
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

// Returns the page's reply.
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

class Walk {
 public:
  Walk() {
    for (const Look& look : kLooks)
      if (!look.for_pictures || std::getenv("HEADROOM_SHOTS") != nullptr) walk_as(look);
  }

  struct Findings {
    std::size_t checks = 0;
    std::vector<std::string> failures;
  };
  const Findings& of(Property property) const { return findings_[property]; }

 private:
  void walk_as(const Look& look) {
    ScriptedBackend engine(small_run());
    Stage stage;
    stage.assets = fs::path(HEADROOM_SOURCE_DIR) / "assets";
    stage.width = look.width, stage.height = look.height;
    stage.scale = look.scale;
    stage.theme = look.theme;
    if (look.reader == Reader::kThorough) stage.runner = &engine;
    perform(look.name, stage, [&](Actor& actor) {
      actor.app.ui().stage = look.stage;
      actor.app.ui().exports.folder = files_.path().string();
      actor.app.ui().exports.formats = {false, false, false, true, false};  // CSV
      actor.frames(2);
      for (const lessons::Page* page : actor.app.course().pages())
        if (!actor.ctx->IsError()) read({actor, look, *page});  // after an error clicks do nothing
    });
  }

  void read(const Visit& visit) {
    open(visit);
    check(visit, kIsReached, is_reached(visit));
    picture(visit, "question");
    if (visit.look.reader == Reader::kPresenter) {
      visit.actor.question().skip();
    } else {
      check(visit, kHasNarrowFormulas, has_narrow_formulas("/words_"));
      if (visit.page.question) check(visit, kTakesAnswers, takes_answer(visit));
      check(visit, kPinsItsBase, pins_its_base(visit));
    }
    visit.actor.frames(6);
    check(visit, kFits, fits(visit));
    look_at_figures(visit);
    read_more(visit);
  }

  void check(const Visit& visit, Property property, const std::string& wrong) {
    ++findings_[property].checks;
    if (!wrong.empty())
      findings_[property].failures.push_back(fmt::format("{}, {}: {}", visit.page.id, visit.look.name, wrong));
  }

  static void picture(const Visit& visit, const std::string& moment) {
    visit.actor.picture(fmt::format("{} {} {}", visit.look.name, visit.page.id, moment));
  }

  // The hasty reader must not get the thorough reader's reply.
  std::string takes_answer(const Visit& visit) {
    const Question& question = visit.actor.question();
    if (!question.hides()) return "the question is not open";
    const bool right = visit.look.reader == Reader::kThorough;
    const std::string reply = answer(visit.actor, right);
    if (question.state() != Question::State::kAnswered) return "the answer is not taken";
    if (question.right() != right) return right ? "the right answer is wrong" : "a wrong answer is right";
    if (reply.empty()) return "no reply";
    if (right) replies_[visit.page.id] = reply;
    return right || reply != replies_[visit.page.id] ? "" : "right and wrong get the reply " + reply;
  }

  // Begins and ends with the question's figure.
  void look_at_figures(const Visit& visit) {
    const std::vector<std::string>& figures = visit.page.figures;
    const auto first = static_cast<std::size_t>(visit.actor.page().figures().tab());
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const std::string& figure = figures[(first + i) % figures.size()];
      check(visit, kDrawsFigures, draws_figure(visit, figure));
      check(visit, kHasOneControlEach, has_one_control_each(visit));
      picture(visit, figure);
      if (visit.look.reader == Reader::kThorough) {
        if (!has_editor(visit.page)) check(visit, kOffersRuns, offers_runs(visit));
        check(visit, kWritesFigures, writes_figure(visit, files_.path() / (figure + ".csv")));
      }
      visit.actor.ctx->KeyPress(ImGuiKey_V);  // next figure; finally the first again
      visit.actor.frames(3);
    }
  }

  // A presenter sees only the first step.
  void read_more(const Visit& visit) {
    const Actor& actor = visit.actor;
    const std::size_t steps = visit.page.more.size();
    if (steps == 0) return;
    if (visit.look.reader == Reader::kPresenter) {
      actor.app.view().state().reading_more = true;
      actor.app.view().state().step = 0;
      actor.frames(4);
      picture(visit, "more");
      actor.app.view().state().reading_more = false;
      actor.frames(1);
      return;
    }
    click_below_words(actor, "more");
    for (std::size_t step = 0; step < steps; ++step) {
      actor.frames(4);
      check(visit, kShowsSteps, shows_step(visit, step));
      check(visit, kHasNarrowFormulas, has_narrow_formulas("/more words"));
      if (step + 1 < steps) actor.click("continue");
    }
  }

  TestAssets files_;                            // a folder to write to
  std::map<std::string, std::string> replies_;  // replies to right answers, by page
  std::array<Findings, kProperties> findings_;
};

// The first test case walks; the others use its findings.
void expect(Property property) {
  static const Walk walk;
  const Walk::Findings& found = walk.of(property);
  CHECK(found.checks >= tests::course().pages().size());
  for (const std::string& failure : found.failures) FAIL_CHECK(failure);
}

}  // namespace

TEST_CASE("every page is reached by Continue, by the rail and by its number", "[gui][walk]") { expect(kIsReached); }

TEST_CASE("every page fits its windows and the stage", "[gui][walk]") { expect(kFits); }

TEST_CASE("no formula of a page is wider than its column", "[gui][walk]") { expect(kHasNarrowFormulas); }

TEST_CASE("every question takes a right and a wrong answer, with different replies", "[gui][walk]") {
  expect(kTakesAnswers);
}

TEST_CASE("every page with a base pins it as A after the answer", "[gui][walk]") { expect(kPinsItsBase); }

TEST_CASE("every figure of every page is drawn from shipped recordings", "[gui][walk]") { expect(kDrawsFigures); }

TEST_CASE("no two controls beside a figure have one name", "[gui][walk]") { expect(kHasOneControlEach); }

TEST_CASE("every shipped run of a page can be chosen by name from each figure in the smallest window", "[gui][walk]") {
  expect(kOffersRuns);
}

TEST_CASE("every figure of every page is written to a file", "[gui][walk]") { expect(kWritesFigures); }

TEST_CASE("every step of every page is read in turn", "[gui][walk]") { expect(kShowsSteps); }
