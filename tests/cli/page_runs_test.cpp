// The Run button of each page of the course, without a GPU.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/record/schema.h"
#include "tests/cli/support/program.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

using Settings = std::map<std::string, std::string>;

// Small, because only completion is tested.
Settings small(const std::string& demo) {
  if (demo == "train_step") return {{"steps", "2"}, {"batch", "1"}, {"seq", "64"}};
  if (demo == "bench") return {{"kernel", "rms_norm"}, {"quick", "on"}};
  if (demo == "bandwidth") return {{"size", "1MiB"}, {"adamw_weights", "65536"}};
  if (demo == "moments") return {{"steps", "2"}};
  if (demo == "launches") return {{"rows", "8"}};
  return {};
}

Settings settings_here(const lessons::Page& page) {
  Settings settings;
  for (const auto* list : {&page.settings, &page.here})
    for (const lessons::Setting& each : *list) settings[each.key] = each.value;
  const record::Params known(experiments::find_demo(page.demo)->schema);
  for (const auto& [key, value] : small(page.demo)) {
    INFO(page.demo << " " << key);
    CHECK(known.has(key));
    settings[key] = value;
  }
  return settings;
}

}  // namespace

TEST_CASE("each page's demo runs on a CPU with the page's initial settings") {
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  std::set<std::vector<std::string>> done;
  for (const lessons::Page* page : tests::course().pages()) {
    if (page->demo.empty() || !page->command.empty()) continue;
    std::vector<std::string> words{"run", page->demo, "--device", "cpu", "--json"};
    for (const auto& [key, value] : settings_here(*page)) {
      words.emplace_back("--set");
      words.push_back(key + "=" + value);
    }
    if (!done.insert(words).second) continue;
    INFO(page->id);
    const Ran ran = run_headroom(words, options);
    INFO(ran.err);
    CHECK(ran.exit_code == 0);
  }
  CHECK(done.size() > 10);
}
