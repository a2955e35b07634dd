// One operation's kernels in three pictures: on a time axis, as bars of speed next to a copy's, and as squares of bytes
// read, written and kept. Pointing at a kernel in one picture highlights it in all.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/paint/layout/plot_parts.h"
#include "app/paint/scene/ticks.h"

namespace headroom::app::paint {
namespace {

using lessons::Traffic, lessons::TrafficForm, lessons::TrafficKernel;

constexpr float kTrafficLine = 20, kSumsHeight = 78;  // px at scale 1
constexpr HatchRule kGapHatch{5, 1, 1};               // for idle times
// px at scale 1: least width for two pictures side by side, least height for more than one
constexpr float kBeside = 480, kLeastPictures = 300;
constexpr const char *kSpeeds = "Speed of each kernel", *kMoved = "Bytes moved";

class TrafficLayout {
 public:
  TrafficLayout(Sheet& sheet, const Traffic& panel) : sheet_(sheet), palette_(sheet.palette()), panel_(panel) {}

  void draw(Rect area) {
    Rect top = area;
    const bool more = area.height() >= sheet_.px(kLeastPictures);
    if (more) top.y1 = area.y0 + std::clamp(area.height() * 0.34f, sheet_.px(140), sheet_.px(210));
    const bool both = area.width() >= sheet_.px(kBeside);
    std::vector<std::string> left_out;
    if (!more || !both) left_out.push_back(fmt::format("{}: {}", kSpeeds, fmt::join(speeds_said(), ", ")));
    if (!more) left_out.emplace_back(kMoved);
    if (!left_out.empty()) {
      area.y1 -= sheet_.px(kTrafficLine);
      lay_out_more(sheet_, Layer::kAxes, {"picture", left_out}, area.x0, area.y1 + sheet_.px(kTrafficLine) * 0.5f);
      if (!more) top.y1 = area.y1;
    }
    times(top);
    if (!more) return;
    Rect rest{area.x0, top.y1 + sheet_.px(14), area.x1, area.y1};
    if (both) {
      const float middle = sheet_.snap(rest.x0 + rest.width() * 0.56f);
      speeds({rest.x0, rest.y0, middle - sheet_.px(20), rest.y1});
      squares({middle + sheet_.px(8), rest.y0, rest.x1, rest.y1});
    } else {
      squares(rest);
    }
  }

 private:
  bool steps_back(int mark) const { return sheet_.frame().marked && *sheet_.frame().marked != mark; }

  void hit(const Rect& rect, const TrafficKernel& kernel, int mark) {
    sheet_.scene().hits.push_back({.rect = rect, .category = std::nullopt, .tip = kernel.tip, .mark = mark});
  }

  // Ink for the fused kernel, outlined gray for others, pale if another kernel is highlighted.
  Color bar(const Rect& rect, bool ours, int mark) {
    const bool back = steps_back(mark);
    const Color full = ours ? palette_.ink : palette_.phase[3];
    sheet_.fill(Layer::kBars, rect, back ? mixed(full, palette_.well, 0.6f) : full, sheet_.px(2));
    if (!ours || back) outline(rect, palette_.control, 1, 2);
    return back ? palette_.text3 : ours ? palette_.on_ink : palette_.text;
  }

  void outline(const Rect& rect, Color color, float width, float radius) {
    sheet_.inside(Layer::kBars, rect, color, sheet_.line_px(width), sheet_.px(radius));
  }

  void times(Rect area) {
    float names = 0, totals = 0;
    for (const TrafficForm& form : panel_.forms) {
      names = std::max({names, sheet_.width(kStrongType, form.label), sheet_.width(kLabelType, count_of(form))});
      totals = std::max(totals, sheet_.width(kPeakType, total_of(form)));
    }
    PlotMap& map = sheet_.scene().map;
    map.x = panel_.x;
    map.plot = {sheet_.snap(area.x0 + names + sheet_.px(12)), area.y0 + sheet_.px(kTrafficLine),
                area.x1 - totals - sheet_.px(10), area.y1 - sheet_.px(kTrafficLine)};
    map.plot.x1 = std::max(map.plot.x1, map.plot.x0 + 1);
    const float pitch = map.plot.height() / static_cast<float>(std::max<std::size_t>(1, panel_.forms.size()));
    int mark = 0;
    for (std::size_t i = 0; i < panel_.forms.size(); ++i) {
      const TrafficForm& form = panel_.forms[i];
      const float y0 = map.plot.y0 + pitch * static_cast<float>(i);
      const Rect row{map.plot.x0, sheet_.snap(y0 + sheet_.px(3)), map.plot.x1,
                     sheet_.snap(y0 + std::min(pitch - sheet_.px(5), sheet_.px(46)))};
      const float line = sheet_.height(kStrongType);
      sheet_.text(Layer::kAxes, kStrongType, palette_.text, form.label, area.x0, row.center_y() - line);
      sheet_.text(Layer::kAxes, kLabelType, palette_.text2, count_of(form), area.x0, row.center_y());
      launches(form, map, row, mark);
    }
    gap_words(map);
    sheet_.horizontal(Layer::kAxes, map.plot.x0, map.plot.x1, map.plot.y1, palette_.control, sheet_.line_px(1));
    lay_out_time_ticks(sheet_, map, {});
  }

