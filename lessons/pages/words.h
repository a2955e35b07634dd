// Markdown of a page: its terms, what they mean, how long it is.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/units.h"

namespace headroom::lessons {

// Markdown in which every word of a term `[optimizer state](term:optimizer_state)` has a tag, such as
// `<term-3>optimizer</term-3>`, so that a line may break inside a term and each word still has a rectangle.
struct MarkedText {
  std::string markdown;
  std::vector<std::string> terms;  // key of term-0, term-1, …
};
MarkedText mark_terms(std::string_view markdown);

// The words of the terms without their links.
std::string without_terms(std::string_view markdown);

// "## key" and a sentence or two, for the tooltip of a term.
using Glossary = std::map<std::string, std::string, std::less<>>;
Glossary parse_glossary(std::string_view text);

// The kind of memory that a term means, if it means one: its key is the category's key.
std::optional<record::Category> category_of_term(std::string_view key);

// Words that a reader reads: tags, link targets and formulas do not count.
int count_words(std::string_view markdown);

}  // namespace headroom::lessons
