// Settings that the window remembers between starts.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "demos/record/result.h"

namespace headroom::app {

struct PageMemory {
  bool read = false;
  std::string answer;                           // page::Question::remembered()
  std::map<std::string, std::string> settings;  // only those that differ from the page's
  std::string pin;                              // page::PageModel::pin_name()
  std::string task{};                           // page::Task::remembered()
  std::string second{};                         // page::SecondQuestion::remembered()

  bool operator==(const PageMemory&) const = default;
};

struct Settings {
  std::string page;             // id of the last page; empty: the first page
  std::string theme = "light";  // or "dark", "high_contrast"
  double font_scale = 1;
  std::map<std::string, PageMemory> pages{};  // by id; only pages with entries
  int step = -1;                              // step of Read more on that page, from 0; −1: before Read more
  std::string card{};                         // that the reader chose: a name or a size; empty: each page's own

  bool operator==(const Settings&) const = default;
};

inline constexpr double kMinFontScale = 0.75;
inline constexpr double kMaxFontScale = 4;

// $XDG_CONFIG_HOME/headroom/settings.json, or else under ~/.config; empty without a home folder.
std::filesystem::path settings_path();

// One notice with the first refused entries.
std::string refused_in(const std::filesystem::path& file, const std::vector<std::string>& sentences);

// File errors never stop the program: the defaults replace an unreadable file, and settings that cannot be written stay
// in memory.
class SettingsFile {
 public:
  explicit SettingsFile(std::filesystem::path path = settings_path());

  const Settings& values() const { return values_; }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path runs_folder() const { return path_.empty() ? path_ : path_.parent_path() / "runs"; }
  // A problem with the file, to be shown once.
  const std::string& notice() const { return notice_; }

  // Writes changed values atomically. Another window may have written the file since, so unknown keys and pages are
  // kept. Failures only set notice().
  void save(const Settings& settings);

 private:
  std::filesystem::path path_;
  Settings values_;
  std::string notice_;
};

}  // namespace headroom::app