  static std::string count_of(const TrafficForm& form) { return form.note.substr(0, form.note.find(',')); }

  static double end_of(const TrafficForm& form) { return form.kernels.empty() ? 0 : form.kernels.back().end; }

  std::string time_text(double time) const { return lessons::amount_text(time, lessons::unit_of(panel_.x)); }
  std::string total_of(const TrafficForm& form) const { return time_text(end_of(form)); }

  void launches(const TrafficForm& form, const PlotMap& map, Rect row, int& mark) {
    const float hair = sheet_.line_px(1);
    for (std::size_t k = 0; k < form.kernels.size(); ++k, ++mark) {
      const TrafficKernel& kernel = form.kernels[k];
      const float x0 = sheet_.snap(map.x_px(kernel.begin)),
                  x1 = std::max(sheet_.snap(map.x_px(kernel.end)), x0 + 2 * hair);
      if (k > 0) {
        const Rect gap{sheet_.snap(map.x_px(form.kernels[k - 1].end)) + hair, row.y0 + row.height() * 0.3f, x0 - hair,
                       row.y1 - row.height() * 0.3f};
        if (gap.width() > 2 * hair) sheet_.hatch(Layer::kBars, {gap}, palette_.control, kGapHatch);
      }
      const Rect box{x0, row.y0, x1, row.y1};
      const Color words = bar(box, form.ours, mark);
      hit({std::min(x0, box.center_x() - sheet_.px(3)), row.y0, std::max(x1, box.center_x() + sheet_.px(3)), row.y1},
          kernel, mark);
      const float room = box.width() - sheet_.px(6), line = sheet_.height(kLabelType);
      if (sheet_.width(kLabelType, kernel.label) > room) continue;
      const std::string time = time_text(kernel.end - kernel.begin);
      const bool both = box.height() > 2.2f * line && sheet_.width(kLabelType, time) <= room;
      sheet_.text_mid(Layer::kLabels, kLabelType, words, kernel.label, box.center_x(),
                      box.center_y() - (both ? line * 0.5f : 0), Anchor::kMiddle);
      if (both)
        sheet_.text_mid(Layer::kLabels, kLabelType, words, time, box.center_x(), box.center_y() + line * 0.5f,
                        Anchor::kMiddle);
    }
    sheet_.text_mid(Layer::kLabels, kPeakType, palette_.text, total_of(form), map.x_px(end_of(form)) + sheet_.px(8),
                    row.center_y());
  }

  void gap_words(const PlotMap& map) {
    const TrafficForm& form = panel_.forms.front();
    double busy = 0;
    for (const TrafficKernel& kernel : form.kernels) busy += kernel.end - kernel.begin;
    const double gaps = end_of(form) - busy;
    if (gaps <= 0) return;
    const std::string words = fmt::format("hatched: no kernel runs, {} of {}", time_text(gaps), total_of(form));
    sheet_.text_cut(Layer::kLabels, kLabelType, palette_.text2, words, map.plot.x0,
                    map.plot.y0 - sheet_.px(kTrafficLine) * 0.5f, map.plot.width());
  }

  Rect titled(Rect area, const std::string& title, const std::string& note) {
    const float line = sheet_.px(kTrafficLine);
    sheet_.text_cut(Layer::kAxes, kStrongType, palette_.text, title, area.x0, area.y0 + line * 0.5f, area.width());
    sheet_.text_cut(Layer::kAxes, kLabelType, palette_.text2, note, area.x0, area.y0 + line * 1.4f, area.width());
    area.y0 += line * 2;
    return area;
  }

