// A formula on its own line: $$ … $$.
#include "lessons/pages/page_reader.h"

namespace headroom::lessons {

constinit const BlockType kFormulaBlock{
    .name = "formula",
    .parse = [](BlockSource& source) { return std::any("$$" + source.part.text + "$$"); },
    .words = [](const std::any& content) { return std::any_cast<const std::string&>(content); },
    .flows = true};

}  // namespace headroom::lessons
