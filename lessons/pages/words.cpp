// Finds links and words in Markdown.
#include "lessons/pages/words.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "lessons/names.h"
#include "lessons/pages/document.h"

namespace headroom::lessons {

namespace {

constexpr std::string_view kTerm = "term:";

// `[words](target)` in a text.
struct Link {
  std::size_t begin = 0, end = 0;
  std::string_view words, target;
};

// The first link from `at` on that leads to a term or acts.
std::optional<Link> next_link(std::string_view markdown, std::size_t at) {
  for (std::size_t middle = markdown.find("](", at); middle != std::string_view::npos;
       middle = markdown.find("](", middle + 1)) {
    const std::size_t open = markdown.rfind('[', middle), close = markdown.find(')', middle);
    if (open == std::string_view::npos || open < at || close == std::string_view::npos) continue;
    const std::string_view target = markdown.substr(middle + 2, close - middle - 2);
    if (target.starts_with(kTerm) || is_act(target))
      return Link{open, close + 1, markdown.substr(open + 1, middle - open - 1), target};
  }
  return std::nullopt;
}

template <class Of>
std::string with_links(std::string_view markdown, const Of& of) {
  std::string text;
  std::size_t at = 0;
  while (const auto link = next_link(markdown, at)) {
    text += markdown.substr(at, link->begin - at);
    text += of(*link);
    at = link->end;
  }
  text += markdown.substr(at);
  return text;
}

std::string tag_words(std::string_view words, const std::string& tag) {
  std::string tagged;
  for (const std::string& word : words_of(words))
    tagged += fmt::format("{0}<{1}>{2}</{1}>", tagged.empty() ? "" : " ", tag, word);
  return tagged;
}

// "| a | b |" becomes "a, b;", and a line of dashes disappears. Returns where the bar ends.
std::size_t end_of_bar(std::string_view words, std::size_t at, std::string& text) {
  const std::size_t end = std::min(words.find('\n', at), words.size());
  if (at == 0 || words[at - 1] == '\n')
    return words.substr(at, end - at).find_first_not_of("|-: ") == std::string_view::npos ? end - 1 : at;
  if (text.ends_with(' ')) text.pop_back();
  text += at + 1 == end ? ';' : ',';
  return at;
}

}  // namespace

MarkedText mark_links(std::string_view markdown) {
  MarkedText marked;
  marked.markdown = with_links(markdown, [&](const Link& link) {
    if (link.target.starts_with(kTerm)) {
      marked.terms.emplace_back(link.target.substr(kTerm.size()));
      return tag_words(link.words, fmt::format("term-{}", marked.terms.size() - 1));
    }
    const auto act = parse_act(link.target);
    if (!act) return std::string(link.words);
    marked.acts.push_back(act.value());
    return tag_words(link.words, fmt::format("act-{}", marked.acts.size() - 1));
  });
  return marked;
}

std::string without_links(std::string_view markdown) {
  return with_links(markdown, [](const Link& link) {
    const auto act = is_act(link.target) ? parse_act(link.target) : Act{};
    const std::string assignment = act ? assignment_of(act.value()) : std::string();
    return assignment.empty() ? std::string(link.words) : fmt::format("{} ({})", link.words, assignment);
  });
}

std::vector<std::string> terms_in(std::string_view markdown) {
  std::vector<std::string> keys;
  for (auto link = next_link(markdown, 0); link; link = next_link(markdown, link->end))
    if (link->target.starts_with(kTerm)) keys.emplace_back(link->target.substr(kTerm.size()));
  return keys;
}

std::string plain_text(std::string_view markdown) {
  const std::string words = with_links(markdown, [](const Link& link) { return std::string(link.words); });
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool pair = words[i] == '$' && i + 1 < words.size() && words[i + 1] == '$';
    if (words[i] == '$') {
      const std::size_t end = words.find('$', i + (pair ? 2 : 1));
      if (end == std::string::npos) break;
      text += "…";
      i = end + (pair ? 1 : 0);
    } else if (words[i] == '\n') {
      if (!text.empty() && text.back() != ' ') text += ' ';
    } else if (words[i] == '|') {
      i = end_of_bar(words, i, text);
    } else if (words[i] != '*' && words[i] != '`' && (words[i] != ' ' || !text.ends_with(' '))) {
      text += words[i];
    }
  }
  if (text.ends_with(';')) text.pop_back();
  return std::string(trimmed(std::string_view(text).substr(std::min(text.find_first_not_of("# "), text.size()))));
}

Glossary parse_glossary(std::string_view text) {
  Glossary glossary;
  Term* entry = nullptr;
  for (Lines lines(text); !lines.done();) {
    const std::string_view line = trimmed(lines.take());
    if (line.starts_with("## ")) {
      const std::size_t colon = std::min(line.find(':'), line.size());
      const std::string key(trimmed(line.substr(3, colon - 3)));
      entry = &glossary[key];
      entry->name = trimmed(line.substr(std::min(colon + 1, line.size())));
      if (!entry->name.empty()) continue;
      entry->name = capitalised(key);
      std::ranges::replace(entry->name, '_', ' ');
    } else if (entry != nullptr && !line.empty()) {
      entry->text += entry->text.empty() ? std::string(line) : " " + std::string(line);
    }
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
