// Samples with their words, and a count of those without room.
#include <algorithm>
#include <vector>

#include "app/paint/layout/sheet.h"

namespace headroom::app::paint {
namespace {

struct Placed {
  float x = 0;
  int line = 0;
};

// The first `count` entries and the mark for the rest, wrapped into lines.
std::vector<Placed> places_of(const Sheet& sheet, const Legend& legend, std::size_t count, float width) {
  std::vector<Placed> places;
  float x = 0;
  int line = 0;
  const auto place = [&](float entry) {
    if (x > 0 && x + entry > width) {
      x = 0;
      ++line;
    }
    places.push_back({x, line});
    x += entry + sheet.px(18);
  };
  for (std::size_t i = 0; i < count; ++i)
    place(sheet.px(legend.sample_width + 6) + sheet.width(legend.type, legend.entries[i].word));
  const std::size_t left_out = legend.entries.size() - count;
  if (left_out > 0) place(more_width(sheet, "entry", left_out));
  return places;
}

}  // namespace

float lay_out_legend(Sheet& sheet, const Legend& legend, Rect area, int most_lines) {
  if (legend.entries.empty()) return 0;
  const float line = sheet.snap(sheet.height(legend.type) + sheet.px(6));
  std::size_t count = legend.entries.size();
  std::vector<Placed> places = places_of(sheet, legend, count, area.width());
  while (count > 0 && places.back().line >= std::max(1, most_lines))
    places = places_of(sheet, legend, --count, area.width());
  const auto middle = [&](const Placed& place) { return area.y0 + line * (static_cast<float>(place.line) + 0.5f); };
  for (std::size_t i = 0; i < count; ++i) {
    const float x = area.x0 + places[i].x, half = sheet.px(legend.sample_height) * 0.5f, y = middle(places[i]);
    legend.entries[i].draw(
        {sheet.snap(x), sheet.snap(y - half), sheet.snap(x + sheet.px(legend.sample_width)), sheet.snap(y + half)});
    sheet.text_mid(legend.layer, legend.type, sheet.palette().text2, legend.entries[i].word,
                   x + sheet.px(legend.sample_width + 6), y);
  }
  std::vector<std::string> left_out;
  for (std::size_t i = count; i < legend.entries.size(); ++i) left_out.push_back(legend.entries[i].word);
  lay_out_more(sheet, legend.layer, {"entry", left_out}, area.x0 + places.back().x, middle(places.back()));
  return line * static_cast<float>(places.back().line + 1);
}

}  // namespace headroom::app::paint
