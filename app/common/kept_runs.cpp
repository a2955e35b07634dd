// Keeps recordings in a folder and deletes the oldest.
#include "app/common/kept_runs.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace headroom::app {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kEnding = ".hrec";
constexpr std::size_t kStamp = 19;  // "20261123-174502-125_"

// Returns the page in "20261123-174502-125_where_memory_goes.hrec"; empty for other files.
std::optional<std::string_view> page_in(std::string_view name) {
  if (name.size() <= kStamp + 1 + kEnding.size() || name[kStamp] != '_' || !name.ends_with(kEnding))
    return std::nullopt;
  const auto digit_or_dash = [](char c) { return c == '-' || (c >= '0' && c <= '9'); };
  if (!std::ranges::all_of(name.substr(0, kStamp), digit_or_dash)) return std::nullopt;
  return name.substr(kStamp + 1, name.size() - kStamp - 1 - kEnding.size());
}

std::string name_now(std::string_view page) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  return fmt::format("{:%Y%m%d-%H%M%S}-{:03d}_{}{}", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (now - seconds).count(), page, kEnding);
}

}  // namespace

std::vector<std::string> KeptRuns::all() const {
  std::vector<std::string> names;
  if (folder_.empty()) return names;
  std::error_code failed;
  for (auto entry = fs::directory_iterator(folder_, failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed))
    if (const std::string name = entry->path().filename().string(); page_in(name)) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> KeptRuns::of_page(std::string_view page) const {
  std::vector<std::string> names = all();
  std::erase_if(names, [&](const std::string& name) { return page_in(name) != page; });
  return names;
}

record::Result<std::string> KeptRuns::keep(const record::Recording& run, std::string_view page) const {
  if (folder_.empty()) return std::string();
  std::error_code failed;
  fs::create_directories(folder_, failed);  // on failure, write() reports the reason
  const std::string name = name_now(page);
  if (const record::Status written = run.write(path_of(name)); !written) return written.error();
  std::vector<std::string> names = all();
  std::uintmax_t bytes = 0;
  std::size_t kept = 0;
  for (auto each = names.rbegin(); each != names.rend(); ++each) {
    const std::uintmax_t size = fs::file_size(path_of(*each), failed);
    bytes += failed ? 0 : size;
    if (++kept > most_ || (bytes > most_bytes_ && kept > 1)) forget(*each);
  }
  return name;
}

void KeptRuns::forget(std::string_view name) const {
  std::error_code ignored;
  if (!folder_.empty() && page_in(name)) fs::remove(path_of(name), ignored);
}

}  // namespace headroom::app
