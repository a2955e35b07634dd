// Markdown of a page: links, terms and length.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/units.h"
#include "lessons/pages/acts.h"

namespace headroom::lessons {

// Markdown with a tag around every word of a term `[optimizer state](term:optimizer_state)`:
// `<term-3>optimizer</term-3>`. A line may break inside a term, and each word has a rectangle. Links that act have tags
// `<act-0>`.
struct MarkedText {
  std::string markdown;
  std::vector<std::string> terms;  // key of term-0, term-1, …
  std::vector<Act> acts;           // act-0, act-1, …
};
MarkedText mark_links(std::string_view markdown);

// Replaces links by their words and settings: "batch 8 (batch=8)".
std::string without_links(std::string_view markdown);

// Keys of the terms in a text, in order, with repetitions.
std::vector<std::string> terms_in(std::string_view markdown);
// One line without Markdown: the words of links, "…" for a formula, "a, b; c, d" for a table.
std::string plain_text(std::string_view markdown);

// A line "## key" or "## key: Name", then a sentence or two for the tooltip.
struct Term {
  std::string name;  // "RMSNorm", or "Optimizer state" from the key
  std::string text;
};
using Glossary = std::map<std::string, Term, std::less<>>;
Glossary parse_glossary(std::string_view text);

std::optional<record::Category> category_of_term(std::string_view key);

// Number of words, without tags, link targets and formulas.
int count_words(std::string_view markdown);

}  // namespace headroom::lessons