  void speeds(Rect area) {
    area = titled(area, kSpeeds, "bytes that must move ÷ time");
    float names = 0;
    std::size_t count = 0;
    for (const TrafficForm& form : panel_.forms)
      for (const TrafficKernel& kernel : form.kernels) {
        names = std::max(names, sheet_.width(kLabelType, kernel.label));
        ++count;
      }
    PlotMap map{.plot = {sheet_.snap(area.x0 + names + sheet_.px(10)), area.y0 + sheet_.px(kTrafficLine), area.x1,
                         area.y1 - sheet_.px(kTrafficLine)},
                .x = panel_.rate,
                .y = {}};
    if (count == 0) return;
    if (map.plot.width() <= 0 || map.plot.height() <= 0) return unnamed_speeds(area);
    rate_ticks(map);
    const float pitch = map.plot.height() / static_cast<float>(count);
    const float height = std::min(pitch * 0.72f, sheet_.px(26));
    float y = map.plot.y0;
    int mark = 0;
    const bool numbers = pitch >= sheet_.height(kLabelType);
    for (const TrafficForm& form : panel_.forms)
      for (const TrafficKernel& kernel : form.kernels) {
        const Rect row{map.plot.x0, sheet_.snap(y + (pitch - height) * 0.5f),
                       std::max(sheet_.snap(map.x_px(kernel.rate())), map.plot.x0 + sheet_.line_px(2)),
                       sheet_.snap(y + (pitch + height) * 0.5f)};
        speed(form, kernel, row, mark, numbers, map);
        hit({area.x0, y, area.x1, y + pitch}, kernel, mark);
        y += pitch;
        ++mark;
      }
    copy_line(map);
    if (!numbers) unnamed_speeds(area);
  }

  // "rsqrt: 1.2 TB/s"
  std::vector<std::string> speeds_said() const {
    std::vector<std::string> all;
    for (const TrafficForm& form : panel_.forms)
      for (const TrafficKernel& kernel : form.kernels)
        all.push_back(kernel.label + ": " + lessons::amount_text(kernel.rate(), lessons::unit_of(panel_.rate)));
    return all;
  }

  void unnamed_speeds(const Rect& area) {
    lay_out_more(sheet_, Layer::kAxes, {"name", speeds_said()}, area.x1, area.y0 - sheet_.px(kTrafficLine) * 1.5f,
                 Anchor::kEnd);
  }

  void speed(const TrafficForm& form, const TrafficKernel& kernel, Rect row, int mark, bool numbers,
             const PlotMap& map) {
    const Color inside = bar(row, form.ours, mark);
    if (!numbers) return;
    const Color name = steps_back(mark) ? palette_.text3 : palette_.text;
    sheet_.text_mid(Layer::kAxes, form.ours ? kStrongType : kLabelType, name, kernel.label, row.x0 - sheet_.px(8),
                    row.center_y(), Anchor::kEnd);
    const std::string text = in_unit(kernel.rate(), lessons::unit_of(panel_.rate));
    const float width = sheet_.width(kStrongType, text);
    // Left of the copy's line if that line would cross the number.
    const float line = panel_.copy > 0 ? map.x_px(panel_.copy) : row.x1 + width;
    const float beside = row.x1 - sheet_.px(8);
    const float end = line > beside - width - sheet_.px(6) && line < row.x1 + sheet_.px(6)
                          ? std::min(beside, line - sheet_.px(6))
                          : beside;
    if (end - width > row.x0 + sheet_.px(4))
      sheet_.text_mid(Layer::kLabels, kStrongType, inside, text, end, row.center_y(), Anchor::kEnd);
    else
      sheet_.text_mid(Layer::kLabels, kStrongType, palette_.text, text, row.x1 + sheet_.px(6), row.center_y());
  }

  void rate_ticks(const PlotMap& map) {
    const int most = std::max(2, static_cast<int>(map.plot.width() / sheet_.px(80)));
    const auto [ticks, unit] = chart_ticks(map.x, most);
    float free = map.plot.x0 - sheet_.px(40);
    for (const Tick& tick : ticks) {
      const float x = sheet_.snap(map.x_px(tick.value));
      sheet_.vertical(Layer::kGround, x, map.plot.y0, map.plot.y1, palette_.grid, sheet_.line_px(1));
      const std::string words = &tick == &ticks.back() ? tick.label + " " + unit : tick.label;
      const float half = sheet_.width(kLabelType, words) * 0.5f, at = std::min(x, map.plot.x1 - half);
      if (at - half < free) continue;
      sheet_.text_mid(Layer::kAxes, kLabelType, palette_.text3, words, at, map.plot.y1 + sheet_.px(kTrafficLine) * 0.5f,
                      Anchor::kMiddle);
      free = at + half + sheet_.px(6);
    }
  }

