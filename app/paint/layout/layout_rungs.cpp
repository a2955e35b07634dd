// The ladder of techniques as a waterfall: one row per rung with its peak by kind, the saving, the speed and the loss.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/paint/layout/sheet.h"
#include "lessons/names.h"

namespace headroom::app::paint {
namespace {

using lessons::FigureHead;
using lessons::Rung;
using lessons::Rungs;

constexpr float kSwitchRoom = 112;  // px next to a name for grip, buttons and edges

constexpr float kLeastRung = 16;
constexpr float kPale = 0.6f;  // opacity of the cover over a pending rung's bar

constexpr Type kRungName{Face::kMedium, 13}, kRungValue{Face::kSemiBold, 13}, kRungNote{Face::kRegular, 12};

// Widths are fixed from the start, so that nothing moves while rungs arrive. If room is short, columns are dropped from
// the right, except tokens/s.
struct RungColumns {
  float bar_from = 0, bar_to = 0;
  float value_x = 0, delta_x = 0, speed_x = 0, speed_delta_x = 0, loss_x = 0, source_x = 0;  // right ends
  bool differences = false, speeds = false, speed_differences = false, losses = false, sources = false;
};

class RungLayout {
 public:
  RungLayout(Sheet& sheet, const FigureHead& head, const Rungs& panel, const Rungs& whole, Rect area)
      : sheet_(sheet), palette_(sheet.palette()), head_(head), panel_(panel), whole_(whole), area_(area) {
    place_columns();
  }

  void draw() {
    legend();
    const float head = sheet_.px(22);
    heads(area_.y0);
    area_.y0 += head;
    const float foot = whole_.foot.empty() ? 0 : sheet_.px(22);
    // The window has a switch per rung, so it shows all rungs.
    const float least = sheet_.frame().parts.rungs ? sheet_.px(kLeastRung) : 1;
    const auto count = static_cast<float>(panel_.rungs.size());
    const bool with_foot = foot > 0 && area_.height() >= kLeastRung * sheet_.frame().scale * count + foot;
    const float pitch = std::clamp((area_.height() - (with_foot ? foot : 0)) / count, least, sheet_.px(46));
    const auto most = static_cast<std::size_t>(std::max(1.0f, (area_.height() + 1) / least));
    const auto keep = static_cast<std::size_t>(&asked() - panel_.rungs.data());
    const std::vector<Line> lines = lines_of(panel_.rungs.size(), most, keep);
    float y = area_.y0;
    if (!sheet_.frame().parts.rungs)
      sheet_.scene().rungs =
          Rect{area_.x0, y, columns_.bar_from - sheet_.px(8), y + pitch * static_cast<float>(lines.size())};
    for (const Line& line : lines) {
      const Rect at{area_.x0, y, area_.x1, y + pitch};
      sheet_.horizontal(Layer::kBars, area_.x0, area_.x1, sheet_.snap(y), palette_.hairline, sheet_.line_px(1));
      if (line)
        row(panel_.rungs[*line], at);
      else
        lay_out_more(sheet_, Layer::kBars, {"row", left_out(lines)}, at.x0, at.center_y());
      if (line == keep) guess(at);
      y += pitch;
    }
    if (panel_.card) card_line(area_.y0 - head, y);
    if (with_foot)
      sheet_.text(Layer::kBars, kRungNote, palette_.text2, sheet_.shortened(kRungNote, panel_.foot, area_.width()),
                  area_.x0, y + sheet_.px(4));
  }

 private:
  std::vector<std::string> left_out(const std::vector<Line>& lines) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < panel_.rungs.size(); ++i) {
      if (std::ranges::find(lines, Line(i)) != lines.end()) continue;
      const Rung& rung = panel_.rungs[i];
      std::string words = joined(rung.label, ": ", rung.value);
      for (const std::string* entry : {&rung.delta, &rung.speed.text, &rung.speed.delta, &rung.loss})
        words = joined(std::move(words), ", ", *entry);
      names.push_back(std::move(words));
    }
    return names;
  }

