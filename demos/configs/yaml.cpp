// Reads YAML line by line.
#include "demos/configs/yaml.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/record/file/split.h"
#include "demos/record/text.h"

namespace headroom::configs {

namespace {

constexpr int kDeepest = 8;
constexpr std::string_view kBlanks = " \t\r";

struct Line {
  std::size_t number = 0, indent = 0;
  std::string_view text;  // without indentation
};

// Thrown inside the parser only, because the place of an error is known several calls down.
struct YamlProblem : std::runtime_error {
  YamlProblem(std::size_t at, const std::string& what) : std::runtime_error(what), line(at) {}
  std::size_t line;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// The lines without blank ones and comments.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t from = 0, number = 1; from <= text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view whole = text.substr(from, end - from);
    const std::string_view words = trimmed(whole);
    from = end + 1;
    if (words.empty() || words.front() == '#') continue;
    if (words == "---" && lines.empty()) continue;
    if (words == "...") break;
    const std::size_t indent = whole.find_first_not_of(' ');
    if (whole[indent] == '\t') throw YamlProblem(number, "is indented by a tab; use blanks");
    if (words == "---") throw YamlProblem(number, "begins a second document; use one document per file");
    lines.push_back({number, indent, words});
  }
  return lines;
}

bool is_item(const Line& line) { return line.text == "-" || line.text.starts_with("- "); }

std::optional<bool> truth_of(std::string_view word) {
  for (const std::string_view yes : {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})
    if (word == yes) return true;
  for (const std::string_view no : {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})
    if (word == no) return false;
  return std::nullopt;
}

Json plain_value(std::string_view word) {
  if (word.empty() || word == "~" || word == "null" || word == "Null" || word == "NULL") return nullptr;
  if (const auto truth = truth_of(word)) return *truth;
  const char* const end = word.data() + word.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(word.data(), end, whole); read.ec == std::errc{} && read.ptr == end)
    return whole;
  double real = 0;
  if (const auto read = std::from_chars(word.data(), end, real);
      read.ec == std::errc{} && read.ptr == end && std::isfinite(real))
    return real;
  return std::string(word);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lines_(lines_of(text)) {}

  Json run() {
    if (lines_.empty()) return Json::object();
    Json all = block(lines_.front().indent, 1);
    if (next_ < lines_.size()) throw YamlProblem(here().number, "is indented like no line above it");
    return all;
  }

 private:
  const Line& here() const { return lines_[next_]; }
  bool at(std::size_t indent) const { return next_ < lines_.size() && here().indent == indent; }

  Json block(std::size_t indent, int depth) {
    if (depth > kDeepest)
      throw YamlProblem(here().number,
                        fmt::format("is nested more than {} levels deep; use a configuration", kDeepest));
    return is_item(here()) ? list(indent) : map(indent, depth);
  }

  Json map(std::size_t indent, int depth) {
    Json object = Json::object();
    while (at(indent) && !is_item(here())) {
      const Line line = here();
      const std::size_t colon = colon_of(line);
      const std::string key = key_of(line, colon);
      if (object.contains(key)) throw YamlProblem(line.number, fmt::format("has the key {} again; keep one", key));
      const std::string_view rest = trimmed(line.text.substr(colon + 1));
      ++next_;
      const bool nested = rest.empty() || rest.front() == '#';
      const bool deeper = next_ < lines_.size() && here().indent > indent;
      if (nested && deeper)
        object[key] = block(here().indent, depth + 1);
      else if (nested && at(indent) && is_item(here()))  // PyYAML does not indent lists
        object[key] = list(indent);
      else
        object[key] = value(line.number, rest);
    }
    return object;
  }

  Json list(std::size_t indent) {
    Json items = Json::array();
    while (at(indent) && is_item(here())) {
      items.push_back(value(here().number, trimmed(here().text.substr(1))));
      ++next_;
    }
    return items;
  }

  // The colon after the key: the first that ends the line or has a blank behind it.
  static std::size_t colon_of(const Line& line) {
    for (std::size_t i = 0; i < line.text.size(); ++i)
      if (line.text[i] == ':' && (i + 1 == line.text.size() || line.text[i + 1] == ' ')) return i;
    throw YamlProblem(line.number, fmt::format("has no \"key: value\" but {}", record::quoted(line.text)));
  }

  static std::string key_of(const Line& line, std::size_t colon) {
    std::string_view key = trimmed(line.text.substr(0, colon));
    if (key.size() >= 2 && (key.front() == '"' || key.front() == '\'') && key.back() == key.front())
      key = key.substr(1, key.size() - 2);
    constexpr std::string_view kOfKeys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (key.empty() || key.find_first_not_of(kOfKeys) != std::string_view::npos)
      throw YamlProblem(line.number, fmt::format("has the key {}, which is no plain word", record::quoted(key)));
    return std::string(key);
  }

  static Json value(std::size_t line, std::string_view text) {
    if (text.starts_with('"') || text.starts_with('\'')) return quoted_value(line, text);
    const std::size_t comment = text.starts_with('#') ? 0 : text.find(" #");
    text = trimmed(text.substr(0, comment));
    if (text == "{}") return Json::object();
    if (text.starts_with('[')) return flow_list(line, text);
    constexpr std::string_view kOther = "{}&*!|>%@`?,]";
    if (!text.empty() && kOther.find(text.front()) != std::string_view::npos)
      throw YamlProblem(line, fmt::format("has {}, which is more of YAML than this reader knows; write plain "
                                          "\"key: value\" lines, or JSON",
                                          record::quoted(text)));
    if (text.find(": ") != std::string_view::npos)
      throw YamlProblem(line, fmt::format("has two colons in {}; put the value in quotes", record::quoted(text)));
    return plain_value(text);
  }

  static Json quoted_value(std::size_t line, std::string_view text) {
    const char quote = text.front();
    std::string value;
    for (std::size_t i = 1; i < text.size(); ++i) {
      const bool escaped = quote == '"' ? text[i] == '\\' : text.substr(i).starts_with("''");
      if (escaped && i + 1 < text.size()) {
        value += text[++i];
      } else if (text[i] == quote) {
        const std::string_view rest = trimmed(text.substr(i + 1));
        if (rest.empty() || rest.front() == '#') return value;
        throw YamlProblem(line, fmt::format("goes on after a quote: {}", record::quoted(rest)));
      } else {
        value += text[i];
      }
    }
    throw YamlProblem(line, fmt::format("has no closing quote in {}", record::quoted(text)));
  }

  static Json flow_list(std::size_t line, std::string_view text) {
    if (!text.ends_with(']')) throw YamlProblem(line, "has a list without its closing bracket in the same line");
    const std::string_view inside = trimmed(text.substr(1, text.size() - 2));
    Json items = Json::array();
    if (inside.empty()) return items;
    for (const std::string& item : record::split(inside, ',')) items.push_back(value(line, trimmed(item)));
    return items;
  }

  std::vector<Line> lines_;
  std::size_t next_ = 0;
};

}  // namespace

record::Result<Json> parse_yaml(std::string_view text, const std::string& file) {
  try {
    Json value = Parser(text).run();
    if (value.is_object()) return value;
    return record::Error{fmt::format("{} is YAML, but a list; use a configuration with \"key: value\" lines.", file)};
  } catch (const YamlProblem& problem) {
    return record::Error{fmt::format("{}, line {} {}.", file, problem.line, problem.what())};
  }
}

}  // namespace headroom::configs
