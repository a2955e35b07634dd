// Window, engine process and a real training step together.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "app/page/page_facts.h"
#include "app/page/words/page_words.h"
#include "demos/predict/fits.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/harness.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

namespace fs = std::filesystem;

Stage stage_with_engine(const TestAssets& assets) {
  Stage stage;
  stage.assets = assets.path();
  stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  return stage;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Process id of the engine or the planner; 0 if there is none.
pid_t engine_process(bool planner) {
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string status = read_file(entry.path() / "status"), command = read_file(entry.path() / "cmdline");
    if (status.find("PPid:\t" + std::to_string(getpid()) + "\n") == std::string::npos) continue;
    if (command.find("headroom-engine") != std::string::npos &&
        planner == (command.find("--plan") != std::string::npos))
      return std::stoi(name);
  }
  return 0;
}

void run_to_end(Actor& actor) {
  actor.click("run");
  actor.wait_until([&] { return actor.page().control().outcome().has_value() && !actor.app.running(); });
  actor.frames(3);
}

}  // namespace

TEST_CASE("Run records a real training step live, with the allocator's peak", "[gui][live]") {
  TestAssets assets;
  perform("live run", stage_with_engine(assets), [](Actor& actor) {
    actor.ctx->ItemInput("**/##guess");
    actor.ctx->KeyCharsReplace("150");
    actor.ctx->KeyPress(ImGuiKey_Tab);
    actor.click("lock");
    IM_CHECK(actor.page().set_param("steps", "2").ok());
    IM_CHECK(actor.page().set_param("device", "cpu").ok());
    actor.click("run");
    actor.wait_until(
        [&] { return actor.page().runs().shown() >= 0 && actor.page().runs().all().back().ledger->size() > 0; });
    const std::uint64_t early = actor.page().runs().all().back().ledger->size();
    actor.wait_until([&] { return actor.page().runs().all().back().ledger->size() > early; });
    actor.wait_until([&] { return !actor.app.running(); });
    actor.frames(3);
    const record::Ledger& run = *actor.page().runs().all().back().ledger;
    IM_CHECK(actor.page().control().outcome()->kind == record::OutcomeKind::kCompleted);
    IM_CHECK_EQ(run.first_mismatch(), record::kNever);
    IM_CHECK_EQ(run.recording().dropped_events(), 0u);
    const auto step = record::steps_of(run.recording()).back();
    IM_CHECK_EQ(tests::timeline_of(actor.page().figure(400)).peak->y,
                static_cast<double>(run.peak(step.first, step.last).totals.allocated));
    IM_CHECK(status_line(actor.page()).find("2 steps, 0 events dropped") != std::string::npos);
    actor.picture("live run");
  });
}

TEST_CASE("Run starts two ranks, and the figure shows the collectives of both", "[gui][live]") {
  Stage stage = shipped("zero_step");
  stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  perform("two ranks", stage, [](Actor& actor) {
    actor.click("skip");
    for (const auto& [key, value] : std::map<std::string, std::string>{
             {"batch", "1"}, {"device", "cpu"}, {"model", "tiny"}, {"ranks", "2"}, {"seq", "32"}, {"steps", "2"}})
      IM_CHECK(actor.page().set_param(key, value).ok());
    run_to_end(actor);
    IM_CHECK(actor.page().control().outcome()->kind == record::OutcomeKind::kCompleted);
    const record::Ledger& run = *actor.page().runs().all().back().ledger;
    IM_CHECK_EQ(run.other_ranks().size(), 1u);
    IM_CHECK_EQ(run.first_mismatch(), record::kNever);
    IM_CHECK_EQ(run.other_ranks()[0].first_mismatch(), record::kNever);
    const auto* const lanes = lessons::panel_of<lessons::Lanes>(actor.page().figure(400));
    IM_CHECK(lanes != nullptr);
    const auto shown = std::ranges::count_if(lanes->lanes, [](const lessons::Lane& lane) {
      return lane.label == "Rank 0" && !lane.boxes.empty();  // beside rank 1, the last one
    });
    IM_CHECK_EQ(shown, 1);
    actor.picture("two ranks");
  });
}

