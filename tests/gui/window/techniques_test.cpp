// Technique pages: incompatible settings, pinned runs, differences, formulas with the reader's numbers, and rungs.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

bool has_note(const Actor& actor, const std::string& words) {
  const lessons::FigureData& figure = actor.page().figure(400);
  for (const lessons::Bar& bar : tests::bars_of(figure))
    if (bar.note.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a conflicting value is disabled with its reason, which a click shows", "[gui]") {
  Scene scene;
  scene.stage.page = "offload";
  perform("refused combination", scene.stage, [](Actor& actor) {
    actor.skip_question();
    const app::page::RunControl& control = actor.page().control();
    IM_CHECK(actor.page().set_param("checkpointing", "layer").ok());
    IM_CHECK(actor.page().set_param("offload.parameters", "on").ok());
    actor.frames(2);
    IM_CHECK(!control.why_not("checkpointing", "off").empty());
    IM_CHECK(control.why_not("checkpointing", "layer").empty());
    actor.ctx->ItemClick("**/checkpointing/choice");
    actor.frames(2);
    actor.picture("refused option");
    actor.ctx->ItemClick("//$FOCUSED/$$0/option");
    actor.frames(2);
    IM_CHECK(control.params().text("checkpointing") == "layer");
    const std::string& said = actor.app.view().state().settings.refused;
    IM_CHECK(said.find("Checkpointing “off” cannot be combined with Stream weights “on”") != std::string::npos);
    actor.picture("refused combination");
    actor.ctx->ItemClick("**/offload.parameters/choice/off");
    actor.frames(2);
    IM_CHECK(!control.params().on("offload.parameters"));
    IM_CHECK(control.why_not("checkpointing", "off").empty());
  });
}

TEST_CASE("folded settings are grouped", "[gui]") {
  Scene scene;
  scene.stage.page = "checkpointing";
  perform("groups", scene.stage, [](Actor& actor) {
    actor.skip_question();
    IM_CHECK(actor.there("checkpointing/choice"));  // the page's own switches come first
    IM_CHECK(actor.there("accumulate/slider"));
    actor.click("more settings");
    actor.frames(2);
    actor.ctx->ItemClick("//$FOCUSED/group Optimizer");
    actor.frames(2);
    actor.picture("group optimizer");
    actor.ctx->ItemClick("//$FOCUSED/optimizer_in_backward/choice/on");
    IM_CHECK(actor.page().control().params().on("optimizer_in_backward"));
    actor.ctx->ItemClick("//$FOCUSED/group Kernels");
    actor.frames(2);
    actor.ctx->ItemClick("//$FOCUSED/fused.rope/choice/on");
    IM_CHECK(actor.page().control().params().on("fused.rope"));
    actor.picture("group kernels");
  });
}

TEST_CASE("a page pins the step with the fused loss as A, and every panel shows the difference to B", "[gui]") {
  Scene scene;
  scene.assets.add(*small_run({.activations = 4 * record::kMiB}), "technique_checkpointing_layer_cpu");
  scene.assets.add(*small_run(), "technique_loss_flce_cpu");
  scene.stage.page = "checkpointing";
  scene.stage.width = 1920;
  scene.stage.height = 1080;
  perform("page pins A", scene.stage, [](Actor& actor) {
    actor.frames(4);
    IM_CHECK_EQ(actor.page().runs().all().size(), 2u);
    IM_CHECK(actor.page().run_a().pinned() != nullptr);
    const lessons::FigureData& hidden = actor.page().figure(400);
    IM_CHECK(tests::timeline_of(hidden).baseline_peak.has_value());  // A is known, only B's answer is hidden
    IM_CHECK(!tests::timeline_of(hidden).peak.has_value());
    actor.skip_question();
    const double fewer = 24 * kMiB;
    const lessons::Timeline& shown = tests::timeline_of(actor.page().figure(400));
    IM_CHECK_EQ(shown.baseline_peak->y - shown.peak->y, fewer);
    IM_CHECK(!actor.page().run_a().comparison().rows.empty());
    actor.picture("B against A");
    actor.page().show_tab(1);
    actor.frames(3);
    IM_CHECK(has_note(actor, "−24.00 MiB to A"));
    IM_CHECK(has_note(actor, "as in A"));
    actor.picture("peaks of B and A");
    actor.page().show_tab(2);
    actor.frames(3);
    IM_CHECK(lessons::panel_of<lessons::Table>(actor.page().figure(400)) != nullptr);
    actor.picture("formula table");
    actor.page().show_tab(0);
    actor.ctx->KeyPress(ImGuiKey_C);  // unpins A
    actor.frames(3);
    IM_CHECK(actor.page().run_a().pinned() == nullptr);
    actor.page().show_run(0);
    actor.frames(3);
    IM_CHECK(actor.page().run_a().pinned() == nullptr);
  });
}

TEST_CASE("the formula follows the reader's settings at once", "[gui]") {
  Scene scene;
  scene.stage.page = "optimizer_states";
  perform("formula follows", scene.stage, [](Actor& actor) {
    actor.skip_question();
    actor.page().show_tab(2);
    actor.frames(2);
    const auto state = [&] {
      for (const lessons::TableRow& row : tests::table_of(actor.page().figure(400)).rows)
        if (row.name == "Optimizer state") return row.note;
      return std::string();
    };
    IM_CHECK(state().find("1 + 1 + 8/256") != std::string::npos);
    IM_CHECK(actor.page().set_param("optimizer", "adamw").ok());
    actor.frames(2);
    IM_CHECK(state().find("(4 + 4) · P = 8 × ") != std::string::npos);
    IM_CHECK(actor.page().set_param("model", "llama-3.2-1b").ok());
    actor.frames(2);
    IM_CHECK(state().find("8 × 1,235,814,400") != std::string::npos);
    actor.picture("formula of 1B");
  });
}

TEST_CASE("rungs are dragged, refused rungs say why, and the ladder runs", "[gui]") {
  Scene scene;
  scene.stage.page = "ladder";
  int made = 0;
  scene.stage.make_backend = [&] {
    ++made;
    return std::make_unique<ScriptedBackend>(small_run(), 400);
  };
  perform("ladder", scene.stage, [&](Actor& actor) {
    actor.skip_question();
    const app::page::Ladder& ladder = actor.page().ladder();
    std::vector<std::string> before;
    for (const app::page::Ladder::Switch& each : ladder.switches()) before.push_back(each.id);
    IM_CHECK_GT(before.size(), 4u);
    actor.picture("ladder");
    const ImVec2 first = actor.ctx->ItemInfo(("**/rung " + before[0]).c_str()).RectFull.GetCenter();
    const ImVec2 third = actor.ctx->ItemInfo(("**/rung " + before[2]).c_str()).RectFull.GetCenter();
    actor.ctx->MouseMoveToPos(first);
    actor.ctx->MouseDown(0);
    actor.ctx->MouseMoveToPos(third);
    actor.picture("ladder, dragging");
    actor.ctx->MouseUp(0);
    actor.frames(2);
    IM_CHECK(ladder.switches()[0].id == before[1]);
    IM_CHECK(ladder.switches()[2].id == before[0]);
    // Streaming weights needs recomputed layers.
    const auto place = [&](const char* id) {
      const auto& order = ladder.switches();
      return static_cast<std::size_t>(std::ranges::find(order, id, &app::page::Ladder::Switch::id) - order.begin());
    };
    IM_CHECK(ladder.why_not(place("offload_parameters")).empty());
    const ImVec2 stream = actor.ctx->ItemInfo("**/rung offload_parameters").RectFull.GetCenter();
    actor.ctx->MouseMoveToPos(stream);
    actor.ctx->MouseDown(0);
    actor.ctx->MouseMoveToPos(first);
    actor.ctx->MouseUp(0);
    actor.frames(2);
    IM_CHECK_EQ(place("offload_parameters"), 0u);
    IM_CHECK(!ladder.why_not(0).empty());
    actor.picture("ladder, refused rung");
    actor.click("turn flce");
    actor.frames(2);
    IM_CHECK(!ladder.switches()[place("flce")].on);
    IM_CHECK(tests::rungs_of(actor.page().figure(400))[place("flce") + 1].off);
    actor.picture("ladder, a rung off");
    actor.click("run sweep");
    actor.frames(2);
    IM_CHECK(actor.app.running());
    actor.wait_until([&] { return !actor.app.running(); });
    IM_CHECK(!actor.app.running());
    IM_CHECK_GT(made, 0);
    actor.frames(3);
    const lessons::FigureData& figure = actor.page().figure(400);
    IM_CHECK_EQ(tests::rungs_of(figure).size(), ladder.switches().size() + 1);
    actor.picture("ladder, run");
  });
}

TEST_CASE("the report runs from its page, point by point, and can be stopped", "[gui]") {
  Scene scene;
  scene.stage.page = "report";
  int made = 0;
  scene.stage.make_backend = [&] {
    ++made;
    return std::make_unique<ScriptedBackend>(small_run(), 400);
  };
  perform("report", scene.stage, [&](Actor& actor) {
    actor.skip_question();
    actor.picture("report, run");
    actor.click("run sweep");
    actor.frames(2);
    IM_CHECK(actor.app.running());
    const auto points = [&] {
      const record::Recording& shown = *actor.page().on_show()->recording;
      return shown.sweep_points().size();
    };
    actor.wait_until([&] { return !(actor.app.running() && (actor.page().on_show() == nullptr || points() < 3)); });
    IM_CHECK(actor.app.running());
    IM_CHECK_GE(points(), 3u);
    IM_CHECK(!tests::charts_of(actor.page().figure(400)).empty());
    actor.picture("report, running");
    actor.click("stop sweep");
    actor.wait_until([&] { return !actor.app.running(); });
    IM_CHECK(!actor.app.running());
    IM_CHECK_GT(made, 0);
    IM_CHECK(actor.there("run sweep"));
    for (const record::SweepPoint& point : actor.page().on_show()->recording->sweep_points())
      IM_CHECK(point.params.at("model") == "tiny" && point.recording.empty());
  });
}

TEST_CASE("guesses are dragged on a logarithmic axis and along the ladder's bars", "[gui]") {
  Stage stage;
  stage.assets = std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets";
  ScriptedBackend backend(small_run());
  stage.runner = &backend;
  const auto drag = [](Actor& actor, ImVec2 from, ImVec2 to) {
    actor.ctx->MouseMoveToPos(from);
    actor.ctx->MouseDown(0);
    actor.ctx->MouseMoveToPos(to);
    actor.ctx->MouseUp(0);
    actor.frames(2);
  };
  stage.page = "bandwidth_of_this_machine";
  perform("guess a speed", stage, [&](Actor& actor) {
    actor.frames(4);
    const double to = 1e10;
    drag(actor, actor.on_pill(), actor.on_screen(6, to));
    IM_CHECK(std::abs(std::log10(*actor.question().guess() / to)) < 0.05);
    IM_CHECK(actor.app.view().state().guess.text.starts_with("9.") ||
             actor.app.view().state().guess.text.starts_with("10."));
    const double before = *actor.question().guess();
    actor.ctx->KeyPress(ImGuiKey_UpArrow);
    IM_CHECK(std::abs(*actor.question().guess() / before - std::pow(10, 0.05)) < 1e-3);  // a hundredth of five decades
    actor.click("lock");
    actor.frames(2);
    IM_CHECK(actor.question().state() == app::page::Question::State::kAnswered);
    IM_CHECK_GT(actor.question().reveal()->is, 1e9);
  });
  stage.page = "ladder";
  perform("guess a ladder", stage, [&](Actor& actor) {
    actor.frames(4);
    const double to = 20.0 * record::kGiB;
    drag(actor, actor.on_pill(), actor.on_screen(to, 0.4));
    IM_CHECK(std::abs(*actor.question().guess() - to) < 0.5 * record::kGiB);
    for (const lessons::Rung& rung : tests::rungs_of(actor.page().figure(400)))
      if (&rung != &tests::rungs_of(actor.page().figure(400)).front()) IM_CHECK(rung.value.empty());
    actor.click("lock");
    actor.frames(2);
    IM_CHECK(actor.question().state() == app::page::Question::State::kAnswered);
    for (const lessons::Rung& rung : tests::rungs_of(actor.page().figure(400)))
      IM_CHECK(rung.off || !rung.value.empty());
  });
}

TEST_CASE("pages with a ladder or the report have no Run for a single step, by button or key", "[gui]") {
  Scene scene;
  for (const char* page : {"ladder", "report"}) {
    scene.stage.page = page;
    scene.stage.width = 900;
    scene.stage.height = 700;
    perform((scene.stage.page + " narrow").c_str(), scene.stage, [&](Actor& actor) {
      actor.app.view().state().figure_face = true;
      actor.frames(2);
      IM_CHECK(actor.there("act"));
      actor.skip_question();
      IM_CHECK(!actor.there("act"));
      IM_CHECK(!actor.there("drawer"));        // the drawer would be empty
      IM_CHECK(!actor.there("empty action"));  // nor a button, though nothing is stored
      IM_CHECK(actor.there("run sweep"));
      actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_R);
      actor.frames(2);
      IM_CHECK_EQ(scene.backend.starts(), 0);
      actor.picture(scene.stage.page + " narrow figure");
    });
  }
}

