// The window, driven by clicks and keys: what a reader does on a page, seen in the page's state and in the recording.
#include <cmath>

#include "imgui_internal.h"  // NavId: what has the keyboard's focus
#include "imgui_te_engine.h"
#include "tests/gui/harness.h"
#include "tests/gui/scripted_backend.h"
#include "tests/gui/small_run.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::window::Question;
using app::window::ThemeId;
using app::window::TimelineView;

namespace {

constexpr double kMiB = static_cast<double>(record::kMiB);

// A page with one stored run, and a backend that records another.
struct Scene {
  TestAssets assets;
  ScriptedBackend backend{small_run({.steps = 3, .weights = 80 * record::kMiB}), 3};
  Stage stage;

  Scene() {
    assets.add(*small_run(), "tiny_cpu");
    stage.assets = assets.path();
    stage.runner = &backend;
  }
};

double peak_in_figure(const Actor& actor) {
  const lessons::FigureData& figure = actor.page().figure(400);
  return figure.peak ? figure.peak->y : -1;
}

}  // namespace

TEST_CASE("the page opens with its stored run, half of it veiled", "[gui]") {
  Scene scene;
  perform("open", scene.stage, [](Actor& actor) {
    IM_CHECK(!actor.app.figure().scene().items.empty());
    IM_CHECK(actor.question().hides());
    IM_CHECK(actor.page().figure(400).veil_from.has_value());
    IM_CHECK(actor.there("lock"));
    IM_CHECK(actor.there("skip"));
    IM_CHECK(!actor.there("layers"));  // no planner: no choice of a prediction
  });
}

TEST_CASE("the guess is dragged on the figure and locked by Enter", "[gui]") {
  Scene scene;
  perform("answer by drag", scene.stage, [](Actor& actor) {
    const auto& figure = actor.app.figure();
    IM_CHECK(figure.scene().guess.has_value());
    const double before = *actor.question().guess();
    const double x = (*actor.page().figure(400).veil_from + figure.scene().map.x.high) / 2;
    actor.ctx->MouseMoveToPos(actor.on_screen(x, before));
    actor.ctx->MouseDown(0);
    actor.ctx->MouseMoveToPos(actor.on_screen(x, 200 * kMiB));
    actor.ctx->MouseUp(0);
    IM_CHECK(std::abs(*actor.question().guess() - 200 * kMiB) < 4 * kMiB);
    IM_CHECK(actor.question().hides());
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(3);
    IM_CHECK(actor.question().state() == Question::State::kAnswered);
    IM_CHECK_EQ(actor.question().reveal()->is, static_cast<double>(peak_of({})));
    IM_CHECK(!actor.page().figure(400).veil_from.has_value());
    IM_CHECK(actor.page().figure(400).guess_locked);
  });
}

TEST_CASE("the guess is typed and locked by its button", "[gui]") {
  Scene scene;
  perform("answer by typing", scene.stage, [](Actor& actor) {
    actor.ctx->ItemInput("**/##guess");
    actor.ctx->KeyCharsReplace("110");
    actor.ctx->KeyPress(ImGuiKey_Tab);
    actor.frames(2);
    IM_CHECK(std::abs(*actor.question().guess() - 110 * kMiB) < 0.1 * kMiB);
    actor.click("lock");
    actor.frames(3);
    IM_CHECK(actor.question().state() == Question::State::kAnswered);
    IM_CHECK(std::abs(actor.question().reveal()->factor - 2.0) < 0.01);
    IM_CHECK(!actor.there("lock"));
  });
}

TEST_CASE("Enter in the field locks what was typed", "[gui]") {
  Scene scene;
  perform("answer by Enter", scene.stage, [](Actor& actor) {
    actor.ctx->ItemInput("**/##guess");
    actor.ctx->KeyCharsReplaceEnter("55");
    actor.frames(3);
    IM_CHECK(actor.question().state() == Question::State::kAnswered);
    IM_CHECK(std::abs(actor.question().reveal()->said - 55 * kMiB) < 0.1 * kMiB);
  });
}

TEST_CASE("a guess that is no size says so and stays open", "[gui]") {
  Scene scene;
  perform("answer that is none", scene.stage, [](Actor& actor) {
    const double before = *actor.question().guess();
    actor.ctx->ItemInput("**/##guess");
    actor.ctx->KeyCharsReplaceEnter("plenty");
    actor.frames(3);
    IM_CHECK(actor.question().hides());
    IM_CHECK_EQ(*actor.question().guess(), before);
    IM_CHECK(actor.app.ui().guess_error.find("plenty") != std::string::npos);
  });
}

