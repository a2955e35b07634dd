// No key has two meanings in one place, and the page of keys shows each.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/window/shell/keys.h"
#include "tests/support/catch.h"

using namespace headroom::app::window;

namespace {

// Keys that two entries use in one place, as text.
std::vector<std::string> clashes(std::span<const KeyEntry> table) {
  std::map<std::pair<unsigned, ImGuiKeyChord>, int> taken;
  for (const KeyEntry& entry : table)
    for (unsigned place = 1; place <= kStageAnswered; place *= 2)
      for (const KeyEntry::Press& press : entry.presses)
        if (press.keys != 0 && (entry.where & place) != 0) ++taken[{place, press.keys}];
  std::vector<std::string> twice;
  for (const auto& [key, times] : taken)
    if (times > 1) twice.push_back(fmt::format("key {:#x} in place {}", key.second, key.first));
  return twice;
}

}  // namespace

TEST_CASE("no key has two meanings in one place", "[window][keys]") {
  CHECK(clashes(key_table()).empty());
  // Makes the key for a white stage apply at the desk, too, where W zooms.
  std::vector<KeyEntry> wrong(key_table().begin(), key_table().end());
  for (KeyEntry& entry : wrong)
    if (entry.presses[1].keys == ImGuiKey_W) entry.where = kEverywhere;
  CHECK(clashes(wrong).size() == 2);  // before and after the answer
}

TEST_CASE("the page of keys has each key once, with its action", "[window][keys]") {
  std::set<std::string> shown;
  bool first = true;
  for (const KeyEntry& entry : key_table()) {
    CHECK(entry.caps.empty() == entry.does.empty());
    CHECK(!(first && entry.caps.empty()));
    if (!entry.caps.empty()) CHECK(shown.insert(fmt::format("{}: {}", entry.caps, entry.does)).second);
    CHECK((entry.typed != 0 || entry.presses[0].keys != 0));
    first = false;
  }
  CHECK(shown.size() > 25);
}