  void copy_line(const PlotMap& map) {
    if (panel_.copy <= 0) return;
    const float x = sheet_.snap(map.x_px(panel_.copy));
    sheet_.line(Layer::kLines, {{x, map.plot.y0}, {x, map.plot.y1}}, palette_.ink, sheet_.line_px(1.5f),
                {sheet_.px(4), sheet_.px(3)});
    const float half = sheet_.width(kStrongType, panel_.copy_label) * 0.5f;
    sheet_.text_mid(Layer::kLabels, kStrongType, palette_.text, panel_.copy_label,
                    std::clamp(x, map.plot.x0 + half, std::max(map.plot.x0 + half, map.plot.x1 - half)),
                    map.plot.y0 - sheet_.px(kTrafficLine) * 0.5f, Anchor::kMiddle);
  }

  std::string moved_text(record::Bytes bytes) const { return lessons::bytes_text(bytes, panel_.bytes_unit(), 0); }

  enum class Bytes { kRead, kWritten, kKept };

  // Bytes read are filled, bytes written hollow, with a dot if kept until the backward pass.
  void square(Rect rect, Bytes kind, bool ours, int mark) {
    const Color ink = steps_back(mark) ? mixed(palette_.control, palette_.well, 0.5f)
                      : ours           ? palette_.ink
                                       : palette_.text3;
    if (kind == Bytes::kRead) {
      sheet_.fill(Layer::kBars, rect, ink, sheet_.px(2));
      if (steps_back(mark)) outline(rect, palette_.control, 1, 2);
      return;
    }
    outline(rect, steps_back(mark) ? palette_.control : ink, 1.5f, 2);
    if (kind == Bytes::kKept)
      sheet_.add(
          Layer::kBars,
          Disc{.center = {rect.center_x(), rect.center_y()}, .radius = rect.width() * 0.2f, .fill = ink, .stroke = {}});
  }

  std::vector<std::pair<Bytes, int>> squares_of(const TrafficForm& form, int mark) const {
    std::vector<std::pair<Bytes, int>> all;
    const auto count = [&](record::Bytes bytes) {
      return std::llround(static_cast<double>(bytes) / static_cast<double>(panel_.square));
    };
    for (const TrafficKernel& kernel : form.kernels) {
      all.insert(all.end(), static_cast<std::size_t>(count(kernel.read)), {Bytes::kRead, mark});
      const bool kept = kernel.kept * 2 > kernel.written;
      all.insert(all.end(), static_cast<std::size_t>(count(kernel.written)),
                 {kept ? Bytes::kKept : Bytes::kWritten, mark});
      ++mark;
    }
    return all;
  }

  void squares(Rect area) {
    area = titled(area, kMoved, "one square is " + lessons::short_bytes(panel_.square, panel_.bytes_unit()));
    legend(area);
    area.y0 += sheet_.px(kTrafficLine + 8);
    const float line = sheet_.px(kTrafficLine + 4);
    int mark = 0;
    std::vector<std::vector<std::pair<Bytes, int>>> all;
    for (const TrafficForm& form : panel_.forms) {
      all.push_back(squares_of(form, mark));
      mark += static_cast<int>(form.kernels.size());
    }
    const float room = area.height() - line * static_cast<float>(all.size());
    const bool with_sums = room > sheet_.px(90 + kSumsHeight);
    const float foot = sheet_.px(with_sums ? kSumsHeight : kTrafficLine);
    const Grid grid = grid_of(all, area.width(), room - foot);
    area.y1 -= foot;
    mark = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const TrafficForm& form = panel_.forms[i];
      const Rect name =
          sheet_.text_mid(Layer::kAxes, kStrongType, palette_.text, form.label, area.x0, area.y0 + line * 0.5f);
      sheet_.text_mid(Layer::kAxes, kStrongType, palette_.text, moved_text(form.moved()), area.x1,
                      area.y0 + line * 0.5f, Anchor::kEnd);
      area.y0 += line;
      const std::size_t left_out = block(form, all[i], grid, area, mark);
      lay_out_more(sheet_, Layer::kAxes, {"square", {}, left_out}, name.x1 + sheet_.px(8), name.center_y());
      area.y0 += grid.pitch * static_cast<float>(grid.rows(all[i].size()));
      mark += static_cast<int>(form.kernels.size());
    }
    const float below = std::min(area.y0, area.y1);  // y0 is beyond y1 if squares have no room
    if (with_sums)
      sums({area.x0, below + sheet_.px(10), area.x1, below + foot});
    else
      lay_out_more(sheet_, Layer::kAxes, {"sum", {}, 3}, area.x0, below + foot * 0.5f);
  }

