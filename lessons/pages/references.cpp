// Reads cited works.
#include "lessons/pages/references.h"

#include <vector>

#include <fmt/format.h>

#include "demos/record/csv.h"

namespace headroom::lessons {

namespace {

constexpr std::size_t kReferenceFields = 6;

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
    auto fields = record::csv_fields(line);
    if (fields.size() != kReferenceFields) {
      problems.push_back({std::string(file), number,
                          fmt::format("A source has {} fields (key, authors, title, year, venue, link), not {}.",
                                      kReferenceFields, fields.size())});
      continue;
    }
    const std::string key = fields[0];
    const bool added = references.emplace(key, Reference{fields[1], fields[2], fields[3], fields[4], fields[5]}).second;
    if (!added) problems.push_back({std::string(file), number, fmt::format("The source {} is there twice.", key)});
  }
  return references;
}

}  // namespace headroom::lessons
