// The ladder of techniques as a waterfall: one row per rung with its peak by kind, what the rung before had beyond it, the
// difference, the speed and the loss.
#include <algorithm>
#include <utility>

#include "app/paint/layout/sheet.h"
#include "lessons/names.h"

namespace headroom::app::paint {
namespace {

using lessons::FigureHead;
using lessons::Rung;
using lessons::Rungs;

constexpr Type kName{Face::kMedium, 13}, kValue{Face::kSemiBold, 13}, kNote{Face::kRegular, 12};

// Left to right: names, bars, peaks, differences, bars of speed with their numbers, losses. A column is as wide as its
// widest entry; where there is no room, the last ones go first.
struct RungColumns {
  float bar_from = 0, bar_to = 0;
  float value_x = 0, delta_x = 0;  // right ends
  float speed_from = 0, speed_to = 0;
  float speed_x = 0, loss_x = 0;  // right ends
  bool differences = false, speeds = false, losses = false;
};

class RungLayout {
 public:
  RungLayout(Sheet& sheet, const FigureHead& head, const Rungs& panel, Rect area)
      : sheet_(sheet), palette_(sheet.palette()), head_(head), panel_(panel), area_(area) {
    place_columns();
  }

  void draw() {
    legend();
    const float head = sheet_.px(22);
    heads(area_.y0);
    area_.y0 += head;
    const float pitch =
        std::clamp(area_.height() / static_cast<float>(panel_.rungs.size()), sheet_.px(20), sheet_.px(46));
    float y = area_.y0;
    for (const Rung& rung : panel_.rungs) {
      sheet_.horizontal(Layer::kBars, area_.x0, area_.x1, sheet_.snap(y), palette_.hairline, sheet_.line_px(1));
      row(rung, {area_.x0, y, area_.x1, y + pitch});
      y += pitch;
    }
    guess({columns_.bar_from, area_.y0, columns_.bar_to, y});
  }

 private:
  void place_columns() {
    float names = 0, values = 0, deltas = sheet_.width(kNote, "difference"), speeds = 0, losses = 0;
    for (const Rung& rung : panel_.rungs) {
      names = std::max(names, sheet_.width(kName, rung.label));
      values = std::max(values, sheet_.width(kValue, rung.value));
      deltas = std::max(deltas, sheet_.width(kName, rung.delta));
      speeds = std::max(speeds, sheet_.width(kName, rung.speed_text));
      losses = std::max(losses, sheet_.width(kNote, rung.loss));
    }
    if (speeds > 0) speeds = std::max(speeds, sheet_.width(kNote, "tokens/s"));
    const float gap = sheet_.px(12), speed_bar = sheet_.px(96);
    RungColumns& c = columns_;
    names = std::min(names, area_.width() * 0.34f);
    c.bar_from = sheet_.snap(area_.x0 + names + gap);
    c.differences = area_.x1 - c.bar_from - values - deltas - 2 * gap >= sheet_.px(120);
    if (!c.differences) deltas = -gap;
    const float room = area_.x1 - c.bar_from - values - deltas - 2 * gap - sheet_.px(160);
    c.speeds = speeds > 0 && room >= speeds + speed_bar + 3 * gap;
    c.losses = losses > 0 && room >= (c.speeds ? speeds + speed_bar + 3 * gap : 0) + losses + gap;
    float right = area_.x1;
    c.loss_x = right;
    if (c.losses) right -= losses + gap;
    c.speed_x = right;
    if (c.speeds) {
      c.speed_to = right - speeds - gap;
      c.speed_from = sheet_.snap(c.speed_to - speed_bar);
      right = c.speed_from - gap * 1.5f;
    }
    c.delta_x = right;
    c.value_x = right - deltas - gap;
    c.bar_to = std::max(c.bar_from + 1, sheet_.snap(c.value_x - values - gap));
  }