TEST_CASE("Skip shows the whole figure without a guess", "[gui]") {
  Scene scene;
  perform("skip", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(3);
    IM_CHECK(actor.question().state() == Question::State::kSkipped);
    IM_CHECK_EQ(peak_in_figure(actor), static_cast<double>(peak_of({})));
    IM_CHECK(!actor.there("skip"));
    IM_CHECK(actor.there("more"));  // the long text is there now
    actor.click("more");
    actor.frames(2);
    IM_CHECK(actor.app.ui().reading_more);
    actor.picture("reading more");
    actor.click("less");
    IM_CHECK(!actor.app.ui().reading_more);
  });
}

TEST_CASE("Run records a step live: the timeline grows, ends, and is summed up", "[gui]") {
  Scene scene;
  perform("run", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.click("run");
    actor.frames(3);
    IM_CHECK_EQ(scene.backend.starts(), 1);
    IM_CHECK(actor.app.running());
    IM_CHECK(actor.there("cancel"));
    IM_CHECK(actor.page().figure(400).source == record::Source::kLive);
    actor.picture("running");
    const std::uint64_t early = actor.page().runs().back().ledger->size();
    actor.frames(3);
    IM_CHECK(actor.page().runs().back().ledger->size() > early);
    actor.wait_for_end_of_run();
    IM_CHECK(!actor.app.running());
    IM_CHECK(actor.there("run"));
    IM_CHECK_EQ(peak_in_figure(actor), static_cast<double>(peak_of({.weights = 80 * record::kMiB})));
    IM_CHECK(actor.page().status_line().find("3 steps, 0 events dropped") != std::string::npos);
  });
}

TEST_CASE("Ctrl R runs, Esc cancels, and what was recorded stays", "[gui]") {
  Scene scene;
  perform("run and cancel by key", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_R);
    actor.frames(6);
    IM_CHECK(actor.app.running());
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    IM_CHECK_EQ(scene.backend.cancels(), 1);
    IM_CHECK(!actor.app.running());
    IM_CHECK(actor.page().runs().back().ledger->size() > 0);
    IM_CHECK(actor.page().status_line().find("Cancelled after") != std::string::npos);
  });
}

TEST_CASE("the Cancel button cancels", "[gui]") {
  Scene scene;
  perform("cancel by button", scene.stage, [&](Actor& actor) {
    actor.click("run");
    actor.frames(2);
    scene.backend.hold(true);
    actor.click("cancel");
    actor.frames(3);
    IM_CHECK_EQ(scene.backend.cancels(), 1);
    IM_CHECK(!actor.app.running());
  });
}

TEST_CASE("an engine that dies leaves the window, the partial timeline, and a next run that works", "[gui]") {
  Scene scene;
  perform("engine lost", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.click("run");
    actor.frames(8);
    scene.backend.lose_engine("The engine was killed by signal 9.");
    actor.frames(3);
    IM_CHECK(!actor.app.running());
    IM_CHECK(actor.page().notice().has_value());
    IM_CHECK(actor.page().figure(400).empty_reason.empty());
    actor.picture("engine lost callout");
    actor.click("run");
    actor.wait_for_end_of_run();
    IM_CHECK(!actor.page().notice().has_value());
    IM_CHECK_EQ(peak_in_figure(actor), static_cast<double>(peak_of({.weights = 80 * record::kMiB})));
  });
}

TEST_CASE("out of memory is a result on the page and in the figure", "[gui]") {
  Scene scene;
  scene.backend.use(small_run({.out_of_memory = true}));
  perform("out of memory", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.click("run");
    actor.wait_for_end_of_run();
    IM_CHECK(actor.page().notice().has_value());
    IM_CHECK(actor.page().notice()->kind == app::window::Notice::Kind::kOutOfMemory);
    IM_CHECK(actor.page().figure(400).failed.has_value());
    IM_CHECK(actor.page().figure(400).cap.has_value());
  });
}