TEST_CASE("Run trains with the printed configuration on two ranks", "[gui][live]") {
  Stage stage = shipped("read_a_config");
  stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  perform("printed configuration", stage, [](Actor& actor) {
    actor.click("skip");
    run_to_end(actor);
    IM_CHECK(actor.page().control().outcome()->kind == record::OutcomeKind::kCompleted);
    const record::Ledger& run = *actor.page().runs().all().back().ledger;
    IM_CHECK_EQ(run.other_ranks().size(), 1u);
    IM_CHECK_STR_EQ(run.recording().info().params.at("offload.optimizer").c_str(), "host");
    actor.picture("printed configuration");
  });
}

TEST_CASE("a killed engine leaves the timeline, and the next run works", "[gui][live]") {
  TestAssets assets;
  perform("engine killed", stage_with_engine(assets), [](Actor& actor) {
    actor.click("skip");
    IM_CHECK(actor.page().set_param("steps", "100").ok());  // more steps would take over a minute, and Run would ask
    IM_CHECK(actor.page().set_param("device", "cpu").ok());
    actor.click("run");
    // Waits for one step, so that the figure has something to keep.
    actor.wait_until([&] {
      return actor.app.running() && record::steps_of(*actor.page().runs().all().back().recording).size() > 1;
    });
    const pid_t engine = engine_process(false);
    IM_CHECK(engine > 0);
    kill(engine, SIGKILL);
    actor.wait_until([&] { return !actor.app.running(); });
    actor.frames(3);
    IM_CHECK(actor.page().control().outcome()->kind == record::OutcomeKind::kEngineLost);
    IM_CHECK(notice_of(actor.page()).has_value());
    IM_CHECK(actor.page().figure(400).head.empty_reason.empty());
    IM_CHECK(!tests::timeline_of(actor.page().figure(400)).stack.empty());
    actor.picture("engine killed");
    IM_CHECK(actor.page().set_param("steps", "1").ok());
    actor.click("run");
    actor.wait_until([&] { return actor.page().control().outcome().has_value() && !actor.app.running(); });
    IM_CHECK(actor.page().control().outcome()->kind == record::OutcomeKind::kCompleted);
    IM_CHECK(!notice_of(actor.page()).has_value());
  });
}

TEST_CASE("Cancel ends a real run within about a second", "[gui][live]") {
  TestAssets assets;
  perform("live cancel", stage_with_engine(assets), [](Actor& actor) {
    actor.click("skip");
    IM_CHECK(actor.page().set_param("steps", "100").ok());
    IM_CHECK(actor.page().set_param("device", "cpu").ok());
    actor.click("run");
    actor.wait_until(
        [&] { return actor.page().runs().all().size() == 1 && actor.page().runs().all().back().ledger->size() > 100; });
    actor.click("cancel");
    actor.wait_until([&] { return !actor.app.running(); });
    IM_CHECK(actor.page().control().outcome()->kind == record::OutcomeKind::kCancelled);
  });
}

TEST_CASE("the planner's prediction is drawn with the measurement", "[gui][live]") {
  TestAssets assets;
  assets.add(*small_run(), "tiny_cpu");
  perform("live prediction", stage_with_engine(assets), [](Actor& actor) {
    actor.click("skip");
    actor.ctx->ItemClick("**/layers/Measured");
    actor.wait_until([&] { return actor.page().figure(400).head.source == record::Source::kPredicted; });
    IM_CHECK(actor.page().shows_prediction());
    const double before = tests::timeline_of(actor.page().figure(400)).peak->y;
    IM_CHECK(actor.page().set_param("batch", "8").ok());
    actor.wait_until([&] {
      return tests::timeline_of(actor.page().figure(400)).peak &&
             tests::timeline_of(actor.page().figure(400)).peak->y > before;
    });
    actor.picture("predicted live");
  });
}

