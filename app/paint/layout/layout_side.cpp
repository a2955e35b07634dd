// Live tensors, ranked, and the memory levels from requested bytes to the whole device.
#include <algorithm>

#include "app/paint/layout/sheet.h"

namespace headroom::app::paint {
namespace {

using lessons::ListRow;
using lessons::Timeline;

constexpr Type kSideHead{Face::kSemiBold, 13}, kSideName{Face::kMedium, 13}, kSideNote{Face::kRegular, 12},
    kSmall{Face::kRegular, 11};

std::string tensors_text(std::uint64_t count) {
  return record::format_count(static_cast<std::int64_t>(count)) + (count == 1 ? " tensor" : " tensors");
}

class AliveLayout {
 public:
  AliveLayout(Sheet& sheet, const Timeline& timeline, Rect area)
      : sheet_(sheet),
        palette_(sheet.palette()),
        list_(*timeline.alive),
        area_(area),
        title_(title_of(timeline)),
        unit_(lessons::unit_of(timeline.y)),
        row_height_(sheet.px(sheet.frame().compact ? 26 : 42)) {}

  void draw() {
    float y = head();
    const float more = sheet_.px(26);
    const auto fitting = static_cast<std::size_t>(std::max(0.0f, (area_.y1 - y - more) / row_height_));
    const std::size_t shown = std::min(fitting, list_.rows.size());
    for (std::size_t i = 0; i < shown; ++i, y += row_height_) row(list_.rows[i], y);
    fold(shown, y);
  }

 private:
  static const char* title_of(const Timeline& timeline) {
    if (timeline.alive->at_cursor || timeline.hidden_from) return "Alive here";
    return timeline.failed ? "Alive when memory ran out" : "Alive at the peak";
  }

  // Returns the y at which rows begin.
  float head() {
    const std::string total = in_unit(static_cast<double>(list_.total), unit_, 2) + " " + std::string(unit_.name);
    const float room = area_.width() - sheet_.width(kSideHead, total) - sheet_.px(8);
    sheet_.text_cut(Layer::kList, kSideHead, palette_.text, title_, area_.x0,
                    area_.y0 + sheet_.height(kSideHead) * 0.5f, room);
    sheet_.text(Layer::kList, kSideHead, palette_.text, total, area_.x1, area_.y0, Anchor::kEnd);
    const float y = area_.y0 + sheet_.px(20);
    sheet_.text_cut(Layer::kList, kSideNote, palette_.text2, list_.when, area_.x0, y + sheet_.height(kSideNote) * 0.5f,
                    area_.width());
    return y + sheet_.px(22);
  }

  void row(const ListRow& row, float y) {
    const float line = sheet_.line_px(1), size = sheet_.px(10), indent = sheet_.px(18);
    const bool compact = sheet_.frame().compact;
    sheet_.horizontal(Layer::kList, area_.x0, area_.x1, sheet_.snap(y), palette_.hairline, line);
    const float middle = compact ? y + row_height_ * 0.5f : y + sheet_.px(15);
    const float top = sheet_.snap(middle - size * 0.5f);
    lay_out_swatch(sheet_, Layer::kList, {area_.x0, top, area_.x0 + size, top + size}, row.category);
    const std::string value = in_unit(static_cast<double>(row.bytes), unit_, 2);
    const float room = area_.width() - indent - sheet_.width(kSideHead, value) - sheet_.px(8);
    const std::string name = sheet_.shortened(kSideName, row.name, room);
    sheet_.text_mid(Layer::kList, kSideName, palette_.text, name, area_.x0 + indent, middle);
    sheet_.text_mid(Layer::kList, kSideHead, palette_.text, value, area_.x1, middle, Anchor::kEnd);
    if (!compact) second_line(row, y);
    const bool layered = row.where.rfind("layer", 0) == 0;
    const Rect hit{area_.x0, y, area_.x1, y + row_height_};
    sheet_.scene().hits.push_back(
        {hit, row.category, row.name + ", " + row.where + (layered ? ", " + tensors_text(row.tensors) : "")});
  }

  // The location, and a bar on the list's scale.
  void second_line(const ListRow& row, float y) {
    const float indent = sheet_.px(18), bar_from = area_.x0 + sheet_.snap(area_.width() * 0.54f);
    sheet_.text(Layer::kList, kSmall, palette_.text2,
                sheet_.shortened(kSmall, row.where, bar_from - area_.x0 - indent - sheet_.px(8)), area_.x0 + indent,
                y + sheet_.px(23));
    const auto largest = static_cast<float>(std::max<record::Bytes>(list_.rows.front().bytes, 1));
    const float length = (area_.x1 - bar_from) * static_cast<float>(row.bytes) / largest;
    const KindColors& kind = palette_.of(row.category);
    const float top = sheet_.snap(y + sheet_.px(29)), thick = sheet_.px(3);
    // A bar this thin shows no hatch, so a hatched kind uses its edge color.
    sheet_.fill(Layer::kList, {bar_from, top, bar_from + std::max(length, sheet_.px(2)), top + thick},
                kind.hatched ? kind.edge : kind.fill, thick * 0.5f);
  }

