// A page's words: Markdown with terms, the question, why the answer is so, and more for those who want it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"
#include "demos/record/units.h"

namespace headroom::app::page {

// Markdown in which every word of a term `[optimizer state](term:optimizer_state)` stands in a tag of its own,
// `<term-3>optimizer</term-3>`, so that a line may break inside a term and each word still has a rectangle.
struct MarkedText {
  std::string markdown;
  std::vector<std::string> terms;  // key of term-0, term-1, …
};
MarkedText mark_terms(std::string_view markdown);

struct PageText {
  MarkedText body;            // up to the first block
  std::string ask;            // ```predict
  std::string reveal_figure;  // ```reveal, `figure: memory_timeline`
  std::string because;        // ```because
  MarkedText more;            // after <!--more-->; may be empty
};
record::Result<PageText> parse_page(std::string_view text, std::string_view name);
record::Result<PageText> read_page(const std::filesystem::path& path);

// "## key" and a sentence or two, for the tooltip of a term.
using Glossary = std::map<std::string, std::string, std::less<>>;
Glossary parse_glossary(std::string_view text);
Glossary read_glossary(const std::filesystem::path& path);  // empty where there is no file

// The kind of memory that a term means, if it means one: its key is the category's key.
std::optional<record::Category> category_of_term(std::string_view key);

// Words that a reader reads: tags, link targets and formulas do not count.
int count_words(std::string_view markdown);

}  // namespace headroom::app::page