  void place_columns() {
    float names = 0;
    for (const Rung& rung : whole_.rungs) names = std::max(names, sheet_.width(kRungName, rung.label));
    if (!sheet_.frame().parts.rungs) names += sheet_.px(kSwitchRoom);
    const float gap = sheet_.px(12), least = sheet_.px(100);
    RungColumns& c = columns_;
    names = std::min(names, area_.width() * (sheet_.frame().parts.rungs ? 0.34f : 0.42f));
    c.bar_from = sheet_.snap(area_.x0 + names + gap);
    float room = area_.x1 - c.bar_from - least;
    const auto take = [&](bool wanted, std::string_view head, float width) {
      const bool fits = wanted && room >= width + gap;
      if (fits) room -= width + gap;
      if (wanted && !fits) left_out_.emplace_back(head);
      return fits;
    };
    const auto widest = [&](Type type, std::string_view head, std::string_view usual, auto entry) {
      float width = std::max(sheet_.width(kRungNote, head), sheet_.width(type, usual));
      for (const Rung& rung : whole_.rungs) width = std::max(width, sheet_.width(type, std::invoke(entry, rung)));
      return width;
    };
    const bool measured = std::ranges::any_of(whole_.rungs, [](const Rung& rung) { return rung.speed.value > 0; });
    const bool with_loss = std::ranges::any_of(whole_.rungs, [](const Rung& rung) { return !rung.loss.empty(); });
    const float values = widest(kRungValue, "peak", "000.00 GiB", &Rung::value);
    const float deltas = widest(kRungName, "difference", "−00.00 GiB", &Rung::delta);
    const float speeds =
        widest(kRungName, "tokens/s", "000,000", [](const Rung& rung) -> std::string_view { return rung.speed.text; });
    const float speed_deltas =
        widest(kRungName, "change", "−00,000", [](const Rung& rung) -> std::string_view { return rung.speed.delta; });
    const float losses = widest(kRungNote, "loss", "00.000", &Rung::loss);
    const float sources = widest(kRungNote, "from", "here, 00:00", &Rung::source);
    room -= values + gap;
    c.speeds = measured;
    if (c.speeds) room -= speeds + gap;
    c.differences = take(true, "difference", deltas);
    c.sources = take(mixed(), "from", sources);
    c.speed_differences = take(measured, "change", speed_deltas);
    c.losses = take(with_loss, "loss", losses);
    float right = area_.x1;
    const auto place = [&](bool shown, float width, float& x) {
      x = right;
      if (shown) right -= width + gap;
    };
    place(c.sources, sources, c.source_x);
    place(c.losses, losses, c.loss_x);
    place(c.speed_differences, speed_deltas, c.speed_delta_x);
    place(c.speeds, speeds, c.speed_x);
    place(c.differences, deltas, c.delta_x);
    place(true, values, c.value_x);
    c.bar_to = std::max(c.bar_from + 1, sheet_.snap(right));
  }

  // The head names the source of rungs that have the same.
  bool mixed() const {
    std::string_view first;
    for (const Rung& rung : panel_.rungs) {
      if (rung.source.empty()) continue;
      if (!first.empty() && first != rung.source) return true;
      first = rung.source;
    }
    return false;
  }

  // The label stands among the columns' heads.
  void card_line(float top, float bottom) {
    const float x = sheet_.snap(x_px(static_cast<double>(panel_.card->bytes)));
    const float half = sheet_.width(kRungNote, panel_.card->label) * 0.5f;
    sheet_.vertical(Layer::kMarks, x, top + sheet_.height(kRungNote), bottom, palette_.danger, sheet_.line_px(1.5f));
    sheet_.text(Layer::kLabels, kRungNote, palette_.danger, panel_.card->label,
                std::clamp(x, columns_.bar_from + half, columns_.bar_to - half), top, Anchor::kMiddle);
  }

  void legend() {
    const float box = sheet_.px(12), line = sheet_.snap(sheet_.height(kRungNote) + sheet_.px(6));
    float x = area_.x0, y = area_.y0;
    for (int i = 0; i < record::kNumCategories; ++i) {
      const auto kind = static_cast<std::size_t>(i);
      if (std::none_of(whole_.rungs.begin(), whole_.rungs.end(), [=](const Rung& r) { return r.bytes[kind] > 0; }))
        continue;
      const auto category = static_cast<record::Category>(i);
      const std::string word = lessons::capitalised(record::label_of(category));
      const float width = box + sheet_.px(6) + sheet_.width(kRungNote, word);
      if (x > area_.x0 && x + width > area_.x1) {
        x = area_.x0;
        y += line;
      }
      lay_out_kind(sheet_, {x, y + line * 0.5f - box * 0.4f, x + box, y + line * 0.5f + box * 0.4f}, category);
      sheet_.text_mid(Layer::kLabels, kRungNote, palette_.text2, word, x + box + sheet_.px(6), y + line * 0.5f);
      x += width + sheet_.px(18);
    }
    area_.y0 = y + line + sheet_.px(8);
  }

