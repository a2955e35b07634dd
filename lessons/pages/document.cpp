// Parses a page's text.
#include "lessons/pages/document.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace headroom::lessons {

namespace {

constexpr std::string_view kFence = "```", kMore = "<!--more-->", kFront = "---", kFormula = "$$";

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

bool is_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

// False if the line is not "key: value".
bool take_entry(std::vector<Entry>& entries, std::string_view line, int number) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_key(trimmed(line.substr(0, colon)))) return false;
  entries.push_back(
      {std::string(trimmed(line.substr(0, colon))), std::string(trimmed(line.substr(colon + 1))), number});
  return true;
}

void take_front(Document& document, Lines& lines, Problems& problems) {
  while (!lines.done()) {
    const std::string_view line = lines.take();
    if (line == kFront) return;
    if (trimmed(line).empty() || take_entry(document.front, line, lines.number())) continue;
    problems.push_back({document.file, lines.number(), "The front matter takes lines \"key: value\" only."});
  }
  problems.push_back({document.file, 1, "The front matter does not end: close it with a line \"---\"."});
}

void take_block(Document& document, std::string_view kind, Lines& lines, Problems& problems) {
  const int opened = lines.number();
  Part part{.kind = std::string(kind), .line = opened + 1, .opened = opened};
  bool heads = true;
  std::string text;
  for (bool closed = false; !closed;) {
    if (lines.done()) {
      problems.push_back(
          {document.file, opened, fmt::format("The block ```{} does not end: close it with ```.", kind)});
      return;
    }
    const std::string_view line = lines.take();
    closed = line.starts_with(kFence);
    if (closed || (heads && take_entry(part.entries, line, lines.number()))) continue;
    heads = false;
    if (text.empty()) part.line = lines.number();
    text += line;
    text += '\n';
    if (trimmed(text).empty()) text.clear();
  }
  while (!text.empty() && is_space(text.back())) text.pop_back();
  part.text = std::move(text);
  document.parts.push_back(std::move(part));
}

// Prose up to the next block or formula.
class Prose {
 public:
  explicit Prose(Document& document) : document_(document) {}

  void add(std::string_view line, int number) {
    if (text_.empty()) line_ = number;
    text_ += line;
    text_ += '\n';
    if (trimmed(text_).empty()) text_.clear();
  }
  void end() {
    while (!text_.empty() && is_space(text_.back())) text_.pop_back();
    if (!text_.empty()) document_.parts.push_back({"text", {}, std::move(text_), line_, line_});
    text_.clear();
  }

 private:
  Document& document_;
  std::string text_;
  int line_ = 0;
};

bool is_formula(std::string_view line) {
  line = trimmed(line);
  return line.size() > 2 * kFormula.size() && line.starts_with(kFormula) && line.ends_with(kFormula);
}

}  // namespace

std::string Problem::text() const { return fmt::format("{}:{}: {}", file, line, what); }

std::string_view Lines::take() {
  const std::size_t end = rest_.find('\n');
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  ++number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::string_view rest = trimmed(text); !rest.empty(); rest = trimmed(rest)) {
    const std::size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return words;
}

Document parse_document(std::string_view text, std::string_view file, Problems& problems) {
  Document document{.file = std::string(file), .front = {}, .parts = {}};
  Lines lines(text);
  Prose prose(document);
  while (!lines.done()) {
    const std::string_view line = lines.take();
    if (line == kFront && lines.number() == 1) {
      take_front(document, lines, problems);
    } else if (line.starts_with(kFence)) {
      prose.end();
      take_block(document, trimmed(line.substr(kFence.size())), lines, problems);
    } else if (trimmed(line) == kMore) {
      prose.end();
      document.parts.push_back({"more", {}, {}, lines.number(), lines.number()});
    } else if (is_formula(line)) {
      prose.end();
      const std::string_view tex = trimmed(line);
      document.parts.push_back(
          {"formula", {}, std::string(tex.substr(2, tex.size() - 4)), lines.number(), lines.number()});
    } else {
      prose.add(line, lines.number());
    }
  }
  prose.end();
  return document;
}

}  // namespace headroom::lessons
