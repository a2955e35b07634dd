// Loads the course.
#include "app/cli/shown_course.h"

#include <ranges>

#include <fmt/ranges.h>

#include "app/cli/grammar.h"
#include "app/common/assets.h"

namespace headroom::app {

namespace {

record::Result<lessons::Course> load(const lessons::CommandCheck& check) {
  const auto assets = find_assets();
  if (!assets) return assets.error();
  return lessons::Course::load(assets.value(), check);
}

}  // namespace

record::Result<lessons::Course> load_course() { return load({}); }
record::Result<lessons::Course> load_checked_course() { return load(why_no_command); }

record::Result<const lessons::Chapter*> chapter_named(const lessons::Course& course, const std::string& number) {
  if (const lessons::Chapter* chapter = course.find_chapter(number)) return chapter;
  const auto known = course.chapters() | std::views::transform(&lessons::Chapter::number);
  return record::Error{fmt::format("There is no chapter {}; there are {}.", number, fmt::join(known, ", "))};
}

std::string why_no_command(std::string_view command) {
  std::vector<std::string> words = lessons::words_of(command);
  if (!words.empty()) words.erase(words.begin());
  const CommandLine line = parse(words);
  if (!line.invocation) return line.invocation.error().message;
  const record::Status checked = line.invocation.value()->check();
  return checked ? std::string() : checked.error().message;
}

}  // namespace headroom::app
