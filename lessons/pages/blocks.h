// Blocks of a page's words, such as figures and tables. A type of block is one record in lessons/pages/blocks and one
// drawing function in app/window/views/block_views.cpp.
#pragma once

#include <any>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::lessons {

struct BlockSource;

struct Setting {
  std::string key, value;

  bool operator==(const Setting&) const = default;
};

struct BlockType {
  std::string_view name;  // the word after ```
  // Reads the content, this type's struct, and complains about errors. Empty if there is nothing to show.
  std::any (*parse)(BlockSource& source) = nullptr;
  // Markdown for lints and search; null: none.
  std::string (*words)(const std::any& content) = nullptr;
  // Markdown for the page as text; null: as `words`.
  std::string (*printed)(const std::any& content) = nullptr;
  bool flows = false;  // its words continue the text before it
};

extern const BlockType kTextBlock, kFormulaBlock, kFigureBlock, kWidgetBlock, kTableBlock, kTaskBlock;

inline constexpr std::array kBlockTypes{&kTextBlock,   &kFormulaBlock, &kFigureBlock,
                                        &kWidgetBlock, &kTableBlock,   &kTaskBlock};

const BlockType* find_block_type(std::string_view name);

struct Block {
  const BlockType* type = nullptr;
  std::any content;
  std::vector<Setting> scope = {};  // settings that the block is about; empty: any

  template <class Content>
  const Content* as() const {
    return std::any_cast<Content>(&content);
  }
  std::string words() const;
  std::string printed() const;
};

}  // namespace headroom::lessons
