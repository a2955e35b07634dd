// Markdown of a page: its links, what its terms mean, how long it is.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/units.h"
#include "lessons/pages/acts.h"

namespace headroom::lessons {

// Markdown in which every word of a term `[optimizer state](term:optimizer_state)` has a tag, such as
// `<term-3>optimizer</term-3>`, so that a line may break inside a term and each word still has a rectangle. The same for
// links that act: `<act-0>batch</act-0> <act-0>8</act-0>`.
struct MarkedText {
  std::string markdown;
  std::vector<std::string> terms;  // key of term-0, term-1, …
  std::vector<Act> acts;           // act-0, act-1, …
};
MarkedText mark_links(std::string_view markdown);

// The words of the links alone; with those that set something, what they set: "batch 8 (batch=8)".
std::string without_links(std::string_view markdown);

// The keys of the terms in a text, in its order; one that is there twice comes twice.
std::vector<std::string> terms_in(std::string_view markdown);
// As a reader reads it in one line: the words of links, no marks of Markdown, "…" for a formula.
std::string plain_text(std::string_view markdown);

// "## key" or "## key: Name", and a sentence or two, for the tooltip of a term.
struct Term {
  std::string name;  // "RMSNorm"; where the file has none, "Optimizer state" from its key
  std::string text;
};
using Glossary = std::map<std::string, Term, std::less<>>;
Glossary parse_glossary(std::string_view text);

// The kind of memory that a term means, if it means one: its key is the category's key.
std::optional<record::Category> category_of_term(std::string_view key);

// Words that a reader reads: tags, link targets and formulas do not count.
int count_words(std::string_view markdown);

}  // namespace headroom::lessons