TEST_CASE("a killed planner is reported, the closed form replaces it, and a new planner answers", "[gui][live]") {
  TestAssets assets;
  assets.add(*small_run(), "tiny_cpu");
  perform("planner killed", stage_with_engine(assets), [](Actor& actor) {
    actor.click("skip");
    actor.ctx->ItemClick("**/layers/Measured");
    const auto source = [&] { return actor.page().figure(400).head.source; };
    const auto predicted = [&] {
      return source() == record::Source::kPredicted &&
             actor.page().forecast().predicted(actor.page().settings()) != nullptr;
    };
    actor.wait_until(predicted);
    actor.wait_until([&] { return !actor.app.awaits_prediction(); });
    for (const bool answering : {false, true}) {
      const pid_t planner = engine_process(true);
      IM_CHECK_GT(planner, 0);
      // A stopped planner receives the question but cannot answer it.
      kill(planner, answering ? SIGSTOP : SIGKILL);
      IM_CHECK(actor.page().set_param("batch", answering ? "128" : "8").ok());
      if (answering) {
        actor.frames(2);
        kill(planner, SIGKILL);
      }
      actor.wait_until([&] { return source() == record::Source::kFormula; });
      IM_CHECK(notice_of(actor.page()).has_value());
      IM_CHECK(notice_of(actor.page())->body.find("killed by SIGKILL") != std::string::npos);
      if (!answering) actor.picture("planner killed, closed form");
      actor.wait_until(predicted);
      IM_CHECK(!notice_of(actor.page()).has_value());
      const pid_t fresh = engine_process(true);
      IM_CHECK(fresh > 0 && fresh != planner);
      actor.wait_until([&] { return !actor.app.awaits_prediction(); });
    }
  });
}

TEST_CASE("the largest batch of Llama 3.2 1B under a limit is shown, and its slider is hatched beyond it",
          "[gui][live]") {
  TestAssets assets;
  assets.add(*small_run(), "tiny_cpu");
  perform("largest batch", stage_with_engine(assets), [](Actor& actor) {
    actor.click("skip");
    for (const auto& [key, value] : std::map<std::string, std::string>{
             {"model", "llama-3.2-1b"}, {"precision", "bf16"}, {"seq", "1024"}, {"device", "cuda"}, {"cap", "24GiB"}})
      IM_CHECK(actor.page().set_param(key, value).ok());
    const auto on_card = [&]() -> const app::CardPlan* {
      const app::StepPlan* const plan = plan_of(actor.page());
      return plan == nullptr ? nullptr : &plan->cards.front();
    };
    actor.wait_until([&] { return on_card() != nullptr && on_card()->largest_sequence; });
    IM_CHECK_EQ(static_cast<int>(*on_card()->largest_batch), 5);  // 22.8 GiB, as headroom plan says for 24 GiB
    actor.frames(3);
    actor.picture("largest batch");
    actor.frames(1);
    IM_CHECK(actor.page().set_param("batch", "6").ok());
    actor.wait_until([&] {
      return on_card() != nullptr && on_card()->fit.verdict == predict::Verdict::kDoesNotFit &&
             on_card()->largest_batch;
    });
    actor.frames(3);
    actor.picture("does not fit");
    actor.frames(1);
  });
}