TEST_CASE("the wheel zooms at the cursor, a right drag pans, keys do the same", "[gui]") {
  Scene scene;
  perform("zoom and pan", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    const TimelineView& view = actor.page().view();
    const TimelineView::Range full = view.full();
    const double at = full.begin + full.length() * 0.25;
    const double y = actor.app.figure().scene().map.y.high / 2;
    actor.ctx->MouseMoveToPos(actor.on_screen(at, y));
    actor.ctx->MouseWheelY(2);
    actor.frames(2);
    IM_CHECK(view.zoomed());
    IM_CHECK(std::abs((at - view.visible().begin) / view.visible().length() - 0.25) < 0.01);

    const TimelineView::Range zoomed = view.visible();
    actor.ctx->MouseMoveToPos(actor.on_screen(zoomed.begin + zoomed.length() * 0.3, y));
    actor.ctx->MouseDown(1);
    actor.ctx->MouseMoveToPos(actor.on_screen(zoomed.begin + zoomed.length() * 0.2, y));
    actor.ctx->MouseUp(1);
    actor.frames(2);
    IM_CHECK(view.visible().begin > zoomed.begin);

    actor.ctx->MouseMoveToPos(actor.on_screen(view.visible().begin + view.visible().length() * 0.5, y));
    actor.ctx->MouseClick(0);  // the timeline has the focus
    const double begin = view.visible().begin;
    actor.ctx->KeyPress(ImGuiKey_D);
    actor.frames(2);
    IM_CHECK(view.visible().begin > begin);
    actor.ctx->KeyPress(ImGuiKey_A);
    actor.frames(2);
    IM_CHECK(std::abs(view.visible().begin - begin) < full.length() * 1e-6);
    const double length = view.visible().length();
    actor.ctx->KeyPress(ImGuiKey_W);
    actor.frames(2);
    IM_CHECK(view.visible().length() < length);
    actor.ctx->KeyPress(ImGuiKey_S);
    actor.frames(2);
    IM_CHECK(std::abs(view.visible().length() - length) < full.length() * 1e-6);
    actor.ctx->KeyPress(ImGuiKey_Home);
    actor.frames(2);
    IM_CHECK(!view.zoomed());
  });
}

TEST_CASE("a left drag measures, F fits it, Esc clears it and then the zoom", "[gui]") {
  Scene scene;
  perform("measure", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    const TimelineView& view = actor.page().view();
    const TimelineView::Range full = view.full();
    const double y = actor.app.figure().scene().map.y.high / 2;
    actor.ctx->MouseMoveToPos(actor.on_screen(full.begin + full.length() * 0.2, y));
    actor.ctx->MouseDown(0);
    actor.ctx->MouseMoveToPos(actor.on_screen(full.begin + full.length() * 0.6, y));
    actor.ctx->MouseUp(0);
    actor.frames(2);
    actor.picture("measuring");
    IM_CHECK(view.measure().has_value());
    IM_CHECK(std::abs(view.measure()->length() - full.length() * 0.4) < full.length() * 0.01);
    IM_CHECK(actor.page().measured().has_value());
    actor.ctx->KeyPress(ImGuiKey_F);
    actor.frames(2);
    IM_CHECK(std::abs(view.visible().length() - view.measure()->length()) < full.length() * 1e-6);
    actor.ctx->KeyPress(ImGuiKey_Escape);
    IM_CHECK(!view.measure().has_value());
    IM_CHECK(view.zoomed());
    actor.ctx->KeyPress(ImGuiKey_Escape);
    IM_CHECK(!view.zoomed());
  });
}

TEST_CASE("the cursor follows the mouse, and the list with it", "[gui]") {
  Scene scene;
  perform("hover", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    const TimelineView::Range full = actor.page().view().full();
    const double y = actor.app.figure().scene().map.y.high / 2;
    actor.ctx->MouseMoveToPos(actor.on_screen(full.begin + full.length() * 0.05, y));
    actor.frames(2);
    const record::Bytes early = actor.page().figure(400).cursor->total;
    actor.ctx->MouseMoveToPos(actor.on_screen(actor.page().figure(400).peak->x, y));
    actor.frames(2);
    IM_CHECK(actor.page().figure(400).cursor->total > early);
    IM_CHECK(actor.page().figure(400).cursor->at_cursor);
    actor.ctx->MouseClick(0);
    const double before = *actor.page().view().cursor();
    actor.ctx->KeyPress(ImGuiKey_Period);
    IM_CHECK(*actor.page().view().cursor() > before);
    actor.ctx->KeyPress(ImGuiKey_Comma);
    actor.ctx->KeyPress(ImGuiKey_Comma);
    IM_CHECK(*actor.page().view().cursor() < before);
  });
}

