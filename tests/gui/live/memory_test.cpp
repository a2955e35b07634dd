// Memory of window and planner while a prediction is on show.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/page/page_facts.h"
#include "demos/record/run_recordings.h"
#include "tests/gui/support/harness.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"
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

TEST_CASE("the window holds a run of 8 ranks and 10 steps of a 1B model in less than 500 MiB", "[gui][live]") {
  // This has ten times as many events as 10 steps of Llama 3.2 1B with fused kernels and ZeRO-3, which are 19,140.
  constexpr SmallRun kOneRank{.steps = 10, .layers = 16, .extra_events = 1200};
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "ranks.hrec";
  {
    const std::shared_ptr<record::Recording> first = small_run(kOneRank);
    CHECK(first->events().size() > 190'000);
    std::vector<std::shared_ptr<const record::Recording>> others;
    for (int rank = 0; rank < 8; ++rank) {
      const std::shared_ptr<record::Recording> each = rank == 0 ? first : small_run(kOneRank);
      record::RunInfo info = each->info();
      info.rank = rank;
      info.ranks = 8;
      each->set_info(info);
      if (rank > 0) others.push_back(each);
    }
    first->set_other_ranks(std::move(others));
    REQUIRE(first->write(file).ok());
  }
  auto run = record::RunRecordings::read(file);
  REQUIRE(run);
  Stage stage = shipped("zero_step");
  stage.width = 1920, stage.height = 1080;
  stage.from = std::make_shared<const record::Recording>(std::move(run).value().joined());
  Held held;
  time_frames(stage, [&](app::window::App& app, int frame) {
    if (frame == 2) app.page().question().skip();
    if (frame == 30) held = held_memory();
    return frame < 30;
  });
  std::printf("the window holds %.0f MB with 8 ranks\n", static_cast<double>(held.own) * 1e-6);
  CHECK(held.own > 50'000'000);
  CHECK(held.own < 500 * record::kMiB);
}