  void fold(std::size_t shown, float y) {
    std::uint64_t count = list_.more_count;
    record::Bytes bytes = list_.more_bytes;
    for (std::size_t i = shown; i < list_.rows.size(); ++i) {
      bytes += list_.rows[i].bytes;
      count += list_.rows[i].tensors;
    }
    sheet_.horizontal(Layer::kList, area_.x0, area_.x1, sheet_.snap(y), palette_.hairline, sheet_.line_px(1));
    if (count == 0) return;
    const float middle = y + sheet_.px(13);
    sheet_.text_mid(
        Layer::kList, kSideNote, palette_.text2,
        record::format_count(static_cast<std::int64_t>(count)) + (count == 1 ? " more tensor" : " more tensors"),
        area_.x0, middle);
    sheet_.text_mid(Layer::kList, kSideNote, palette_.text2, in_unit(static_cast<double>(bytes), unit_, 2), area_.x1,
                    middle, Anchor::kEnd);
  }

  Sheet& sheet_;
  const Palette& palette_;
  const lessons::AliveList& list_;
  Rect area_;
  const char* title_;
  ShownUnit unit_;
  float row_height_;
};

float levels_height(const Sheet& sheet, const Timeline& timeline) {
  return sheet.px(24) + sheet.px(24) * static_cast<float>(timeline.levels.size());
}

void lay_out_levels(Sheet& sheet, const Timeline& timeline, Rect area) {
  const Palette& palette = sheet.palette();
  const record::Bytes least = timeline.levels.front().bytes;
  record::Bytes most = least + 1;
  float names = 0, values = 0;
  for (const lessons::MemoryLevel& level : timeline.levels) most = std::max(most, level.bytes);
  const ShownUnit unit = lessons::unit_of(timeline.y);
  for (const lessons::MemoryLevel& level : timeline.levels) {
    names = std::max(names, sheet.width(kSideNote, level.label));
    values = std::max(values, sheet.width(kSideName, in_unit(static_cast<double>(level.bytes), unit, 2)));
  }
  sheet.text(Layer::kLevels, kSideHead, palette.text, "From tensor to device", area.x0, area.y0);
  sheet.text(Layer::kLevels, kSideNote, palette.text2, std::string(unit.name), area.x1, area.y0 + sheet.px(1),
             Anchor::kEnd);
  const float from = area.x0 + sheet.snap(names + sheet.px(14)), to = area.x1 - sheet.snap(values + sheet.px(14));
  // A bar shows what its level adds, so it begins where the level above ends.
  const auto place = [&](record::Bytes bytes) {
    return from + (to - from) * static_cast<float>(bytes - least) / static_cast<float>(most - least);
  };
  float y = area.y0 + sheet.px(24);
  record::Bytes before = least;
  for (const lessons::MemoryLevel& level : timeline.levels) {
    const float height = sheet.px(24), middle = y + height * 0.5f;
    sheet.horizontal(Layer::kLevels, area.x0, area.x1, sheet.snap(y), palette.hairline, sheet.line_px(1));
    sheet.text_mid(Layer::kLevels, kSideNote, palette.text2, level.label, area.x0, middle);
    const float top = sheet.snap(middle - sheet.px(2)), thick = sheet.px(4);
    if (level.bytes > before)
      sheet.fill(Layer::kLevels,
                 {place(before), top, std::max(place(level.bytes), place(before) + sheet.px(1)), top + thick},
                 palette.control);
    const std::string added = level.bytes > before ? ", " + lessons::change_text(level.bytes - before, unit) : "";
    sheet.scene().hits.push_back(
        {{area.x0, y, area.x1, y + height}, std::nullopt, level.label + added + ": " + std::string(level.meaning)});
    before = level.bytes;
    sheet.text_mid(Layer::kLevels, kSideName, palette.text, in_unit(static_cast<double>(level.bytes), unit, 2), area.x1,
                   middle, Anchor::kEnd);
    y += height;
  }
}

}  // namespace

void lay_out_side(Sheet& sheet, const Timeline& timeline, Rect area) {
  const Frame& frame = sheet.frame();
  if (frame.parts.levels && !timeline.levels.empty()) {
    const float height = levels_height(sheet, timeline);
    // The list has priority: levels must leave room for three of its rows.
    if (!frame.parts.alive || area.height() - height >= sheet.px(200)) {
      lay_out_levels(sheet, timeline, {area.x0, area.y1 - height, area.x1, area.y1});
      area.y1 -= height + sheet.px(16);
    }
  }
  if (frame.parts.alive && timeline.alive) AliveLayout(sheet, timeline, area).draw();
}

}  // namespace headroom::app::paint
