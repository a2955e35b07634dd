// Reads cited works.
#include "lessons/pages/references.h"

#include <fmt/format.h>

#include "lessons/pages/numbers/csv_lines.h"

namespace headroom::lessons {

std::string Reference::text() const {
  std::string words = fmt::format("{}: {}.", authors, title);
  if (!venue.empty()) words += " " + venue;
  words += fmt::format("{} {}.", venue.empty() ? "" : ",", year);
  return link.empty() ? words : words + " " + link;
}

References parse_references(std::string_view text, std::string_view file, Problems& problems) {
  References references;
  const auto take = [&](std::vector<std::string>& fields, int number) {
    const std::string key = fields[0];
    const bool added = references.emplace(key, Reference{fields[1], fields[2], fields[3], fields[4], fields[5]}).second;
    if (!added) problems.push_back({std::string(file), number, fmt::format("The source {} is defined twice.", key)});
  };
  read_csv_lines(text, file, "A source", {"key", "authors", "title", "year", "venue", "link"}, problems, take);
  return references;
}

}  // namespace headroom::lessons
