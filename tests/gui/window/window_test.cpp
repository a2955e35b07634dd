// The window, by clicks and keys: the page's state and the recording.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/page/words/page_words.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;
using app::page::Question;

TEST_CASE("the page opens with its stored run, half of it hidden", "[gui]") {
  Scene scene;
  perform("open", scene.stage, [](Actor& actor) {
    IM_CHECK(!actor.app.view().figure().scene().items.empty());
    IM_CHECK(actor.question().hides());
    IM_CHECK(tests::timeline_of(actor.page().figure(400)).hidden_from.has_value());
    IM_CHECK(actor.there("lock"));
    IM_CHECK(actor.there("skip"));
    IM_CHECK(!actor.there("layers/Predicted"));  // no planner: no prediction to choose
  });
}

TEST_CASE("the guess is dragged on the figure and locked by Enter", "[gui]") {
  Scene scene;
  perform("answer by drag", scene.stage, [](Actor& actor) {
    const auto& figure = actor.app.view().figure();
    IM_CHECK(figure.scene().guess.has_value());
    IM_CHECK(!actor.question().guess());
    const double x = (*tests::timeline_of(actor.page().figure(400)).hidden_from + figure.scene().map.x.high) / 2;
    actor.ctx->MouseMoveToPos(actor.on_pill());
    actor.ctx->MouseClick(0);
    actor.frames(2);
    IM_CHECK(!actor.question().guess());
    actor.ctx->MouseDown(0);
    actor.ctx->MouseMoveToPos(actor.on_screen(x, 200 * kMiB));
    actor.ctx->MouseUp(0);
    IM_CHECK(std::abs(*actor.question().guess() - 200 * kMiB) < 4 * kMiB);
    IM_CHECK(actor.question().hides());
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(3);
    IM_CHECK(actor.question().state() == Question::State::kAnswered);
    IM_CHECK_EQ(actor.question().reveal()->is, static_cast<double>(peak_of({})));
    IM_CHECK(!tests::timeline_of(actor.page().figure(400)).hidden_from.has_value());
    IM_CHECK(actor.page().figure(400).head.guess && !actor.page().figure(400).head.guess_open);
  });
}

TEST_CASE("an answer cannot be locked without a guess, and the page says so", "[gui]") {
  for (const float scale : {1.0f, 2.0f}) {
    Scene scene;
    scene.stage.scale = scale;  // at scale 2, text and figure take turns
    perform(scale > 1 ? "no guess, narrow" : "no guess", scene.stage, [&](Actor& actor) {
      IM_CHECK_STR_EQ(std::string(actor.question().why_not_lock()).c_str(), "Drag the marker or type a number first.");
      actor.picture(scale > 1 ? "before a guess, narrow" : "before a guess");
      if (scale > 1) {
        actor.ctx->ItemClick("**/face/Figure");
        actor.frames(2);
      }
      const std::string lock = scale > 1 ? "act" : "lock";
      IM_CHECK((actor.ctx->ItemInfo(("**/" + lock).c_str()).ItemFlags & ImGuiItemFlags_Disabled) != 0);
      actor.ctx->KeyPress(ImGuiKey_Enter);
      actor.frames(3);
      IM_CHECK(actor.question().hides());
      actor.guess(110 * kMiB);
      IM_CHECK((actor.ctx->ItemInfo(("**/" + lock).c_str()).ItemFlags & ImGuiItemFlags_Disabled) == 0);
      actor.click(lock);
      actor.frames(3);
      IM_CHECK(actor.question().state() == Question::State::kAnswered);
    });
  }
}

