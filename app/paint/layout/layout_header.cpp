// The head of an exported figure: title, where its numbers come from, what ran.

#include "app/paint/layout/sheet.h"
#include "lessons/names.h"

namespace headroom::app::paint {
namespace {

// Each source has its own shape: formula an outline, predicted a dashed one, recorded a gray pill, live an inked
// one.
float lay_out_badge(Sheet& sheet, record::Source source, float x, float middle) {
  const Palette& palette = sheet.palette();
  const Type type{Face::kMedium, 12};
  const std::string word = lessons::capitalised(record::label_of(source));
  const float height = sheet.px(22), pad = sheet.px(9);
  const Rect pill{x, sheet.snap(middle - height * 0.5f), x + sheet.snap(sheet.width(type, word) + 2 * pad),
                  sheet.snap(middle + height * 0.5f)};
  const bool live = source == record::Source::kLive;
  if (live || source == record::Source::kRecorded) {
    sheet.fill(Layer::kHeader, pill, live ? palette.ink : palette.selected, height * 0.5f);
  } else {
    const float dash = source == record::Source::kPredicted ? sheet.px(3) : 0;
    sheet.add(Layer::kHeader, Outline{.rect = pill,
                                      .color = palette.control,
                                      .width = sheet.line_px(1),
                                      .radius = height * 0.5f,
                                      .dash = dash,
                                      .gap = dash});
  }
  sheet.text_mid(Layer::kHeader, type, live ? palette.on_ink : palette.text, word, pill.center_x(), middle,
                 Anchor::kMiddle);
  return pill.x1;
}

}  // namespace

float lay_out_header(Sheet& sheet, const lessons::FigureHead& head, Rect area) {
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

}  // namespace headroom::app::paint
