// The kernel editor's page: typing, errors with lines, and keeping the reader's text.
#include <algorithm>
#include <filesystem>

#include "app/window/widgets/kernel_editor.h"
#include "demos/experiments/info/edit_kernel_exercises.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/harness.h"
#include "tests/gui/support/scripted_backend.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

// An engine's reply for a kernel with or without an error in line 3.
std::shared_ptr<record::Recording> compiled(const std::string& source, bool error) {
  auto recording = std::make_shared<record::Recording>(
      record::RunInfo{.demo = "edit_kernel", .params = {{"exercise", "vector_add"}, {"source", source}}});
  record::KernelReport report{.verdict = error ? record::KernelVerdict::kNotCompiled : record::KernelVerdict::kCompiled,
                              .sentence = error ? "It does not compile: there is an error in line 3." : "Compiled.",
                              .exercise = "vector_add",
                              .architecture = "sm_90",
                              .compiler = "NVRTC 13.0"};
  if (error) report.messages = {{.line = 3, .error = true, .text = "identifier \"oops\" is undefined\n  oops\n  ^"}};
  if (!error) report.kernels = {{.name = "vector_add", .registers = 12}};
  recording->set_kernel_report(report);
  recording->set_outcome({});
  return recording;
}

struct EditorScene {
  TestAssets assets;
  ScriptedBackend backend{compiled("x\n", true)};
  Stage stage;

  EditorScene(int width, int height) {
    stage.width = width;
    stage.height = height;
    stage.assets = assets.path();
    stage.runner = &backend;
    stage.page = "edit_a_kernel";
  }
};

void type_at_the_end(const Actor& actor, const char* text) {
  actor.ctx->ItemClick("**/##source");
  actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_End);
  actor.ctx->KeyChars(text);
}

}  // namespace

TEST_CASE("the line of a typed error is marked until the source changes", "[gui]") {
  for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1920, 1080}}) {
    EditorScene scene(width, height);
    perform(width == 1280 ? "kernel editor" : "kernel editor wide", scene.stage, [&](Actor& actor) {
      const std::string begin(experiments::find_exercise("vector_add")->source);
      IM_CHECK(actor.widget<app::window::KernelEditor>().text() == begin);
      IM_CHECK(actor.widget<app::window::KernelEditor>().marked_lines().empty());
      type_at_the_end(actor, "oops");
      IM_CHECK(actor.widget<app::window::KernelEditor>().text() == begin + "oops");
      scene.backend.use(compiled(begin + "oops\n", true));
      actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_R);  // from inside the editor
      actor.wait_for_end_of_run();
      IM_CHECK_EQ(scene.backend.starts(), 1);
      IM_CHECK(scene.backend.last_params().text("source") == begin + "oops\n");
      IM_CHECK(actor.widget<app::window::KernelEditor>().marked_lines() == std::vector<std::int64_t>{3});
      actor.picture(width == 1280 ? "kernel editor, error" : "kernel editor wide, error");
      actor.click("message 0");
      type_at_the_end(actor, "!");
      actor.frames(2);
      IM_CHECK(actor.widget<app::window::KernelEditor>().marked_lines().empty());
    });
  }
}

TEST_CASE("Escape leaves the editor and keeps the typed text", "[gui]") {
  EditorScene scene(1280, 720);
  perform("kernel editor escape", scene.stage, [&](Actor& actor) {
    type_at_the_end(actor, "// mine");
    actor.ctx->KeyPress(ImGuiKey_Escape);
    actor.frames(3);
    IM_CHECK(actor.widget<app::window::KernelEditor>().text().ends_with("// mine"));
  });
}

TEST_CASE("each exercise keeps its text while a solution is shown", "[gui]") {
  EditorScene scene(1280, 720);
  perform("kernel editor exercises", scene.stage, [&](Actor& actor) {
    IM_CHECK(actor.page().set_param("exercise", "vectorise").ok());
    actor.frames(3);
    const experiments::Exercise& vectorise = *experiments::find_exercise("vectorise");
    IM_CHECK(actor.widget<app::window::KernelEditor>().text() == vectorise.source);
    type_at_the_end(actor, "// mine");
    actor.click("solution");
    actor.frames(3);
    IM_CHECK(actor.widget<app::window::KernelEditor>().text() == vectorise.solution);
    IM_CHECK(actor.page().control().params().text("source") == vectorise.solution);
    actor.picture("kernel editor, solution");
    actor.click("solution");
    IM_CHECK(actor.page().set_param("exercise", "vector_add").ok());
    actor.frames(3);
    IM_CHECK(actor.widget<app::window::KernelEditor>().text() == experiments::find_exercise("vector_add")->source);
    IM_CHECK(actor.page().set_param("exercise", "vectorise").ok());
    actor.frames(3);
    IM_CHECK(actor.widget<app::window::KernelEditor>().text() == std::string(vectorise.source) + "// mine");
    actor.click("start again");
    actor.frames(3);
    IM_CHECK(actor.widget<app::window::KernelEditor>().text() == vectorise.source);
  });
}

TEST_CASE("the editor is the page's second face in a small window", "[gui]") {
  EditorScene scene(800, 600);
  perform("kernel editor narrow", scene.stage, [&](Actor& actor) {
    actor.app.view().state().figure_face = true;
    actor.frames(3);
    type_at_the_end(actor, "oops");
    IM_CHECK(actor.widget<app::window::KernelEditor>().text().ends_with("oops"));
    IM_CHECK(actor.page().control().params().text("source").ends_with("oops\n"));
  });
}

TEST_CASE("the stored run shows its source, verdict and speed, read-only", "[gui]") {
  for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1920, 1080}}) {
    TestAssets assets;
    const auto shipped = record::Recording::read(std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets" / "recordings" /
                                                 "edit_kernel_rms_norm_h200.hrec");
    REQUIRE(shipped.ok());
    assets.add(shipped.value(), "edit_kernel_rms_norm_h200");
    Stage stage;
    stage.width = width;
    stage.height = height;
    stage.assets = assets.path();
    stage.page = "edit_a_kernel";
    perform(width == 1280 ? "stored kernel" : "stored kernel wide", stage, [&](Actor& actor) {
      const std::string begin(experiments::find_exercise("rms_norm")->source);
      IM_CHECK(actor.widget<app::window::KernelEditor>().text() == begin);
      type_at_the_end(actor, "oops");
      IM_CHECK(actor.widget<app::window::KernelEditor>().text() == begin);
      if (width == 1280) {
        actor.picture("stored kernel, source");
        actor.click("Speed");
        actor.frames(3);
      }
      IM_CHECK_EQ(tests::charts_of(actor.page().figure(400)).size(), 1u);
      IM_CHECK_EQ(tests::charts_of(actor.page().figure(400)).front()->series.size(), 2u);
    });
  }
}
