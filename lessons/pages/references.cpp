// The works that pages cite.
#include "lessons/pages/references.h"

#include <vector>

#include <fmt/format.h>

namespace headroom::lessons {

namespace {

constexpr std::size_t kFields = 6;

// Fields between commas; in quotes a comma counts as text, and "" is a quote.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

std::string Reference::text() const {
  std::string words = fmt::format("{}: {}.", authors, title);
  if (!venue.empty()) words += " " + venue;
  words += fmt::format("{} {}.", venue.empty() ? "" : ",", year);
  return link.empty() ? words : words + " " + link;
}

References parse_references(std::string_view text, std::string_view file, Problems& problems) {
  References references;
  for (Lines lines(text); !lines.done();) {
    const std::string_view line = trimmed(lines.take());
    const int number = lines.number();
    if (number == 1 || line.empty()) continue;
    auto fields = fields_of(line);
    if (fields.size() != kFields) {
      problems.push_back({std::string(file), number,
                          fmt::format("A source has {} fields (key, authors, title, year, venue, link), not {}.",
                                      kFields, fields.size())});
      continue;
    }
    const std::string key = fields[0];
    const bool added = references.emplace(key, Reference{fields[1], fields[2], fields[3], fields[4], fields[5]}).second;
    if (!added) problems.push_back({std::string(file), number, fmt::format("The source {} is there twice.", key)});
  }
  return references;
}

}  // namespace headroom::lessons