TEST_CASE("a marker held beyond the axis's end extends the axis", "[gui]") {
  Scene scene;
  perform("guess beyond the axis", scene.stage, [](Actor& actor) {
    const auto top = [&] { return lessons::guess_axis(actor.page().figure(400))->high; };
    const double before = top();
    const ImVec2 pill = actor.on_pill();
    actor.ctx->MouseMoveToPos(pill);
    actor.ctx->MouseDown(0);
    actor.ctx->MouseMoveToPos({pill.x, actor.on_screen(0, before).y - 20});
    actor.wait_until([&] { return !(actor.question().guess().value_or(0) < 2 * before); });
    IM_CHECK_GE(*actor.question().guess(), 2 * before);
    IM_CHECK_GE(top(), *actor.question().guess());
    const double grown = top();
    actor.ctx->MouseMoveToPos({pill.x, actor.on_screen(0, before / 2).y});
    actor.frames(2);
    actor.ctx->MouseUp(0);
    IM_CHECK_EQ(top(), grown);  // the axis is stable during a drag
    IM_CHECK_LT(std::abs(*actor.question().guess() - before / 2), before * 0.05);
  });
}

TEST_CASE("the guess follows the arrow keys while they are pressed", "[gui]") {
  Scene scene;
  perform("answer by keys", scene.stage, [](Actor& actor) {
    actor.ctx->KeyPress(ImGuiKey_UpArrow);  // starts at the low end
    actor.frames(2);
    const double step = actor.app.view().figure().scene().map.y.high / 100;
    IM_CHECK(std::abs(actor.question().guess().value_or(0) - step) < step / 10);
    const double before = 50 * step;
    actor.guess(before);
    for (int i = 0; i < 5; ++i) actor.ctx->KeyPress(ImGuiKey_UpArrow);
    actor.frames(2);
    IM_CHECK(std::abs(*actor.question().guess() - (before + 5 * step)) < step / 10);
    for (int i = 0; i < 7; ++i) actor.ctx->KeyPress(ImGuiKey_DownArrow);
    actor.frames(2);
    IM_CHECK(std::abs(*actor.question().guess() - (before - 2 * step)) < step / 10);
    actor.ctx->KeyPress(ImGuiKey_KeypadEnter);
    actor.frames(3);
    IM_CHECK(actor.question().state() == Question::State::kAnswered);
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
    actor.ctx->ItemInput("**/##guess");
    actor.ctx->KeyCharsReplace("110.0");
    actor.click("lock");  // also locks text still being typed
    actor.frames(3);
    IM_CHECK(actor.question().state() == Question::State::kAnswered);
    IM_CHECK(std::abs(actor.question().reveal()->factor - 2.0) < 0.01);
    IM_CHECK(!actor.there("lock"));
  });
}

TEST_CASE("Enter in the field locks the typed text", "[gui]") {
  Scene scene;
  perform("answer by Enter", scene.stage, [](Actor& actor) {
    actor.ctx->ItemInput("**/##guess");
    actor.ctx->KeyCharsReplaceEnter("55");
    actor.frames(3);
    IM_CHECK(actor.question().state() == Question::State::kAnswered);
    IM_CHECK(std::abs(actor.question().reveal()->said - 55 * kMiB) < 0.1 * kMiB);
  });
}

TEST_CASE("a guess that is not a size is refused and stays open", "[gui]") {
  Scene scene;
  perform("answer that is none", scene.stage, [](Actor& actor) {
    actor.ctx->ItemInput("**/##guess");
    actor.ctx->KeyCharsReplaceEnter("plenty");
    actor.frames(3);
    IM_CHECK(actor.question().hides());
    IM_CHECK(!actor.question().guess());
    IM_CHECK(actor.app.view().state().guess.error.find("plenty") != std::string::npos);
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
    IM_CHECK(actor.there("more"));
    actor.click("more");
    actor.frames(2);
    IM_CHECK(actor.app.view().state().reading_more);
    actor.picture("reading more");
    actor.click("less");
    IM_CHECK(!actor.app.view().state().reading_more);
  });
}