TEST_CASE("time runs by the device, by the host, or by events", "[gui]") {
  Scene scene;
  perform("time axis", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    IM_CHECK(actor.page().figure(400).x.unit == lessons::AxisUnit::kNanoseconds);
    actor.click("axis");
    actor.frames(2);
    actor.ctx->ItemClick("//$FOCUSED/$$2/option");
    actor.frames(3);
    IM_CHECK(actor.page().figure_params().text("axis") == "event");
    IM_CHECK(actor.page().figure(400).x.unit == lessons::AxisUnit::kEvents);
  });
}

TEST_CASE("the page's other figure is one click away", "[gui]") {
  Scene scene;
  perform("peak by category", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.ctx->ItemClick("**/$$1/tab");
    actor.frames(3);
    IM_CHECK_EQ(actor.page().tab(), 1);
    actor.ctx->KeyPress(ImGuiKey_G);
    actor.frames(2);
    IM_CHECK_EQ(actor.page().tab(), 0);
    actor.ctx->KeyPress(ImGuiKey_G);
    actor.frames(2);
    IM_CHECK(!actor.page().figure(400).bars.empty());
  });
}

TEST_CASE("settings: a choice, a slider, a typed value, a value that is refused", "[gui]") {
  Scene scene;
  perform("settings", scene.stage, [&](Actor& actor) {
    actor.ctx->ItemClick("**/checkpointing/choice/each layer");
    IM_CHECK(actor.page().control().params().text("checkpointing") == "layer");
    const ImGuiTestItemInfo slider = actor.ctx->ItemInfo("**/batch/slider");
    actor.ctx->MouseMoveToPos({slider.RectFull.Max.x - 2, slider.RectFull.GetCenter().y});
    actor.ctx->MouseClick(0);
    IM_CHECK_EQ(actor.page().control().params().integer("batch"), 256);
    actor.ctx->ItemDoubleClick("**/seq/edit");
    actor.frames(2);
    actor.ctx->KeyCharsReplaceEnter("300");
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("seq"), 300);
    actor.ctx->ItemDoubleClick("**/seq/edit");
    actor.frames(2);
    actor.ctx->KeyCharsReplaceEnter("3");
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("seq"), 300);
    IM_CHECK(!actor.app.ui().notice.empty());
    actor.click("run");
    IM_CHECK_EQ(scene.backend.last_params().integer("seq"), 300);
    actor.wait_for_end_of_run();
  });
}

TEST_CASE("settings that are folded away are behind More", "[gui]") {
  Scene scene;
  perform("more settings", scene.stage, [](Actor& actor) {
    IM_CHECK(!actor.there("steps/slider"));
    actor.click("more settings");
    actor.frames(2);
    actor.picture("popup more settings");
    const ImGuiTestItemInfo slider = actor.ctx->ItemInfo("//$FOCUSED/steps/slider");
    actor.ctx->MouseMoveToPos({slider.RectFull.Min.x + 2, slider.RectFull.GetCenter().y});
    actor.ctx->MouseClick(0);
    IM_CHECK_EQ(actor.page().control().params().integer("steps"), 1);
  });
}

TEST_CASE("a slider that has the focus follows the arrow keys", "[gui]") {
  Scene scene;
  perform("slider by keys", scene.stage, [](Actor& actor) {
    const std::int64_t before = actor.page().control().params().integer("batch");
    actor.ctx->ItemNavActivate("**/batch/slider");
    actor.ctx->KeyPress(ImGuiKey_RightArrow);
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("batch"), before * 2);
    actor.ctx->KeyPress(ImGuiKey_LeftArrow);
    actor.ctx->KeyPress(ImGuiKey_LeftArrow);
    actor.frames(2);
    IM_CHECK_EQ(actor.page().control().params().integer("batch"), before / 2);
  });
}

TEST_CASE("Tab reaches every control, and Enter presses it", "[gui]") {
  Scene scene;
  perform("keyboard path", scene.stage, [](Actor& actor) {
    std::vector<std::string> names{"##guess",      "lock",         "skip",       "export",     "keys",
                                   "theme",        "timeline",     "axis",       "run",        "more settings",
                                   "model/choice", "batch/slider", "batch/edit", "cap/slider", "precision/choice/bf16",
                                   "device/choice"};
    for (int i = 0; i < 80 && !names.empty(); ++i) {
      actor.ctx->KeyPress(ImGuiKey_Tab);
      const ImGuiID focused = ImGui::GetCurrentContext()->NavId;
      std::erase_if(names,
                    [&](const std::string& name) { return actor.ctx->ItemInfo(("**/" + name).c_str()).ID == focused; });
    }
    for (const std::string& name : names) IM_CHECK_STR_EQ(name.c_str(), "reached by Tab");
    actor.picture("focus by Tab");
    const ImGuiID skip = actor.ctx->ItemInfo("**/skip").ID;
    for (int i = 0; i < 80 && ImGui::GetCurrentContext()->NavId != skip; ++i) actor.ctx->KeyPress(ImGuiKey_Tab);
    actor.picture("focus on Skip");
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(2);
    IM_CHECK(actor.question().state() == Question::State::kSkipped);
  });
}

