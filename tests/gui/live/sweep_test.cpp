// Sweeps from the window with the real engine on the CPU.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "app/window/widgets/ladder.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/harness.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

void drag_rung(const Actor& actor, const std::string& from, const std::string& to) {
  const auto middle = [&](const std::string& id) {
    return actor.ctx->ItemInfo(("**/rung " + id).c_str()).RectFull.GetCenter();
  };
  const ImVec2 begin = middle(from), end = middle(to);
  actor.ctx->MouseMoveToPos(begin);
  actor.ctx->MouseDown(0);
  actor.ctx->MouseMoveToPos(end);
  actor.ctx->MouseUp(0);
  actor.frames(2);
}

Stage stage_of(const TestAssets& assets, const char* page) {
  Stage stage;
  stage.assets = assets.path();
  stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  stage.page = page;
  return stage;
}

constexpr std::size_t kAllPoints = 1'000;

void run_to_end(Actor& actor, const std::string& name, std::size_t points = kAllPoints) {
  actor.click("run sweep");
  int frames = 0;
  actor.wait_until([&] {
    const app::page::RunOnShow* shown = actor.page().on_show();
    if (shown != nullptr && shown->recording->info().source == record::Source::kLive &&
        shown->recording->sweep_points().size() >= points && actor.there("stop sweep"))
      actor.click("stop sweep");
    if (++frames == 40) actor.picture(name + ", running");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // leaves the cores to the engine
    return !actor.app.running();
  });
  IM_CHECK(!actor.app.running());
  actor.frames(3);
  actor.picture(name + ", done");
}

}  // namespace

TEST_CASE("the real engine runs the ladder in the reader's order, and a refused rung says why", "[gui]") {
  const TestAssets assets;
  perform("ladder live", stage_of(assets, "ladder"), [](Actor& actor) {
    actor.frames(3);
    if (actor.question().hides()) actor.click("skip");
    IM_CHECK(!actor.there("layers/Predicted"));  // rungs are measured, not predicted
    for (const auto& [key, value] :
         {std::pair("device", "cpu"), std::pair("batch", "4"), std::pair("seq", "128"), std::pair("steps", "2")})
      IM_CHECK(actor.page().set_param(key, value).ok());
    actor.frames(2);
    const app::page::Ladder& ladder = actor.page().ladder();
    const std::string first = ladder.switches()[0].id;
    drag_rung(actor, "checkpointing", first);
    IM_CHECK(ladder.switches()[0].id == "checkpointing");
    // Streaming weights needs recomputed layers; checkpointing now comes only on the next rung.
    drag_rung(actor, "offload_parameters", "checkpointing");
    IM_CHECK(ladder.switches()[0].id == "offload_parameters");
    const std::string why = ladder.why_not(0);
    IM_CHECK(why.find("Stream weights “on” cannot be combined with Checkpointing “off”") != std::string::npos);
    run_to_end(actor, "ladder live");
    const lessons::FigureData& figure = actor.page().figure(400);
    IM_CHECK_EQ(tests::rungs_of(figure).size(), ladder.switches().size() + 1);
    for (std::size_t i = 0; i < tests::rungs_of(figure).size(); ++i) {
      const lessons::Rung& rung = tests::rungs_of(figure)[i];
      if (i == 1)
        IM_CHECK(rung.note.find("cannot be combined with") != std::string::npos);
      else
        IM_CHECK(rung.note.find("cannot be combined with") == std::string::npos);  // may name what was turned off
      IM_CHECK_EQ(rung.value.empty(), i == 1 || rung.off);
    }
    const auto total = [](const lessons::Rung& rung) {
      record::Bytes sum = 0;
      for (const record::Bytes bytes : rung.bytes) sum += bytes;
      return sum;
    };
    IM_CHECK_GT(total(tests::rungs_of(figure)[0]), total(tests::rungs_of(figure)[2]));  // rung 2: checkpointing alone
    const auto& rungs = tests::rungs_of(figure);
    const auto last = std::ranges::find(rungs.rbegin(), rungs.rend(), false, &lessons::Rung::off);
    IM_CHECK_GT(total(rungs[0]), 2 * total(*last));
    IM_CHECK(actor.page().control().can_run());  // the ladder's engines have ended
  });
}

TEST_CASE("the real engine runs the report's experiment from its page", "[gui]") {
  const TestAssets assets;
  perform("report live", stage_of(assets, "report"), [](Actor& actor) {
    actor.frames(3);
    if (actor.question().hides()) actor.click("skip");
    run_to_end(actor, "report live", 9);  // all points would take minutes
    int ran_out = 0, completed = 0;
    for (const record::SweepPoint& point : actor.page().on_show()->recording->sweep_points()) {
      ran_out += point.outcome.kind == record::OutcomeKind::kOutOfMemory;
      completed += point.outcome.kind == record::OutcomeKind::kCompleted;
    }
    IM_CHECK_GE(ran_out, 1);  // the 2024 code, under the cap
    IM_CHECK_GE(completed, 6);
  });
}
