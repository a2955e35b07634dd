// Turns a document into a page. Every unknown name is a problem.
#pragma once

#include <functional>

#include "lessons/pages/document.h"
#include "lessons/pages/page.h"
#include "lessons/pages/references.h"
#include "lessons/pages/words.h"

namespace headroom::lessons {

class Entries;

// Returns why a command line does not work; empty if it works.
using CommandCheck = std::function<std::string(std::string_view command)>;

struct PageContext {
  const Glossary& glossary;
  const References& references;
  const CommandCheck& check_command;  // empty: commands are not checked
};

// The page as far as it can be read; valid only without problems.
Page read_page(const Document& document, const PageContext& context, Problems& problems);

// Command lines in Markdown: `headroom …` inline, or at the start of a code block's line.
struct ShownCommand {
  std::string text;
  int line = 0;  // line of the text, from 1
};
std::vector<ShownCommand> commands_in(std::string_view markdown);

struct BlockSource {
  const Document& document;
  const Part& part;
  Entries& entries;
  const Page& page;  // as far as it is read
  const PageContext& context;
  Problems& problems;
  bool after_answer = false;  // in Read more

  // Reports a problem at the block's text.
  void complain(std::string what) { problems.push_back({document.file, part.line, std::move(what)}); }
};

QuestionSpec read_question(const Document& document, const Part& part, Problems& problems);
std::optional<SecondQuestion> read_second_question(BlockSource& source);
TourView read_view(const Document& document, const Part& part, const Page& page, Problems& problems);
void check_words(const Document& document, const Part& part, const Page& page, const PageContext& context,
                 Problems& problems);

std::string unknown(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known);
// The names of all elements: names_of(kWidgets, &WidgetInfo::id).
template <class Range, class Name>
std::vector<std::string_view> names_of(const Range& range, Name name) {
  std::vector<std::string_view> names;
  for (const auto& each : range) names.push_back(std::invoke(name, each));
  return names;
}
std::string unknown_card(std::string_view name);

}  // namespace headroom::lessons