TEST_CASE("Run records a step live: the timeline grows, ends, and is summarized", "[gui]") {
  Scene scene;
  perform("run", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.click("run");
    actor.frames(3);
    IM_CHECK_EQ(scene.backend.starts(), 1);
    IM_CHECK(actor.app.running());
    IM_CHECK(actor.there("cancel"));
    IM_CHECK(actor.page().figure(400).head.source == record::Source::kLive);
    actor.picture("running");
    const std::uint64_t early = actor.page().runs().all().back().ledger->size();
    actor.frames(3);
    IM_CHECK(actor.page().runs().all().back().ledger->size() > early);
    actor.wait_for_end_of_run();
    IM_CHECK(!actor.app.running());
    IM_CHECK(actor.there("run"));
    IM_CHECK_EQ(peak_in_figure(actor), static_cast<double>(peak_of({.weights = 80 * record::kMiB})));
    IM_CHECK(status_line(actor.page()).find("3 steps, 0 events dropped") != std::string::npos);
  });
}

TEST_CASE("Ctrl R runs, Esc cancels, and the recorded data stays", "[gui]") {
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
    IM_CHECK(actor.page().runs().all().back().ledger->size() > 0);
    IM_CHECK(status_line(actor.page()).find("Cancelled after") != std::string::npos);
  });
}

TEST_CASE("the Cancel button cancels the run", "[gui]") {
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

TEST_CASE("the window and the partial timeline survive an engine's death, and the next run works", "[gui]") {
  Scene scene;
  perform("engine lost", scene.stage, [&](Actor& actor) {
    actor.click("skip");
    actor.click("run");
    actor.frames(8);
    scene.backend.lose_engine("The engine was killed by signal 9.");
    actor.frames(3);
    IM_CHECK(!actor.app.running());
    IM_CHECK(notice_of(actor.page()).has_value());
    IM_CHECK(actor.page().figure(400).head.empty_reason.empty());
    actor.picture("engine lost callout");
    actor.click("run");
    actor.wait_for_end_of_run();
    IM_CHECK(!notice_of(actor.page()).has_value());
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
    IM_CHECK(notice_of(actor.page()).has_value());
    IM_CHECK(notice_of(actor.page())->kind == app::page::Notice::Kind::kOutOfMemory);
    IM_CHECK(tests::timeline_of(actor.page().figure(400)).failed.has_value());
    IM_CHECK(tests::timeline_of(actor.page().figure(400)).cap.has_value());
  });
  Scene answered;
  answered.stage.height = 600;
  answered.backend.use(small_run({.out_of_memory = true}));
  perform("out of memory below an answer", answered.stage, [&](Actor& actor) {
    actor.guess(110 * kMiB);
    actor.ctx->KeyPress(ImGuiKey_Enter);
    actor.frames(3);
    actor.click("run");
    actor.wait_for_end_of_run();
    actor.frames(6);
    IM_CHECK(actor.app.view().state().words.above);  // the words make way for the result
  });
}

TEST_CASE("a page without recordings says so and can still run", "[gui]") {
  TestAssets assets;
  ScriptedBackend backend(small_run());
  Stage stage;
  stage.assets = assets.path();
  stage.runner = &backend;
  perform("no recordings", stage, [&](Actor& actor) {
    IM_CHECK_EQ(actor.page().runs().shown(), -1);
    IM_CHECK(!actor.page().figure(400).head.empty_reason.empty());
    IM_CHECK(actor.there("empty action"));
    actor.picture("empty");
    actor.click("empty action");
    actor.wait_for_end_of_run();
    IM_CHECK(actor.page().figure(400).head.empty_reason.empty());
    IM_CHECK(actor.question().hides());
  });
}

TEST_CASE("a damaged stored run is reported, and the others are shown", "[gui]") {
  Scene scene;
  const std::filesystem::path file = scene.assets.path() / "recordings" / "tiny_cpu.hrec";
  std::ofstream(file, std::ios::binary | std::ios::trunc) << "no recording";
  scene.assets.add(*small_run({.weights = 80 * record::kMiB}), "llama-3.2-1b_h200_b4");
  perform("damaged recording", scene.stage, [&](Actor& actor) {
    IM_CHECK_EQ(actor.page().runs().all().size(), 1u);
    IM_CHECK(actor.app.ui().notice.find(file.string()) != std::string::npos);
    actor.picture("damaged recording");
  });
}