  struct Grid {
    std::size_t columns = 1;
    float pitch = 1;
    std::size_t rows(std::size_t count) const { return (count + columns - 1) / columns; }
  };

  // The largest squares that fit.
  Grid grid_of(const std::vector<std::vector<std::pair<Bytes, int>>>& all, float width, float height) const {
    for (float pitch = sheet_.px(20); pitch > sheet_.px(5); pitch -= sheet_.line_px(1)) {
      const Grid grid{static_cast<std::size_t>(std::max(1.0f, width / pitch)), pitch};
      std::size_t rows = 0;
      for (const auto& each : all) rows += grid.rows(each.size());
      if (static_cast<float>(rows) * pitch <= height) return grid;
    }
    return {static_cast<std::size_t>(std::max(1.0f, width / sheet_.px(5))), sheet_.px(5)};
  }

  // Returns the number of squares without room.
  std::size_t block(const TrafficForm& form, const std::vector<std::pair<Bytes, int>>& all, const Grid& grid, Rect area,
                    int first) {
    const float gap = std::max(sheet_.line_px(1), sheet_.snap(grid.pitch * 0.18f));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float x = sheet_.snap(area.x0 + grid.pitch * static_cast<float>(i % grid.columns)),
                  y = sheet_.snap(area.y0 + grid.pitch * static_cast<float>(i / grid.columns));
      if (y + grid.pitch > area.y1) return all.size() - i;
      const auto [kind, mark] = all[i];
      square({x, y, x + grid.pitch - gap, y + grid.pitch - gap}, kind, form.ours, mark);
      hit({x, y, x + grid.pitch, y + grid.pitch}, form.kernels[static_cast<std::size_t>(mark - first)], mark);
    }
    return 0;
  }

  void legend(Rect area) {
    Legend legend{.layer = Layer::kAxes, .type = kLabelType, .sample_width = 12, .sample_height = 12};
    for (const auto& [kind, word] : {std::pair{Bytes::kRead, "read"}, std::pair{Bytes::kWritten, "written"},
                                     std::pair{Bytes::kKept, "written, kept for backward"}}) {
      legend.entries.push_back({word, [this, kind = kind](const Rect& sample) {
                                  square(sample, kind, false, sheet_.frame().marked.value_or(-1));
                                }});
    }
    lay_out_legend(sheet_, legend, area, 1);
  }

  // Savings of the last form compared with the first.
  void sums(Rect area) {
    const TrafficForm &eager = panel_.forms.front(), &fused = panel_.forms.back();
    const auto times = [](double a, double b) { return b > 0 ? fmt::format("{:.1f}× less", a / b) : std::string(); };
    const std::pair<std::string, std::string> rows[] = {
        {"Traffic", times(static_cast<double>(eager.moved()), static_cast<double>(fused.moved()))},
        {"Time", times(end_of(eager), end_of(fused))},
        {"Kept for backward", moved_text(eager.kept()) + " → " + moved_text(fused.kept())}};
    sheet_.horizontal(Layer::kAxes, area.x0, area.x1, area.y0, palette_.hairline, sheet_.line_px(1));
    for (float y = area.y0 + sheet_.px(15); const auto& [name, value] : rows) {
      sheet_.text_mid(Layer::kAxes, kLabelType, palette_.text2, name, area.x0, y);
      sheet_.text_mid(Layer::kAxes, kStrongType, palette_.text, value, area.x1, y, Anchor::kEnd);
      y += sheet_.px(22);
    }
  }

  Sheet& sheet_;
  const Palette& palette_;
  const Traffic& panel_;
};

}  // namespace

void lay_out_panel(Sheet& sheet, const lessons::Traffic& panel, Rect area) { TrafficLayout(sheet, panel).draw(area); }

}  // namespace headroom::app::paint
