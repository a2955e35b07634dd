// Works that pages cite, from assets/text/sources.csv.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lessons/pages/document.h"

namespace headroom::lessons {

struct Reference {
  std::string authors, title, year, venue, link;

  std::string text() const;
};
using References = std::map<std::string, Reference, std::less<>>;

// Parses a header, then lines of key,authors,title,year,venue,link; a field with a comma is quoted.
References parse_references(std::string_view text, std::string_view file, Problems& problems);

}  // namespace headroom::lessons