  // A sample and a word for each kind that there is.
  void legend() {
    const float box = sheet_.px(12), line = sheet_.snap(sheet_.height(kNote) + sheet_.px(6));
    float x = area_.x0, y = area_.y0;
    for (int i = 0; i < record::kNumCategories; ++i) {
      const auto kind = static_cast<std::size_t>(i);
      if (std::none_of(panel_.rungs.begin(), panel_.rungs.end(), [=](const Rung& r) { return r.bytes[kind] > 0; }))
        continue;
      const auto category = static_cast<record::Category>(i);
      const std::string word = lessons::capitalised(record::label_of(category));
      const float width = box + sheet_.px(6) + sheet_.width(kNote, word);
      if (x > area_.x0 && x + width > area_.x1) {
        x = area_.x0;
        y += line;
      }
      lay_out_kind(sheet_, {x, y + line * 0.5f - box * 0.4f, x + box, y + line * 0.5f + box * 0.4f}, category);
      sheet_.text_mid(Layer::kLabels, kNote, palette_.text2, word, x + box + sheet_.px(6), y + line * 0.5f);
      x += width + sheet_.px(18);
    }
    area_.y0 = y + line + sheet_.px(8);
  }

  void heads(float y) {
    const auto head = [&](const char* word, float x, Anchor anchor) {
      sheet_.text(Layer::kBars, kNote, palette_.text3, word, x, y, anchor);
    };
    head("peak", columns_.value_x, Anchor::kEnd);
    if (columns_.differences) head("difference", columns_.delta_x, Anchor::kEnd);
    if (columns_.speeds) head("tokens/s", columns_.speed_x, Anchor::kEnd);
    if (columns_.losses) head("loss", columns_.loss_x, Anchor::kEnd);
  }

  float x_px(double bytes) const {
    return columns_.bar_from + static_cast<float>(bytes / panel_.peaks.high) * (columns_.bar_to - columns_.bar_from);
  }

  void row(const Rung& rung, const Rect& row) {
    const float middle = row.center_y(), half = std::min(sheet_.px(12), row.height() * 0.36f);
    const float name_room = columns_.bar_from - row.x0 - sheet_.px(8);
    sheet_.text_mid(Layer::kBars, kName, palette_.text, sheet_.shortened(kName, rung.label, name_room), row.x0, middle);
    sheet_.scene().hits.push_back({row, std::nullopt, rung.tip});
    if (!rung.note.empty() && rung.value.empty()) {
      const float room = area_.x1 - columns_.bar_from - sheet_.px(8);
      sheet_.text_mid(Layer::kBars, kNote, palette_.text2, sheet_.shortened(kNote, rung.note, room),
                      columns_.bar_from + sheet_.px(8), middle);
      return;
    }
    const float line = sheet_.line_px(1);
    sheet_.vertical(Layer::kBars, columns_.bar_from - line, row.y0, row.y1, palette_.control, line);
    if (columns_.speeds)
      sheet_.vertical(Layer::kBars, columns_.speed_from - line, row.y0, row.y1, palette_.control, line);
    bar(rung, sheet_.snap(middle - half), sheet_.snap(middle + half));
    sheet_.text_mid(Layer::kBars, kValue, rung.out_of_memory ? palette_.danger : palette_.text, rung.value,
                    columns_.value_x, middle, Anchor::kEnd);
    if (columns_.differences)
      sheet_.text_mid(Layer::kBars, kName, palette_.text2, rung.delta, columns_.delta_x, middle, Anchor::kEnd);
    if (columns_.losses)
      sheet_.text_mid(Layer::kBars, kNote, palette_.text2, rung.loss, columns_.loss_x, middle, Anchor::kEnd);
    if (!columns_.speeds || rung.speed <= 0) return;
    const float length =
        static_cast<float>(rung.speed / panel_.speeds.high) * (columns_.speed_to - columns_.speed_from);
    const float thin = std::min(half, sheet_.px(5));
    sheet_.fill(Layer::kBars,
                {columns_.speed_from, sheet_.snap(middle - thin),
                 columns_.speed_from + std::max(sheet_.snap(length), sheet_.line_px(2)), sheet_.snap(middle + thin)},
                palette_.ink);
    sheet_.text_mid(Layer::kBars, kName, palette_.text, rung.speed_text, columns_.speed_x, middle, Anchor::kEnd);
  }

