// Reads paragraphs: all that is outside of a fenced block.
#include "lessons/pages/blocks/text.h"

#include "lessons/pages/page_reader.h"

namespace headroom::lessons {

constinit const BlockType kTextBlock{
    .name = "text",
    .parse = [](BlockSource& source) { return std::any(TextBlock{source.part.text}); },
    .words = [](const std::any& content) { return std::any_cast<const TextBlock&>(content).markdown; },
    .flows = true};

}  // namespace headroom::lessons
