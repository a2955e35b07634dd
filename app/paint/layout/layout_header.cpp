// The header of an exported figure: title, source and provenance.
#include <algorithm>
#include <string>
#include <string_view>

#include "app/paint/layout/sheet.h"
#include "lessons/names.h"

namespace headroom::app::paint {
namespace {

// Formula badges are outlined, predicted ones dashed, recorded ones gray, live ones ink.
float lay_out_badge(Sheet& sheet, record::Source source, float x, float middle) {
  const Palette& palette = sheet.palette();
  const Type type{Face::kMedium, 12};
  const std::string word = lessons::capitalised(record::key_of(source));
  const float height = sheet.px(22), pad = sheet.px(9);
  const Rect pill{x, sheet.snap(middle - height * 0.5f), x + sheet.snap(sheet.width(type, word) + 2 * pad),
                  sheet.snap(middle + height * 0.5f)};
  const bool live = source == record::Source::kLive;
  if (live || source == record::Source::kRecorded) {
    sheet.fill(Layer::kHeader, pill, live ? palette.ink : palette.state.selected, height * 0.5f);
  } else {
    const float dash = source == record::Source::kPredicted ? sheet.px(3) : 0;
    sheet.outline(Layer::kHeader, pill, palette.control, sheet.line_px(1), height * 0.5f, {dash});
  }
  sheet.text_mid(Layer::kHeader, type, live ? palette.on_ink : palette.text, word, pill.center_x(), middle,
                 Anchor::kMiddle);
  return pill.x1;
}

// Returns the height used.
float lay_out_caption(Sheet& sheet, std::string_view words, Rect area) {
  constexpr Type kType{Face::kRegular, 12};
  const float line = sheet.px(17);
  float y = area.y0;
  std::string shown;
  const auto end_line = [&] {
    sheet.text(Layer::kHeader, kType, sheet.palette().text, sheet.shortened(kType, shown, area.width()), area.x0, y);
    y += line;
    shown.clear();
  };
  while (!words.empty()) {
    const std::size_t blank = std::min(words.find(' '), words.size());
    const std::string longer = joined(shown, " ", std::string(words.substr(0, blank)));
    if (!shown.empty() && sheet.width(kType, longer) > area.width()) {
      end_line();
      continue;
    }
    shown = longer;
    words.remove_prefix(std::min(blank + 1, words.size()));
  }
  if (!shown.empty()) end_line();
  return y - area.y0;
}

float lay_out_title(Sheet& sheet, const lessons::FigureHead& head, Rect area) {
  const Palette& palette = sheet.palette();
  const Type title{Face::kSemiBold, 15}, line{Face::kRegular, 12};
  const float middle = area.y0 + sheet.px(11);
  const std::string name = sheet.shortened(title, head.title, area.width());
  sheet.text_mid(Layer::kHeader, title, palette.text, name, area.x0, middle);
  float x = area.x0 + sheet.width(title, name) + sheet.px(12);
  float height = sheet.px(22) + sheet.px(12);
  const float badge_room = sheet.width({Face::kMedium, 12}, "Predicted") + sheet.px(18);
  if (x + badge_room <= area.x1) x = lay_out_badge(sheet, head.source, x, middle) + sheet.px(10);
  if (head.provenance_line.empty()) return height;
  if (x + sheet.width(line, head.provenance_line) <= area.x1) {
    sheet.text_mid(Layer::kHeader, line, palette.text2, head.provenance_line, x, middle);
    return height;
  }
  const std::string cut = sheet.shortened(line, head.provenance_line, area.width());
  sheet.text(Layer::kHeader, line, palette.text2, cut, area.x0, area.y0 + sheet.px(25));
  return height + sheet.px(18);
}

}  // namespace

float lay_out_header(Sheet& sheet, const lessons::FigureHead& head, Rect area) {
  const float height = lay_out_title(sheet, head, area);
  if (head.caption.empty()) return height;
  area.y0 += height - sheet.px(8);
  return height + lay_out_caption(sheet, head.caption, area) + sheet.px(2);
}

}  // namespace headroom::app::paint
