// Types a kernel, compiles it and checks its error marks. Needs no GPU.
#include <algorithm>

#include "app/window/widgets/kernel_editor.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/harness.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

void wait_for_report(const Actor& actor) {
  actor.wait_until([&] { return actor.page().control().outcome().has_value(); });
  actor.frames(3);
}

}  // namespace

TEST_CASE("a typed error is compiled and its line marked, and the corrected source compiles", "[gui][live]") {
  TestAssets assets;
  Stage stage;
  stage.assets = assets.path();
  stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  stage.page = "edit_a_kernel";
  perform("live kernel", stage, [](Actor& actor) {
    IM_CHECK(actor.page().set_param("device", "cpu").ok());
    actor.ctx->ItemClick("**/##source");
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_End);
    actor.ctx->KeyChars("oops;");
    const std::string& text = actor.widget<app::window::KernelEditor>().text();
    const std::int64_t last = 1 + std::count(text.begin(), text.end(), '\n');
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_R);
    wait_for_report(actor);
    IM_CHECK(actor.widget<app::window::KernelEditor>().marked_lines() == std::vector<std::int64_t>{last});
    actor.picture("live kernel, error");
    for (int i = 0; i < 5; ++i) actor.ctx->KeyPress(ImGuiKey_Backspace);
    actor.click("run");
    actor.frames(3);
    wait_for_report(actor);
    IM_CHECK(actor.widget<app::window::KernelEditor>().marked_lines().empty());
    const auto& report = actor.page().control().recording()->kernel_report();
    IM_CHECK(report && report->verdict == record::KernelVerdict::kCompiled);
  });
}
