// What the window remembers between starts.
#include "app/common/settings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/whole_file.h"

namespace headroom::app {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;

// The file as it is now; null where there is none or it is no JSON object.
json read_object(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return nullptr;
  std::string text(kMaxFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return object.is_object() ? object : json(nullptr);
}

PageMemory memory_from(const json& page) {
  PageMemory memory;
  if (const auto read = page.find("read"); read != page.end() && read->is_boolean()) memory.read = *read;
  if (const auto answer = page.find("answer"); answer != page.end() && answer->is_string()) memory.answer = *answer;
  if (const auto settings = page.find("settings"); settings != page.end() && settings->is_object())
    for (const auto& [key, value] : settings->items())
      if (value.is_string()) memory.settings[key] = value;
  if (const auto pin = page.find("pin"); pin != page.end() && pin->is_string()) memory.pin = *pin;
  return memory;
}

// Each key by itself: a bad value costs only that value.
Settings settings_from(const json& object) {
  Settings settings;
  if (const auto page = object.find("page"); page != object.end() && page->is_string()) settings.page = *page;
  if (const auto theme = object.find("theme");
      theme != object.end() && (*theme == "light" || *theme == "dark" || *theme == "high_contrast"))
    settings.theme = *theme;
  if (const auto scale = object.find("font_scale"); scale != object.end() && scale->is_number()) {
    const double value = scale->get<double>();
    if (std::isfinite(value)) settings.font_scale = std::clamp(value, kMinFontScale, kMaxFontScale);
  }
  if (const auto pages = object.find("pages"); pages != object.end() && pages->is_object())
    for (const auto& [id, page] : pages->items())
      if (page.is_object()) settings.pages[id] = memory_from(page);
  return settings;
}

json as_json(const PageMemory& memory) {
  json page = json::object();
  if (memory.read) page["read"] = true;
  if (!memory.answer.empty()) page["answer"] = memory.answer;
  if (!memory.settings.empty()) page["settings"] = memory.settings;
  if (!memory.pin.empty()) page["pin"] = memory.pin;
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

// The next save writes over it.
std::string keep_broken(const fs::path& path) {
  std::error_code failed;
  const fs::path copy = path.string() + ".broken";
  fs::copy_file(path, copy, fs::copy_options::overwrite_existing, failed);
  return fmt::format("{} cannot be read as settings: the defaults are used{}.", path.string(),
                     failed ? "" : fmt::format(", and a copy of it is {}", copy.filename().string()));
}

}  // namespace

SettingsFile::SettingsFile(fs::path path) : path_(std::move(path)) {
  std::error_code failed;
  if (path_.empty()) {
    notice_ = "There is no home folder: settings are kept until the window closes.";
  } else if (fs::exists(path_, failed)) {
    const json object = read_object(path_);
    if (object.is_object())
      values_ = settings_from(object);
    else
      notice_ = keep_broken(path_);
  }
}

void SettingsFile::save(const Settings& settings) {
  const Settings before = std::exchange(values_, settings);
  if (settings == before || path_.empty()) return;
  json object = read_object(path_);
  if (!object.is_object()) object = json::object();
  if (settings.page != before.page) object["page"] = settings.page;
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
  fs::create_directories(path_.parent_path(), failed);  // if it fails, so does what follows, with a reason
  if (const auto written = write_whole(path_, text); !written)
    notice_ = written.error().message + " Settings are kept until the window closes.";
}

}  // namespace headroom::app
