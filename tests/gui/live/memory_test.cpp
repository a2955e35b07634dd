// Memory of window and planner while a prediction is on show.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "app/page/page_facts.h"
#include "tests/gui/support/harness.h"
#include "tests/support/catch.h"
#include "tests/support/wait.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

// Bytes of this process and its children; shared pages count by share. Pages from files are counted separately: systems
// drop them under pressure and map different numbers of neighboring pages (the same program took 366 MB in total on one
// system, 430 MB on another).
struct Held {
  record::Bytes own = 0;
  record::Bytes from_files = 0;
  int started = 0;
};

void add_process(Held& held, const std::filesystem::path& process) {
  std::ifstream file(process / "smaps_rollup");
  std::string name;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    record::Bytes kib = 0;
    if (!(words >> name >> kib)) continue;
    if (name == "Pss_Anon:" || name == "Pss_Shmem:") held.own += kib * record::kKiB;
    if (name == "Pss_File:") held.from_files += kib * record::kKiB;
  }
}

Held held_memory() {
  namespace fs = std::filesystem;
  Held held;
  add_process(held, "/proc/self");
  for (const fs::directory_entry& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    for (std::string pid; children >> pid; ++held.started) add_process(held, "/proc/" + pid);
  }
  return held;
}

}  // namespace

TEST_CASE("window and planner use less than 220 MB while a prediction is shown, and no runner is idle", "[gui][live]") {
  Stage stage = shipped("checkpointing");
  stage.width = 1920, stage.height = 1080;
  stage.engine = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  const auto begin = std::chrono::steady_clock::now();
  Held held;
  time_frames(stage, [&](app::window::App& app, int frame) {
    app::page::PageModel& page = app.page();
    if (frame == 2) page.question().skip();
    if (frame == 4) REQUIRE(page.set_param("batch", "3").ok());
    const bool shown = frame > 4 && page.shows_prediction() && page.forecast().predicted(page.settings()) != nullptr &&
                       plan_of(page) != nullptr;
    held = held_memory();
    return !shown && std::chrono::steady_clock::now() - begin < kLongestWait;
  });
  std::printf("window and planner hold %.0f MB, and %.0f MB of files\n", static_cast<double>(held.own) * 1e-6,
              static_cast<double>(held.from_files) * 1e-6);
  CHECK(held.started == 1);
  CHECK(held.own > 50'000'000);
  CHECK(held.own < 220'000'000);
}