TEST_CASE("theme and scale change on the spot", "[gui]") {
  Scene scene;
  perform("theme and scale", scene.stage, [](Actor& actor) {
    actor.click("theme");
    actor.frames(2);
    IM_CHECK(app::window::theme().id == ThemeId::kDark);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_T);
    actor.frames(2);
    IM_CHECK(app::window::theme().id == ThemeId::kHighContrast);
    actor.picture("high contrast");
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Equal);
    actor.frames(2);
    IM_CHECK_EQ(app::window::look().scale, 1.125f);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_0);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Minus);
    actor.frames(2);
    IM_CHECK_EQ(app::window::look().scale, 0.875f);
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_0);
    actor.frames(2);
    IM_CHECK_EQ(app::window::look().scale, 1.0f);
  });
}

TEST_CASE("? shows the keys, Esc closes them", "[gui]") {
  Scene scene;
  perform("keys", scene.stage, [](Actor& actor) {
    actor.ctx->KeyChars("?");
    actor.frames(3);
    actor.picture("popup keys");
    IM_CHECK(ImGui::IsPopupOpen("keys page", ImGuiPopupFlags_AnyPopupLevel | ImGuiPopupFlags_AnyPopupId));
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    IM_CHECK(!ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupLevel | ImGuiPopupFlags_AnyPopupId));
  });
}

TEST_CASE("a narrow window has text and figure as two faces", "[gui]") {
  Scene scene;
  scene.stage.width = 1920;
  scene.stage.height = 1080;
  scene.stage.scale = 2;
  perform("narrow", scene.stage, [&](Actor& actor) {
    IM_CHECK(actor.there("skip"));
    IM_CHECK(!actor.there("timeline"));
    actor.ctx->ItemClick("**/face/Figure");
    actor.frames(3);
    IM_CHECK(actor.there("timeline"));
    actor.click("act");  // locks the answer
    actor.frames(3);
    IM_CHECK(actor.question().locked());
    actor.click("drawer");
    IM_CHECK(actor.app.ui().drawer);
    actor.picture("narrow drawer");
    actor.click("drawer");
    actor.click("settings");
    actor.frames(2);
    actor.picture("narrow settings");
    actor.ctx->ItemClick("//$FOCUSED/checkpointing/choice/each layer");
    IM_CHECK(actor.page().control().params().text("checkpointing") == "layer");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(2);
    actor.click("act");
    IM_CHECK_EQ(scene.backend.starts(), 1);
    actor.wait_for_end_of_run();
  });
}

TEST_CASE("a page without recordings says so and can be run", "[gui]") {
  TestAssets assets;
  ScriptedBackend backend(small_run());
  Stage stage;
  stage.assets = assets.path();
  stage.runner = &backend;
  perform("no recordings", stage, [&](Actor& actor) {
    IM_CHECK_EQ(actor.page().shown_run(), -1);
    IM_CHECK(!actor.page().figure(400).empty_reason.empty());
    IM_CHECK(actor.there("empty action"));
    actor.picture("empty");
    actor.click("empty action");
    actor.wait_for_end_of_run();
    IM_CHECK(actor.page().figure(400).empty_reason.empty());
    IM_CHECK(actor.question().hides());
  });
}

TEST_CASE("without an engine stored runs play, with their own settings", "[gui]") {
  TestAssets assets;
  assets.add(*small_run(), "tiny_cpu");
  assets.add(*small_run({.weights = 80 * record::kMiB}), "llama-3.2-1b_h200_b4");
  Stage stage;
  stage.assets = assets.path();
  perform("stored runs only", stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(3);
    IM_CHECK_EQ(actor.page().runs().size(), 2u);
    IM_CHECK(!actor.there("batch/slider"));
    actor.click("runs");
    actor.frames(2);
    actor.picture("popup runs");
    actor.ctx->ItemClick("//$FOCUSED/$$1/run");
    actor.frames(3);
    IM_CHECK_EQ(actor.page().shown_run(), 1);
    IM_CHECK_EQ(peak_in_figure(actor), static_cast<double>(peak_of({.weights = 80 * record::kMiB})));
    actor.click("run");
    actor.frames(2);
    actor.wait_for_end_of_run();
    IM_CHECK_EQ(peak_in_figure(actor), static_cast<double>(peak_of({.weights = 80 * record::kMiB})));
  });
}

