// Paragraphs and headings.
#pragma once

#include <string>

namespace headroom::lessons {

struct TextBlock {
  std::string markdown;  // with [terms](term:logits) and links that act, [batch 8](set:batch=8)
};

}  // namespace headroom::lessons