  void heads(float y) {
    const auto head = [&](const char* word, float x, Anchor anchor) {
      sheet_.text(Layer::kBars, kRungNote, palette_.text3, word, x, y, anchor);
    };
    head("peak", columns_.value_x, Anchor::kEnd);
    if (columns_.differences) head("difference", columns_.delta_x, Anchor::kEnd);
    if (columns_.speeds) head("tokens/s", columns_.speed_x, Anchor::kEnd);
    if (columns_.speed_differences) head("change", columns_.speed_delta_x, Anchor::kEnd);
    if (columns_.losses) head("loss", columns_.loss_x, Anchor::kEnd);
    if (columns_.sources) head("from", columns_.source_x, Anchor::kEnd);
    lay_out_more(sheet_, Layer::kBars, {"column", left_out_}, area_.x0, y + sheet_.height(kRungNote) * 0.5f);
  }

  float x_px(double bytes) const {
    return columns_.bar_from + static_cast<float>(bytes / panel_.peaks.high) * (columns_.bar_to - columns_.bar_from);
  }

  void row(const Rung& rung, const Rect& row) {
    const float middle = row.center_y();
    const bool named = sheet_.frame().parts.rungs;
    const float name_room = columns_.bar_from - row.x0 - sheet_.px(8);
    if (named)
      sheet_.text_cut(Layer::kBars, kRungName, rung.off ? palette_.text3 : palette_.text, rung.label, row.x0, middle,
                      name_room);
    std::string tip = rung.tip;
    for (const std::string& column : left_out_)
      if (const std::string& entry = column == "difference" ? rung.delta
                                     : column == "change"   ? rung.speed.delta
                                     : column == "from"     ? rung.source
                                                            : rung.loss;
          !entry.empty())
        tip += fmt::format(", {} {}", column, entry);
    sheet_.scene().hits.push_back(
        {named ? row : Rect{columns_.bar_from, row.y0, row.x1, row.y1}, std::nullopt, std::move(tip)});
    if (!rung.note.empty() && rung.value.empty()) {
      const float room = area_.x1 - columns_.bar_from - sheet_.px(8);
      sheet_.text_cut(Layer::kBars, kRungNote, rung.off ? palette_.text3 : palette_.text2, rung.note,
                      columns_.bar_from + sheet_.px(8), middle, room);
      return;
    }
    const float line = sheet_.line_px(1);
    sheet_.vertical(Layer::kBars, columns_.bar_from - line, row.y0, row.y1, palette_.control, line);
    if (rung.value.empty()) return;  // not measured yet, or to be guessed
    // Rungs without a speed leave room for it, so that all look alike.
    const float half = std::min(sheet_.px(10), row.height() * 0.32f), thin = std::max(line, sheet_.px(3));
    const float top = sheet_.snap(middle - half), bottom = sheet_.snap(middle + half - thin);
    bar(rung, top, bottom);
    if (rung.pending)
      sheet_.fill(Layer::kMarks, {columns_.bar_from, top, x_px(static_cast<double>(record::total(rung.bytes))), bottom},
                  faded(palette_.card, kPale));
    const auto number = [&](bool shown, Type type, Color color, const std::string& text, float x) {
      const Color ink = rung.pending ? palette_.text3 : color;
      if (shown) sheet_.text_mid(Layer::kBars, type, ink, text, x, middle, Anchor::kEnd);
    };
    number(true, kRungValue, rung.out_of_memory ? palette_.danger : palette_.text, rung.value, columns_.value_x);
    number(columns_.differences, kRungName, palette_.text2, rung.delta, columns_.delta_x);
    number(columns_.losses, kRungNote, palette_.text2, rung.loss, columns_.loss_x);
    number(columns_.sources, kRungNote, palette_.text2, rung.source, columns_.source_x);
    number(columns_.speeds, kRungName, palette_.text, rung.speed.text, columns_.speed_x);
    number(columns_.speed_differences, kRungName, rung.speed.told ? palette_.text2 : palette_.text3, rung.speed.delta,
           columns_.speed_delta_x);
    if (rung.speed.value <= 0) return;
    const float length =
        static_cast<float>(rung.speed.value / panel_.speeds.high) * (columns_.bar_to - columns_.bar_from);
    sheet_.fill(Layer::kBars,
                {columns_.bar_from, bottom + line, columns_.bar_from + std::max(sheet_.snap(length), sheet_.line_px(2)),
                 bottom + line + thin},
                rung.pending ? palette_.text3 : palette_.ink);
  }

