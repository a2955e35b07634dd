// What the window remembers between starts: $XDG_CONFIG_HOME/headroom/settings.json.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "demos/record/result.h"

namespace headroom::app {

// What a reader did on a page.
struct PageMemory {
  bool read = false;
  std::string answer;                           // as page::Question::remembered() says it
  std::map<std::string, std::string> settings;  // that are others than those that the page begins with
  std::string pin;                              // as page::PageModel::pin_name() says it
  std::string task{};                           // as page::Task::remembered() says it

  bool operator==(const PageMemory&) const = default;
};

struct Settings {
  std::string page;                           // id of the page last read; empty: the first
  std::string theme = "light";                // "light", "dark" or "high_contrast"
  double font_scale = 1;                      // 0.75 … 4
  std::map<std::string, PageMemory> pages{};  // by id; those where something was done
  int step = -1;                              // of the page's Read more, from 0; −1: what is read first

  bool operator==(const Settings&) const = default;
};

inline constexpr double kMinFontScale = 0.75;
inline constexpr double kMaxFontScale = 4;

// $XDG_CONFIG_HOME/headroom/settings.json, else ~/.config/headroom/settings.json; empty without a home.
std::filesystem::path settings_path();

// The first of what a file of settings has that is not taken, a sentence each, as one notice.
std::string refused_in(const std::filesystem::path& file, const std::vector<std::string>& sentences);

// Settings and their file. Nothing here ever stops the program: a file that cannot be read means the defaults, one that
// cannot be written means settings in memory.
class SettingsFile {
 public:
  explicit SettingsFile(std::filesystem::path path = settings_path());

  const Settings& values() const { return values_; }
  const std::filesystem::path& path() const { return path_; }
  // Where the reader's runs are kept; empty: nowhere.
  std::filesystem::path runs_folder() const { return path_.empty() ? path_ : path_.parent_path() / "runs"; }
  // What could not be used of the file, or that it could not be written; empty: all is well. To be shown once.
  const std::string& notice() const { return notice_; }

  // Takes the new values and writes those that changed into the file as it is now (another window may have written
  // since), keeping keys and pages that this version does not know; beside the target, then renamed. Never fails: see
  // notice().
  void save(const Settings& settings);

 private:
  std::filesystem::path path_;
  Settings values_;
  std::string notice_;
};

}  // namespace headroom::app
