// Markdown of a page.
#include "lessons/pages/words.h"

#include <cctype>
#include <regex>

#include <fmt/format.h>

#include "lessons/pages/document.h"

namespace headroom::lessons {

MarkedText mark_terms(std::string_view markdown) {
  constexpr std::string_view kTarget = "](term:";
  MarkedText marked;
  std::size_t at = 0;
  while (at < markdown.size()) {
    const std::size_t target = markdown.find(kTarget, at);
    const std::size_t open = target == std::string_view::npos ? target : markdown.rfind('[', target);
    const std::size_t close = target == std::string_view::npos ? target : markdown.find(')', target);
    if (open == std::string_view::npos || open < at || close == std::string_view::npos) break;
    marked.markdown += markdown.substr(at, open - at);
    const std::string tag = fmt::format("term-{}", marked.terms.size());
    marked.terms.emplace_back(markdown.substr(target + kTarget.size(), close - target - kTarget.size()));
    std::string_view words = markdown.substr(open + 1, target - open - 1);
    while (!words.empty()) {
      const std::size_t end = words.find_first_of(" \n");
      marked.markdown += fmt::format("<{0}>{1}</{0}>", tag, words.substr(0, end));
      words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
      if (!words.empty()) marked.markdown += ' ';
    }
    at = close + 1;
  }
  marked.markdown += markdown.substr(at);
  return marked;
}

std::string without_terms(std::string_view markdown) {
  static const std::regex term(R"(\[([^\]]*)\]\(term:[^)]*\))");
  return std::regex_replace(std::string(markdown), term, "$1");
}

Glossary parse_glossary(std::string_view text) {
  Glossary glossary;
  std::string* entry = nullptr;
  for (Lines lines(text); !lines.done();) {
    const std::string_view line = trimmed(lines.take());
    if (line.starts_with("## "))
      entry = &glossary[std::string(trimmed(line.substr(3)))];
    else if (entry != nullptr && !line.empty())
      *entry += entry->empty() ? std::string(line) : " " + std::string(line);
  }
  return glossary;
}

std::optional<record::Category> category_of_term(std::string_view key) {
  for (int i = 0; i < record::kNumCategories; ++i)
    if (record::key_of(static_cast<record::Category>(i)) == key) return static_cast<record::Category>(i);
  return std::nullopt;
}

int count_words(std::string_view markdown) {
  int words = 0;
  bool in_word = false;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    const auto skip_to = [&](std::string_view end) {
      const std::size_t found = markdown.find(end, i + 1);
      i = found == std::string_view::npos ? markdown.size() : found + end.size() - 1;
    };
    if (markdown.substr(i).starts_with("$$"))
      ++i, skip_to("$$");
    else if (markdown[i] == '$')
      skip_to("$");
    else if (markdown[i] == '<')
      skip_to(">");
    else if (markdown.substr(i).starts_with("]("))
      skip_to(")");
    else if (std::isspace(static_cast<unsigned char>(markdown[i])))
      in_word = false;
    else if (std::isalnum(static_cast<unsigned char>(markdown[i])) && !in_word)
      in_word = true, ++words;
  }
  return words;
}

}  // namespace headroom::lessons
