// A restart restores a page's answer, progress and settings.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "app/common/settings.h"
#include "app/page/page_facts.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::page::Question;

namespace {

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool on_screen(const Actor& actor, const std::string& words) {
  for (const std::string& text : actor.texts())
    if (text.find(words) != std::string::npos) return true;
  return false;
}

void read_last_step(const Actor& actor) {
  actor.frames(3);
  if (actor.there("skip")) actor.click("skip");
  actor.frames(2);
  actor.app.go_to(actor.page().page(), static_cast<int>(actor.page().page().more.size()) - 1);
  actor.frames(3);
}

}  // namespace

TEST_CASE("answers, progress and settings survive a restart", "[gui]") {
  const TemporaryFolder folder;
  const auto path = folder / "settings.json";
  std::string first, second;
  {
    Scene scene;
    app::SettingsFile file(path);
    scene.stage.settings = &file;
    perform("before the restart", scene.stage, [&](Actor& actor) {
      first = actor.page().page().id;
      actor.question().set_guess(110 * kMiB);
      actor.ctx->KeyPress(ImGuiKey_Enter);
      actor.frames(4);
      IM_CHECK(actor.question().state() == Question::State::kAnswered);
      IM_CHECK(actor.page().set_param("batch", "8").ok());
      actor.frames(2);
      for (int i = 0; i < 9 && actor.page().page().id == first; ++i) {
        actor.ctx->KeyPress(ImGuiKey_Space);
        actor.frames(3);
      }
      second = actor.page().page().id;
      IM_CHECK(second != first);
      actor.app.keep_all();
    });
  }
  CHECK(text_of_file(path).find("said 115343360") != std::string::npos);
  Scene scene;
  app::SettingsFile file(path);
  scene.stage.settings = &file;
  perform("after the restart", scene.stage, [&](Actor& actor) {
    IM_CHECK_STR_EQ(actor.page().page().id.c_str(), second.c_str());  // the last page
    actor.app.go_to(*actor.app.course().find_page(first));
    actor.frames(4);
    IM_CHECK(actor.question().state() == Question::State::kAnswered);
    IM_CHECK(actor.question().reveal().has_value() && actor.question().reveal()->said == 110 * kMiB);
    IM_CHECK_STR_EQ(actor.page().settings().as_text("batch").c_str(), "8");
    actor.frames(2);
    actor.picture("after the restart");
    actor.frames(1);
  });
}

TEST_CASE("the reader's runs and run A survive a restart until they are removed", "[gui]") {
  const TemporaryFolder folder;
  const auto files = [&] {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "runs", none))
      names.push_back(entry.path().filename().string());
    return names;
  };
  std::string kept;
  {
    Scene scene;
    app::SettingsFile file(folder / "settings.json");
    scene.stage.settings = &file;
    perform("a run before the restart", scene.stage, [&](Actor& actor) {
      actor.click("skip");
      actor.click("run");
      actor.wait_for_end_of_run();
      actor.frames(2);
      IM_CHECK_EQ(actor.page().runs().all().size(), 2u);
      kept = actor.page().runs().all().back().name;
      toggle_pin(actor.page());
      actor.page().show_run(0);
      actor.frames(2);
      actor.app.keep_all();
    });
  }
  CHECK(files() == std::vector<std::string>{kept});
  Scene scene;
  app::SettingsFile file(folder / "settings.json");
  scene.stage.settings = &file;
  perform("a run after the restart", scene.stage, [&](Actor& actor) {
    actor.frames(6);
    IM_CHECK_EQ(actor.page().runs().all().size(), 2u);
    IM_CHECK_STR_EQ(actor.page().runs().all().back().name.c_str(), kept.c_str());
    IM_CHECK(actor.page().run_a().pinned() != nullptr &&
             actor.page().run_a().pinned()->recording == actor.page().runs().all().back().recording);
    actor.page().show_run(0);
    actor.frames(2);
    actor.ctx->ItemClick("**/runs");
    actor.frames(2);
    actor.picture("list of runs");
    actor.frames(1);
    actor.ctx->ItemClick("**/$$1/forget");
    actor.frames(3);
    IM_CHECK_EQ(actor.page().runs().all().size(), 1u);
  });
  CHECK(files().empty());
}

TEST_CASE("a task shows its progress next to the figure", "[gui]") {
  Stage stage = shipped("will_it_fit");
  stage.width = 1440;
  stage.height = 900;
  perform("a task that is not reached", stage, [](Actor& actor) {
    read_last_step(actor);
    IM_CHECK(actor.page().set_param("loss", "flce").ok());
    IM_CHECK(actor.page().set_param("batch", "12").ok());
    actor.frames(3);
    IM_CHECK(on_screen(actor, "GeForce RTX 4090: "));
    IM_CHECK(!on_screen(actor, "Task, done"));
    actor.picture("task too much");
  });
}

