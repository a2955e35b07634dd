// Reads and writes the window's settings.
#include "app/common/settings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/whole_file.h"

namespace headroom::app {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;

// Null if the file is missing or not a JSON object.
json read_object(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return nullptr;
  std::string text(kMaxFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return object.is_object() ? object : json(nullptr);
}

// Collects a sentence for each key that this version does not accept.
class Reading {
 public:
  Reading(const json& object, std::string where, std::vector<std::string>& refused)
      : object_(object), where_(std::move(where)), refused_(refused) {}
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    for (const auto& [key, value] : object_.items())
      if (std::ranges::find(known_, key) == known_.end())
        refused_.push_back(fmt::format("{}{} is not a key of this version and is ignored.", where_, key));
  }

  // `take` returns true if it accepts the value. A bad value does not affect other keys.
  template <class Take>
  void key(std::string_view key, std::string_view otherwise, Take take) {
    known_.emplace_back(key);
    const auto found = object_.find(key);
    if (found == object_.end() || take(*found)) return;
    const std::string value = found->dump(-1, ' ', false, json::error_handler_t::replace).substr(0, kMostValue);
    refused_.push_back(fmt::format("{}{} {} is not valid: {}.", where_, key, value, otherwise));
  }

 private:
  static constexpr std::size_t kMostValue = 60;

  const json& object_;
  std::string where_;
  std::vector<std::string>& refused_;
  std::vector<std::string> known_;
};

bool take_text(const json& value, std::string& to) {
  if (value.is_string()) to = value;
  return value.is_string();
}

PageMemory memory_from(const json& page, const std::string& id, std::vector<std::string>& refused) {
  PageMemory memory;
  const std::string where = "page " + id + ": ";
  Reading reading(page, where, refused);
  reading.key("read", "the page counts as not read", [&](const json& value) {
    if (value.is_boolean()) memory.read = value;
    return value.is_boolean();
  });
  reading.key("answer", "the question is open", [&](const json& value) { return take_text(value, memory.answer); });
  reading.key("settings", "the page starts with its own settings", [&](const json& value) {
    if (!value.is_object()) return false;
    Reading settings(value, where, refused);
    for (const auto& [key, text] : value.items())
      settings.key(key, "the default is used",
                   [&](const json& each) { return each.is_string() && take_text(each, memory.settings[key]); });
    return true;
  });
  reading.key("pin", "the page's own run A is used", [&](const json& value) { return take_text(value, memory.pin); });
  reading.key("task", "the task is open", [&](const json& value) { return take_text(value, memory.task); });
  reading.key("second", "it is open", [&](const json& value) { return take_text(value, memory.second); });
  return memory;
}

Settings settings_from(const json& object, std::vector<std::string>& refused) {
  Settings settings;
  Reading reading(object, "", refused);
  reading.key("page", "the first page is shown", [&](const json& value) { return take_text(value, settings.page); });
  reading.key("step", "the opening text is shown", [&](const json& value) {
    constexpr int kMost = 1000;
    const bool number = value.is_number_integer() && value >= 1 && value <= kMost;
    if (number) settings.step = value.get<int>() - 1;
    return number;
  });
  reading.key("theme", "use light, dark or high_contrast; light is shown now", [&](const json& value) {
    const bool known = value == "light" || value == "dark" || value == "high_contrast";
    return known && take_text(value, settings.theme);
  });
  reading.key("card", "each page has its own card", [&](const json& value) { return take_text(value, settings.card); });
  const std::string scales =
      fmt::format("use a number from {} to {}; the nearest is used now", kMinFontScale, kMaxFontScale);
  reading.key("font_scale", scales, [&](const json& value) {
    const double asked = value.is_number() ? value.get<double>() : NAN;
    if (std::isfinite(asked)) settings.font_scale = std::clamp(asked, kMinFontScale, kMaxFontScale);
    return settings.font_scale == asked;
  });
  reading.key("pages", "every page starts from the beginning", [&](const json& value) {
    if (!value.is_object()) return false;
    Reading pages(value, "", refused);
    for (const auto& [id, page] : value.items())
      pages.key(id, "the page starts from the beginning", [&](const json& each) {
        if (each.is_object()) settings.pages[id] = memory_from(each, id, refused);
        return each.is_object();
      });
    return true;
  });
  return settings;
}

json as_json(const PageMemory& memory) {
  json page = json::object();
  if (memory.read) page["read"] = true;
  if (!memory.answer.empty()) page["answer"] = memory.answer;
  if (!memory.settings.empty()) page["settings"] = memory.settings;
  if (!memory.pin.empty()) page["pin"] = memory.pin;
  if (!memory.task.empty()) page["task"] = memory.task;
  if (!memory.second.empty()) page["second"] = memory.second;
  return page;
}

}  // namespace

fs::path settings_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return fs::path(config) / "headroom" / "settings.json";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".config" / "headroom" / "settings.json";
  return {};
}

namespace {

// Copies the file, because the next save overwrites it.
std::string keep_broken(const fs::path& path) {
  std::error_code failed;
  const fs::path copy = path.string() + ".broken";
  fs::copy_file(path, copy, fs::copy_options::overwrite_existing, failed);
  return fmt::format("{} cannot be read as settings: the defaults are used{}.", path.string(),
                     failed ? "" : fmt::format(", and {} keeps a copy of the file", copy.filename().string()));
}

}  // namespace

SettingsFile::SettingsFile(fs::path path) : path_(std::move(path)) {
  std::error_code failed;
  if (path_.empty()) {
    notice_ = "There is no home folder: settings are kept until the window closes.";
  } else if (fs::exists(path_, failed)) {
    const json object = read_object(path_);
    std::vector<std::string> refused;
    if (object.is_object())
      values_ = settings_from(object, refused);
    else
      notice_ = keep_broken(path_);
    if (!refused.empty()) notice_ = refused_in(path_, refused);
  }
}

std::string refused_in(const fs::path& file, const std::vector<std::string>& sentences) {
  constexpr std::size_t kMost = 3;
  std::string all = file.string() + ":";
  for (const std::string& sentence : std::span(sentences).first(std::min(kMost, sentences.size())))
    all += "\n" + sentence;
  if (sentences.size() > kMost) all += fmt::format("\nAnd {} more.", sentences.size() - kMost);
  return all;
}

void SettingsFile::save(const Settings& settings) {
  const Settings before = std::exchange(values_, settings);
  if (settings == before || path_.empty()) return;
  json object = read_object(path_);
  if (!object.is_object()) object = json::object();
  if (settings.page != before.page) object["page"] = settings.page;
  if (settings.card != before.card) object["card"] = settings.card;
  if (settings.step < 0)
    object.erase("step");
  else if (settings.step != before.step)
    object["step"] = settings.step + 1;
  if (settings.theme != before.theme) object["theme"] = settings.theme;
  if (settings.font_scale != before.font_scale) object["font_scale"] = settings.font_scale;
  for (const auto& [id, memory] : settings.pages) {
    const auto known = before.pages.find(id);
    if (known != before.pages.end() && known->second == memory) continue;
    if (!object["pages"].is_object()) object["pages"] = json::object();
    object["pages"][id] = as_json(memory);
  }
  const std::string text = object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  std::error_code failed;
  fs::create_directories(path_.parent_path(), failed);  // on failure, write_whole() reports the reason
  if (const auto written = write_whole(path_, text); !written)
    notice_ = written.error().message + " Settings are kept until the window closes.";
}

}  // namespace headroom::app
