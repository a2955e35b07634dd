// Finds types of blocks and their words.
#include "lessons/pages/blocks.h"

#include <algorithm>

namespace headroom::lessons {

const BlockType* find_block_type(std::string_view name) {
  const auto* const found = std::ranges::find(kBlockTypes, name, &BlockType::name);
  return found == kBlockTypes.end() ? nullptr : *found;
}

std::string Block::words() const { return type->words == nullptr ? std::string() : type->words(content); }

std::string Block::printed() const { return type->printed == nullptr ? words() : type->printed(content); }

}  // namespace headroom::lessons