TEST_CASE("a prediction is a layer beside what was measured", "[gui]") {
  Scene scene;
  ScriptedBackend planner(small_run({.source = record::Source::kPredicted}), 1000);
  scene.stage.planner = &planner;
  perform("predicted", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.ctx->ItemClick("**/layers/Predicted");
    actor.frames(3);
    IM_CHECK_EQ(planner.starts(), 1);
    IM_CHECK(actor.page().shows_prediction());
    IM_CHECK(actor.page().figure(400).source == record::Source::kPredicted);
    actor.ctx->ItemClick("**/layers/Measured");
    actor.frames(2);
    IM_CHECK(!actor.page().shows_prediction());
  });
}

TEST_CASE("the figure on the screen is written as files", "[gui]") {
  Scene scene;
  perform("export", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.app.ui().export_folder = (scene.assets.path() / "out").string();
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_E);
    actor.frames(3);
    actor.ctx->ItemClick("//$FOCUSED/CSV");
    actor.ctx->ItemClick("//$FOCUSED/write");
    actor.frames(2);
    actor.picture("popup export");
    std::error_code missing;
    IM_CHECK(std::filesystem::file_size(scene.assets.path() / "out" / "memory_timeline.svg", missing) > 1000);
    IM_CHECK(!missing);
    IM_CHECK(std::filesystem::file_size(scene.assets.path() / "out" / "memory_timeline.csv", missing) > 100);
    IM_CHECK(!missing);
    IM_CHECK(!std::filesystem::exists(scene.assets.path() / "out" / "memory_timeline.pdf"));
    IM_CHECK(actor.app.ui().export_result.find("memory_timeline.svg, memory_timeline.csv") != std::string::npos);
  });
}

TEST_CASE("a folder that cannot be written is one sentence", "[gui]") {
  Scene scene;
  perform("export refused", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.app.ui().export_folder = "/proc/nowhere";
    actor.click("export");
    actor.frames(3);
    actor.ctx->ItemClick("//$FOCUSED/write");
    actor.frames(2);
    IM_CHECK(actor.app.ui().export_result.find("/proc/nowhere") != std::string::npos);
  });
}

TEST_CASE("a term lights its kind in the figure, and the list its term", "[gui]") {
  Scene scene;
  perform("terms", scene.stage, [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    // The first word of the page is the term "Weights": below the title, at the column's left edge.
    ImVec2 at = ImGui::GetMainViewport()->Pos;
    for (float y = 100; y < 260 && !actor.app.ui().lit; y += 6) {
      actor.ctx->MouseMoveToPos({at.x + 90, at.y + y});
      actor.frames(2);
    }
    IM_CHECK(actor.app.ui().lit == record::Category::kWeights);
    actor.picture("lit by term");
    for (const app::paint::HitArea& area : actor.app.figure().scene().hits) {
      if (area.category != record::Category::kActivations || area.rect.x0 < actor.app.figure().scene().map.plot.x1)
        continue;
      const ImVec2 origin =
          actor.on_screen(actor.app.figure().scene().map.x.low, actor.app.figure().scene().map.y.high);
      const app::paint::Rect& plot = actor.app.figure().scene().map.plot;
      actor.ctx->MouseMoveToPos({origin.x - plot.x0 + area.rect.center_x(), origin.y - plot.y0 + area.rect.center_y()});
      actor.frames(2);
      IM_CHECK(actor.app.ui().lit == record::Category::kActivations);
      return;
    }
    IM_CHECK(false);  // no row of the list can be pointed at
  });
}

TEST_CASE("what the reader chose is kept", "[gui]") {
  Scene scene;
  const std::filesystem::path file = scene.assets.path() / "settings.json";
  {
    app::SettingsFile settings(file);
    scene.stage.settings = &settings;
    perform("settings kept", scene.stage, [](Actor& actor) {
      actor.click("theme");
      actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Equal);
      actor.frames(2);
    });
  }
  const app::SettingsFile again(file);
  CHECK(again.values().theme == "dark");
  CHECK(again.values().font_scale == Approx(1.125));
  CHECK(again.values().page == "where_memory_goes");
}
