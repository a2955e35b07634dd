// Reads "id: memory_timeline" and "set: axis=event".
#include "lessons/pages/blocks/figure.h"

#include <algorithm>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/pages/entries.h"

namespace headroom::lessons {

namespace {

std::any parse_figure(BlockSource& source) {
  FigureBlock block{source.entries.need("id"), source.entries.take_settings("set")};
  const Figure* const figure = find_figure(block.figure);
  const auto& all = source.page.figures;
  if (figure == nullptr || std::ranges::find(all, block.figure) == all.end()) {
    source.complain(fmt::format("The figure {} is not one of the page's.", block.figure));
    return block;
  }
  record::Params params(figure->schema);
  for (const Setting& setting : block.settings)
    if (const auto set = params.set(setting.key, std::string_view(setting.value)); !set)
      source.complain(set.error().message);
  return block;
}

}  // namespace

constinit const BlockType kFigureBlock{.name = "figure", .parse = parse_figure};

}  // namespace headroom::lessons