TEST_CASE("a task is drawn in its step of the tour and stays reached after a restart", "[gui]") {
  const TemporaryFolder folder;
  for (const bool before : {true, false}) {
    Stage stage = shipped("memory_over_batch");
    app::SettingsFile file(folder / "settings.json");
    stage.settings = &file;
    perform(before ? "a task before the restart" : "a task after the restart", stage, [&](Actor& actor) {
      read_last_step(actor);
      if (before) {
        IM_CHECK(on_screen(actor, "Still to set: "));
        actor.picture("task open");
        for (const auto& [key, value] : {std::pair{"seq", "4096"}, std::pair{"batch", "4"}, std::pair{"loss", "flce"},
                                         std::pair{"precision", "bf16_mixed"}, std::pair{"checkpointing", "layer"}})
          IM_CHECK(actor.page().set_param(key, value).ok());
        actor.frames(3);
      }
      IM_CHECK(on_screen(actor, "Task, done"));
      IM_CHECK(!on_screen(actor, "Still to set: "));
      actor.picture(before ? "task done" : "task done before");
      actor.ctx->KeyPress(ImGuiKey_F5);  // on stage the task is an ordinary step
      actor.frames(3);
      IM_CHECK(on_screen(actor, "Task, done"));
      actor.picture("task on stage");
      actor.app.keep_all();
    });
  }
  CHECK(text_of_file(folder / "settings.json").find("reached; by closed form") != std::string::npos);
}

TEST_CASE("invalid entries of the settings file are reported above the text until a click closes the notice", "[gui]") {
  const TemporaryFolder folder;
  const auto path = folder / "settings.json";
  std::ofstream(path) << R"({"pages": {"where_memory_goes": {"read": 3, "answer": "order 7 7 7",
      "settings": {"batch": "many", "no_such": "1", "seq": "512"}}, "gone": {"read": true}, "odd": 5}})";
  Scene scene;
  app::SettingsFile file(path);
  scene.stage.settings = &file;
  perform("odd answers", scene.stage, [&](Actor& actor) {
    IM_CHECK(actor.question().state() == Question::State::kOpen);
    IM_CHECK_STR_EQ(actor.page().settings().as_text("seq").c_str(), "512");
    const std::string& notice = actor.app.ui().notice;
    for (const char* part : {"page where_memory_goes: read 3", "odd 5", "\"order 7 7 7\" is not an answer",
                             "page where_memory_goes: batch=many", "The default, 4, is used.", "no_such=1"}) {
      INFO(part);
      IM_CHECK(notice.find(part) != std::string::npos);
    }
    IM_CHECK(notice.find("gone") == std::string::npos);  // perhaps from another version
    actor.frames(2);
    actor.picture("settings not taken");
    IM_CHECK_LT(actor.ctx->ItemInfo("**/close notice").RectFull.Max.y, 100);  // px: at the top
    actor.click("close notice");
    actor.frames(2);
    IM_CHECK(actor.app.ui().notice.empty() && !actor.there("close notice"));
    actor.app.keep_all();
  });
  CHECK(text_of_file(path).find("gone") != std::string::npos);
}

TEST_CASE("a page that no longer exists is reported, and the first page is shown", "[gui]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "settings.json") << R"({"page": "a_page_of_before", "theme": "dark"})";
  Scene scene;
  app::SettingsFile file(folder / "settings.json");
  scene.stage.settings = &file;
  perform("a page of before", scene.stage, [&](Actor& actor) {
    IM_CHECK_STR_EQ(actor.page().page().id.c_str(), "where_memory_goes");
    IM_CHECK(actor.app.ui().notice.find("there is no page a_page_of_before") != std::string::npos);
  });
}

TEST_CASE("a given run opens its page and keeps the reader's state of that page", "[gui]") {
  const TemporaryFolder folder;
  const auto path = folder / "settings.json";
  app::SettingsFile file(path);
  app::Settings kept;
  kept.page = "when_sixteen";
  kept.pages["bench"] = {.settings = {{"batch", "64"}}};
  file.save(kept);
  const std::string before = text_of_file(path);
  Stage stage = shipped("");
  stage.settings = &file;
  stage.from = small_run();
  perform("a run that is given", stage, [](Actor& actor) {
    actor.frames(3);
    IM_CHECK_STR_EQ(actor.page().page().id.c_str(), "bench");
    IM_CHECK(actor.page().runs().is_given());
    IM_CHECK(shows_evidence(actor.page()));
    IM_CHECK_STR_EQ(actor.page().settings().as_text("batch").c_str(), "4");  // the run's
    IM_CHECK(!actor.there("skip") && !actor.there("lock"));
    IM_CHECK(plan_of(actor.page()) != nullptr);
    actor.picture("a run that is given");
    actor.app.keep_all();
  });
  CHECK(text_of_file(path) == before);
}
