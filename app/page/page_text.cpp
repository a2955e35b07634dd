// A page's words.
#include "app/page/page_text.h"

#include <cctype>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace headroom::app::page {

namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kMore = "<!--more-->";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

record::Result<std::string> read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return record::Error{"The page's text " + path.string() + " cannot be read."};
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// One fenced block into the page; false: the kind is not known.
bool take_block(PageText& page, std::string_view kind, std::string_view content) {
  content = trimmed(content);
  if (kind == "predict")
    page.ask = content;
  else if (kind == "because")
    page.because = content;
  else if (kind == "reveal" && content.starts_with("figure:"))
    page.reveal_figure = trimmed(content.substr(7));
  else
    return false;
  return true;
}

}  // namespace

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

record::Result<PageText> parse_page(std::string_view text, std::string_view name) {
  PageText page;
  std::string_view more;
  if (const std::size_t at = text.find(kMore); at != std::string_view::npos) {
    more = text.substr(at + kMore.size());
    text = text.substr(0, at);
  }
  std::string body;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!line.starts_with(kFence)) {
      body += line;
      body += '\n';
      continue;
    }
    const std::string_view kind = trimmed(line.substr(kFence.size()));
    const std::size_t end = text.find(kFence);
    if (end == std::string_view::npos)
      return record::Error{fmt::format("{}: the block ```{} does not end: close it with ```.", name, kind)};
    if (!take_block(page, kind, text.substr(0, end)))
      return record::Error{
          fmt::format("{}: the block ```{} is not one of predict, reveal (figure: ID), because.", name, kind)};
    text.remove_prefix(end);
    take_line(text);
  }
  page.body = mark_terms(trimmed(body));
  page.more = mark_terms(trimmed(more));
  return page;
}

record::Result<PageText> read_page(const std::filesystem::path& path) {
  const auto text = read_text(path);
  if (!text) return text.error();
  return parse_page(text.value(), path.filename().string());
}

Glossary parse_glossary(std::string_view text) {
  Glossary glossary;
  std::string* entry = nullptr;
  while (!text.empty()) {
    const std::string_view line = trimmed(take_line(text));
    if (line.starts_with("## "))
      entry = &glossary[std::string(trimmed(line.substr(3)))];
    else if (entry != nullptr && !line.empty())
      *entry += entry->empty() ? std::string(line) : " " + std::string(line);
  }
  return glossary;
}

Glossary read_glossary(const std::filesystem::path& path) {
  const auto text = read_text(path);
  return text ? parse_glossary(text.value()) : Glossary{};
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

}  // namespace headroom::app::page
