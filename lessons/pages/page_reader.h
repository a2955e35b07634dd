// A document becomes a page: every name that it uses is looked up, and what leads nowhere is a problem.
#pragma once

#include <functional>

#include "lessons/pages/document.h"
#include "lessons/pages/page.h"
#include "lessons/pages/references.h"
#include "lessons/pages/words.h"

namespace headroom::lessons {

// Why a command line that a page shows is none; empty: it is one.
using CommandCheck = std::function<std::string(std::string_view command)>;

struct PageContext {
  const Glossary& glossary;
  const References& references;
  const CommandCheck& check_command;  // may be empty: commands are not looked at
};

// The page as far as it can be read; worth showing only if there was no problem.
Page read_page(const Document& document, const PageContext& context, Problems& problems);

// The command lines in a Markdown text: `headroom …` in a line, and lines that begin with it in a block of code.
struct ShownCommand {
  std::string text;
  int line = 0;  // of the text, from 1
};
std::vector<ShownCommand> commands_in(std::string_view markdown);

// Parts of read_page().
QuestionSpec read_question(const Document& document, const Part& part, Problems& problems);
TourView read_view(const Document& document, const Part& part, const Page& page, Problems& problems);
TaskBlock read_task(const Document& document, const Part& part, record::Schema schema, Problems& problems);
void check_words(const Document& document, const Part& part, const Page& page, const PageContext& context,
                 Problems& problems);

// "There is no figure \"memory_timelin\": the nearest is memory_timeline."
std::string unknown(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known);

}  // namespace headroom::lessons