  // The question is about the last rung that is on.
  const Rung& asked() const {
    const auto last =
        std::find_if(panel_.rungs.rbegin(), panel_.rungs.rend(), [](const Rung& rung) { return !rung.off; });
    return last == panel_.rungs.rend() ? panel_.rungs.back() : *last;
  }

  // The guess: a line with a pill or, once locked, with text.
  void guess(const Rect& row) {
    if (!head_.guess && !head_.guess_open) return;
    const PlotMap map{.plot = {columns_.bar_from, row.y0, columns_.bar_to, row.y1}, .x = panel_.peaks, .y = {}};
    const float x =
        head_.guess ? std::clamp(sheet_.snap(map.x_px(*head_.guess)), map.plot.x0, map.plot.x1) : map.plot.x0;
    if (head_.guess) lay_out_guess_line(sheet_, {x, row.y0}, {x, row.y1});
    GuessPill pill = guess_pill(sheet_, head_, panel_.peaks, {x, row.center_y()}, map.plot);
    const float most = row.height() - sheet_.line_px(2);
    if (pill.box.height() > most)
      pill.box = {pill.box.x0, row.y0 + sheet_.line_px(1), pill.box.x1, row.y1 - sheet_.line_px(1)};
    if (head_.guess_open) {
      draw_pill(sheet_, head_, pill);
      sheet_.scene().map = map;  // for dragging
      sheet_.scene().guess = pill.box;
      sheet_.scene().guess_along_x = true;
      return;
    }
    const float end = x_px(static_cast<double>(std::max(record::total(asked().bytes), asked().before)));
    const float from = std::max(x, end) + sheet_.px(8), width = sheet_.width(kRungNote, pill.text);
    const bool right = from + width <= columns_.bar_to;
    sheet_.text_mid(Layer::kLabels, kRungNote, palette_.text, pill.text, right ? from : x - sheet_.px(6),
                    row.center_y(), right ? Anchor::kStart : Anchor::kEnd);
  }

  // A dashed outline shows how much more the previous rung needed; hatching means out of memory.
  void bar(const Rung& rung, float top, float bottom) {
    const float line = sheet_.line_px(1);
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
    if (rung.predicted && end - columns_.bar_from > 3 * line)
      sheet_.inside(Layer::kMarks, {columns_.bar_from, top, end, bottom}, palette_.text, line, 0,
                    {sheet_.px(4), sheet_.px(3)});
    const float before = sheet_.snap(x_px(static_cast<double>(rung.before)));
    const float words = std::max(end, before) + sheet_.px(8), room = columns_.bar_to - words;
    const bool guessed = head_.guess && &rung == &asked();  // takes the note's place
    if (!rung.note.empty() && room > sheet_.px(80) && !guessed)
      sheet_.text_cut(Layer::kBars, kRungNote, palette_.text2, rung.note, words, (top + bottom) * 0.5f, room);
    if (rung.out_of_memory) {
      const Rect rest{end, top, columns_.bar_to, bottom};
      sheet_.danger(Layer::kBars, rest);
    } else if (rung.before > record::total(rung.bytes) && before - end > 3 * line) {
      sheet_.inside(Layer::kBars, {end, top, before, bottom}, palette_.text3, line, 0, {sheet_.px(3)});
    } else if (rung.before > 0 && end - before > 3 * line) {  // marks the previous peak
      sheet_.vertical(Layer::kMarks, before, top - sheet_.px(3), bottom + sheet_.px(3), palette_.text,
                      sheet_.line_px(2));
    }
  }

  Sheet& sheet_;
  const Palette& palette_;
  const FigureHead& head_;
  const Rungs& panel_;
  const Rungs& whole_;
  Rect area_;
  RungColumns columns_;
  std::vector<std::string> left_out_;
};

}  // namespace

void lay_out_rungs(Sheet& sheet, const FigureHead& head, const Rungs& panel, const Rungs& whole, Rect area) {
  RungLayout(sheet, head, panel, whole, area).draw();
}

}  // namespace headroom::app::paint