  // A line down all rungs, with its pill on the last ones: the question asks about the peak at the ladder's end.
  void guess(const Rect& plot) {
    if (!head_.guess && !head_.guess_open) return;
    const PlotMap map{.plot = plot, .x = panel_.peaks, .y = {}};
    const float x = head_.guess ? std::clamp(sheet_.snap(map.x_px(*head_.guess)), plot.x0, plot.x1) : plot.x0;
    const auto line = [&](float from, float to) {
      if (to > from && head_.guess)
        sheet_.add(Layer::kMarks, Polyline{.points = {{x, from}, {x, to}},
                                           .color = palette_.text,
                                           .width = sheet_.line_px(2),
                                           .dash = sheet_.px(7),
                                           .gap = sheet_.px(4)});
    };
    // Not through the words of a rung that did not run.
    const float pitch = plot.height() / static_cast<float>(panel_.rungs.size());
    float from = plot.y0, y = plot.y0;
    for (const Rung& rung : panel_.rungs) {
      if (!rung.note.empty()) line(std::exchange(from, y + pitch), y);
      y += pitch;
    }
    line(from, plot.y1);
    const GuessPill pill = guess_pill(sheet_, head_, panel_.peaks, {x, plot.y1 - sheet_.px(16)}, plot);
    draw_pill(sheet_, head_, pill);
    if (!head_.guess_open) return;
    sheet_.scene().map = map;  // to drag on
    sheet_.scene().guess = pill.box;
    sheet_.scene().guess_along_x = true;
  }

  // The peak by kind; behind it, dashed, what the rung before had more; where memory ran out, the rest of the row.
  void bar(const Rung& rung, float top, float bottom) {
    const float line = sheet_.line_px(1), half = line * 0.5f;
    record::Bytes sum = 0;
    for (int i = 0; i < record::kNumCategories; ++i) {
      const float from = sheet_.snap(x_px(static_cast<double>(sum)));
      sum += rung.bytes[static_cast<std::size_t>(i)];
      const float to = sheet_.snap(x_px(static_cast<double>(sum)));
      if (to - from < line) continue;
      lay_out_kind(sheet_, {from, top, to, bottom}, static_cast<record::Category>(i));
      if (to - from > 3 * line) sheet_.vertical(Layer::kBars, to - line, top, bottom, palette_.card, line);
    }
    const float end = sheet_.snap(x_px(static_cast<double>(sum)));
    const float before = sheet_.snap(x_px(static_cast<double>(rung.before)));
    const float words = std::max(end, before) + sheet_.px(8), room = columns_.bar_to - words;
    if (!rung.note.empty() && room > sheet_.px(80))
      sheet_.text_mid(Layer::kBars, kNote, palette_.text2, sheet_.shortened(kNote, rung.note, room), words,
                      (top + bottom) * 0.5f);
    if (rung.out_of_memory) {
      const Rect rest{end, top, columns_.bar_to, bottom};
      sheet_.fill(Layer::kBars, rest, faded(palette_.danger, palette_.danger_ground));
      sheet_.hatch(Layer::kBars, {rest}, faded(palette_.danger, palette_.danger_hatch), kDangerHatch);
    } else if (rung.before > record::total(rung.bytes) && before - end > 3 * line) {
      sheet_.add(Layer::kBars, Outline{.rect = {end + half, top + half, before - half, bottom - half},
                                       .color = palette_.text3,
                                       .width = line,
                                       .dash = sheet_.px(3),
                                       .gap = sheet_.px(3)});
    } else if (rung.before > 0 && end - before > 3 * line) {  // it costs more: where it was
      sheet_.vertical(Layer::kMarks, before, top - sheet_.px(3), bottom + sheet_.px(3), palette_.text,
                      sheet_.line_px(2));
    }
  }

  Sheet& sheet_;
  const Palette& palette_;
  const FigureHead& head_;
  const Rungs& panel_;
  Rect area_;
  RungColumns columns_;
};

}  // namespace

void lay_out_rungs(Sheet& sheet, const FigureHead& head, const Rungs& panel, Rect area) {
  RungLayout(sheet, head, panel, area).draw();
}

}  // namespace headroom::app::paint