TEST_CASE("ladders and links can be pinned as A, and B − A is shown", "[gui]") {
  Stage stage;
  stage.assets = std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets";
  ScriptedBackend backend(small_run());
  stage.runner = &backend;
  for (const auto& [page, head] :
       {std::pair("ladder", "First rung"), std::pair("bandwidth_of_this_machine", "Host copy")}) {
    stage.page = page;
    perform((stage.page + " pinned").c_str(), stage, [&, head = std::string(head)](Actor& actor) {
      actor.frames(6);
      IM_CHECK(!actor.there("pin"));  // it would reveal the answer
      actor.skip_question();
      actor.click("pin");
      IM_CHECK(actor.page().run_a().pinned() != nullptr);
      IM_CHECK(actor.page().run_a().comparison().rows.empty());
      actor.page().show_run(1);
      actor.frames(3);
      IM_CHECK(!actor.page().run_a().comparison().rows.empty());
      IM_CHECK_STR_EQ(std::string(actor.page().run_a().comparison().rows.front().head).c_str(), head.c_str());
      // The second run is smaller and slower.
      IM_CHECK(actor.page().run_a().comparison().rows.front().change.starts_with("−"));
      if (actor.page().page().id == "ladder") (void)actor.page().figures().set_param("delta", "a");
      actor.frames(2);
      actor.picture(stage.page + " B against A");
      actor.page().show_tab(1);
      actor.frames(3);
      actor.picture(stage.page + " formula B against A");
    });
  }
}