TEST_CASE("the page starts with its own run, and its figure follows every setting and switch", "[gui][live]") {
  Stage stage;
  stage.assets = HEADROOM_SOURCE_DIR "/assets";
  stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  stage.page = "checkpointing";
  perform("living figure", stage, [](Actor& actor) {
    const auto text = [&](std::string_view key) { return actor.page().settings().as_text(key); };
    IM_CHECK(text("model") == "llama-3.2-1b" && text("checkpointing") == "layer" && text("device") == "cuda");
    IM_CHECK(plan_of(actor.page()) == nullptr);  // a plan would answer the question
    actor.click("skip");
    const auto complete = [&] {
      const auto& ways = actor.page().verdict().ways();
      return !ways.empty() && std::all_of(ways.begin(), ways.end(),
                                          [](const auto& way) { return !way.turned || (way.change && way.current); });
    };
    actor.wait_until(complete);
    IM_CHECK(shows_evidence(actor.page()));
    IM_CHECK(actor.page().figure(400).head.source == record::Source::kRecorded);
    actor.frames(3);
    actor.picture("living recorded");
    actor.frames(1);

    // Another stored run has the same settings without this switch.
    actor.ctx->ItemClick("**/way checkpointing");
    IM_CHECK(text("checkpointing") == "off");
    IM_CHECK(shows_evidence(actor.page()));
    actor.ctx->ItemClick("**/way flce");  // no stored run of the page has all logits
    IM_CHECK(text("loss") == "plain" && text("checkpointing") == "off");
    actor.wait_until(
        [&] { return actor.page().forecast().predicted(actor.page().settings()) != nullptr && complete(); });
    IM_CHECK(actor.page().shows_prediction());
    actor.frames(3);
    actor.picture("living switched");
    actor.frames(1);

    actor.ctx->ItemClick("**/way flce");
    IM_CHECK(text("loss") == "flce");
    IM_CHECK(actor.page().set_param("batch", "12").ok());
    actor.page().choose_card(predict::find_cards("4090").front());
    actor.wait_until(
        [&] { return actor.page().forecast().predicted(actor.page().settings()) != nullptr && complete(); });
    IM_CHECK(actor.page().shows_prediction());
    IM_CHECK(actor.page().figure(400).head.source == record::Source::kPredicted);
    actor.frames(3);
    actor.picture("living card");
    actor.frames(1);
    IM_CHECK_STR_EQ(
        as_command(actor.page()).c_str(),
        "headroom figures memory_timeline --of model=llama-3.2-1b --of batch=12 --of seq=1024 --of precision=bf16 "
        "--of loss=flce --card \"GeForce RTX 4090\" --out figures --format svg");
    actor.ctx->KeyPress(ImGuiKey_X);  // turns back the last switch, the fused loss
    IM_CHECK(text("loss") == "plain" && text("batch") == "12");
    actor.ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
    IM_CHECK(text("loss") == "flce");
    actor.ctx->ItemClick("**/back to begin");
    IM_CHECK(text("batch") == "4" && text("checkpointing") == "layer" && shows_evidence(actor.page()));
  });
}

TEST_CASE("both sides of the card's border are run, and the slider shows the results", "[gui][live]") {
  TestAssets assets;
  assets.add(*small_run(), "tiny_cpu");
  perform("try it", stage_with_engine(assets), [](Actor& actor) {
    actor.click("skip");
    for (const auto& [key, value] :
         std::map<std::string, std::string>{{"device", "cpu"}, {"steps", "1"}, {"batch", "2"}, {"cap", "256MiB"}})
      IM_CHECK(actor.page().set_param(key, value).ok());
    actor.wait_until([&] { return why_no_trial(actor.page()).empty(); });
    const std::int64_t largest = *plan_of(actor.page())->cards.front().largest_batch;
    IM_CHECK(largest > 2 && largest < 64);
    IM_CHECK(needs_of(actor.page()).has_value() && needs_of(actor.page())->of == 256 * record::kMiB);
    actor.click("try");
    IM_CHECK(actor.page().trying());
    actor.wait_until([&] { return !actor.page().trying(); });
    using Kind = app::page::SettingMark::Kind;
    const auto marked = [&](std::int64_t batch, Kind kind) {
      const auto& marks = marks_of(actor.page(), "batch");
      return std::any_of(marks.begin(), marks.end(), [&](const app::page::SettingMark& mark) {
        return mark.value == static_cast<double>(batch) && mark.kind == kind;
      });
    };
    IM_CHECK(marked(largest, Kind::kFits));
    IM_CHECK(marked(largest + 1, Kind::kOutOfMemory));
    IM_CHECK_EQ(actor.page().settings().integer("batch"), largest);
    IM_CHECK(shows_evidence(actor.page()));
    actor.wait_until([&] { return plan_of(actor.page()) != nullptr && why_no_trial(actor.page()).empty(); });
    actor.frames(3);
    actor.picture("tried");
    actor.frames(1);
    IM_CHECK(actor.page().set_param("cap", "512MiB").ok());  // a failure under another limit does not count
    IM_CHECK(!marked(largest + 1, Kind::kOutOfMemory));
  });
}
