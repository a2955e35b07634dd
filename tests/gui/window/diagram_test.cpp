// Diagrams: a click on a box sets a parameter, and the player steps through frames.
#include <string>

#include "imgui_te_engine.h"
#include "tests/gui/support/harness.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

bool is_checkpoint(const Actor& actor, const std::string& node) {
  const auto* diagram = lessons::panel_of<lessons::Diagram>(actor.page().figure(400));
  if (diagram == nullptr) return false;
  for (const lessons::DiagramBox& box : diagram->boxes)
    if (box.id == node) return box.marked;
  return false;
}

void click_box(const Actor& actor, const std::string& node) {
  const auto& hits = actor.app.view().figure().scene().hits;
  for (std::size_t i = 0; i < hits.size(); ++i)
    if (hits[i].action && hits[i].tip.starts_with(node + ":")) {
      actor.ctx->ItemClick(("**/$$" + std::to_string(i) + "/box").c_str());
      actor.frames(2);
      return;
    }
  IM_ERRORF("%s cannot be clicked", node.c_str());
}

bool enabled(const Actor& actor, const char* name) {
  const ImGuiTestItemInfo item = actor.ctx->ItemInfo((std::string("**/") + name).c_str());
  return (item.ItemFlags & ImGuiItemFlags_Disabled) == 0;
}

}  // namespace

TEST_CASE("a click on a node makes it a checkpoint, and another click undoes it", "[gui]") {
  perform("checkpoints by clicks", shipped("schedule"), [](Actor& actor) {
    actor.click("skip");
    actor.frames(2);
    const auto checkpoints = [&] { return actor.page().figures().params().integer("checkpoints"); };
    IM_CHECK_EQ(checkpoints(), 4);  // bit 2: f2
    IM_CHECK(!is_checkpoint(actor, "f1"));
    click_box(actor, "f1");
    IM_CHECK_EQ(checkpoints(), 6);
    IM_CHECK(is_checkpoint(actor, "f1"));
    IM_CHECK(is_checkpoint(actor, "f2"));
    click_box(actor, "f2");
    IM_CHECK_EQ(checkpoints(), 2);
    click_box(actor, "f1");
    IM_CHECK_EQ(checkpoints(), 0);
    IM_CHECK(!is_checkpoint(actor, "f1"));
    IM_CHECK(is_checkpoint(actor, "f0"));  // the input always is one
  });
}

TEST_CASE("a figure with frames plays, pauses, and steps forward and back", "[gui]") {
  for (const char* page : {"schedule", "flce"}) {
    perform((std::string("player of ") + page).c_str(), shipped(page), [](Actor& actor) {
      app::page::PageModel& model = actor.page();
      actor.click("skip");
      actor.frames(2);
      IM_CHECK_GE(model.figures().frames(), 4u);
      const std::size_t frames = model.figures().frames();
      model.figures().show_frame(2);
      actor.click("step on");
      IM_CHECK_EQ(model.figures().frame(), 3u);
      actor.click("step back");
      actor.click("step back");
      IM_CHECK_EQ(model.figures().frame(), 1u);
      actor.frames(2);
      IM_CHECK(!enabled(actor, "step back"));
      actor.ctx->KeyPress(ImGuiKey_Period);
      actor.ctx->KeyPress(ImGuiKey_Period);
      actor.ctx->KeyPress(ImGuiKey_Comma);
      IM_CHECK_EQ(model.figures().frame(), 2u);

      actor.click("play");
      IM_CHECK(model.figures().plays());
      actor.wait_until([&] { return model.figures().frame() >= 4; });
      IM_CHECK_EQ(model.figures().frame(), 4u);
      actor.click("play");
      IM_CHECK(!model.figures().plays());
      actor.frames(60);  // a second
      IM_CHECK_EQ(model.figures().frame(), 4u);

      model.figures().show_frame(frames - 1);
      actor.click("play");
      actor.wait_until([&] { return !model.figures().plays(); });
      IM_CHECK_EQ(model.figures().frame(), frames);
      actor.frames(2);
      IM_CHECK(!enabled(actor, "step on"));
      actor.click("play");
      IM_CHECK_EQ(model.figures().frame(), 1u);
      actor.click("step on");
      IM_CHECK(!model.figures().plays());
    });
  }
}
