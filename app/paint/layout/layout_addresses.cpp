// Memory by address: a legend with byte totals, then rows of segments drawn to one scale.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/paint/layout/plot_parts.h"

namespace headroom::app::paint {
namespace {

using lessons::AddressMap;
using lessons::AddressPiece;
using lessons::AddressRow;
using lessons::AddressSum;
using lessons::PieceKind;

constexpr float kLine = 20, kLeastRow = 5, kMostRow = 64, kGap = 5;  // px at scale 1

class AddressLayout {
 public:
  AddressLayout(Sheet& sheet, const AddressMap& map, Rect area)
      : sheet_(sheet), palette_(sheet.palette()), map_(map), area_(area) {}

  void draw() {
    sheet_.text_cut(Layer::kAxes, kStrongType, palette_.text, map_.title, area_.x0, area_.y0 + sheet_.px(kLine) * 0.5f,
                    area_.width());
    area_.y0 += sheet_.px(kLine);
    sums();
    if (map_.rows.empty() || area_.height() <= 0) return;
    const float names = widest_name();
    const Rect whole = area_;
    area_.x0 += names > 0 ? names + sheet_.px(10) : 0;
    const auto count = static_cast<float>(map_.rows.size());
    const float least = sheet_.px(kLeastRow) / 0.7f;
    const bool all = names > 0 ? area_.height() / count >= sheet_.height(kLabelType) : area_.height() / count >= least;
    if (!all) area_.y1 -= sheet_.px(kLine);  // room for the marks
    const float pitch = std::clamp(area_.height() / count, least, sheet_.px(kMostRow + kGap));
    const float gap = std::min(sheet_.px(kGap), pitch * 0.3f);
    const auto most = static_cast<std::size_t>(std::max(0.0f, (area_.height() + 1) / pitch));
    const std::size_t shown = std::min(most, map_.rows.size());
    // If rows are low, only some are named, so that names do not touch.
    const auto stride = static_cast<std::size_t>(std::max(1.0f, std::ceil(sheet_.height(kLabelType) / pitch)));
    std::vector<std::string> unnamed;
    for (std::size_t i = 0; i < shown; ++i) {
      if (names > 0 && i % stride != 0) unnamed.push_back(map_.rows[i].label);
      row(map_.rows[i], {area_.x0, area_.y0, area_.x1, area_.y0 + pitch - gap}, i % stride == 0 ? names : 0);
      area_.y0 += pitch;
    }
    std::vector<std::string> left_out;
    for (std::size_t i = shown; i < map_.rows.size(); ++i) left_out.push_back(map_.rows[i].label);
    const float middle = whole.y1 - sheet_.px(kLine) * 0.5f;
    const Rect mark = lay_out_more(sheet_, Layer::kAxes, {"row", left_out}, whole.x0, middle);
    lay_out_more(sheet_, Layer::kAxes, {"name", unnamed}, mark.x1 + (left_out.empty() ? 0 : sheet_.px(10)), middle);
  }

 private:
  void sums() {
    const float line = sheet_.px(kLine), size = sheet_.px(11);
    float x = area_.x0;
    for (const AddressSum& sum : map_.sums) {
      const float width = size + sheet_.px(6) + sheet_.width(kLabelType, sum.label);
      if (x > area_.x0 && x + width > area_.x1) {
        x = area_.x0;
        area_.y0 += line;
      }
      const float top = sheet_.snap(area_.y0 + (line - size) * 0.5f);
      piece({sheet_.snap(x), top, sheet_.snap(x + size), top + size}, sum.kind, sum.category);
      const float from = x + size + sheet_.px(6);
      sheet_.text_cut(Layer::kAxes, kLabelType, palette_.text2, sum.label, from, area_.y0 + line * 0.5f,
                      area_.x1 - from);
      x += width + sheet_.px(18);
    }
    area_.y0 += line + sheet_.px(8);
  }

  // At most 30 % of the area; wider names are shortened.
  float widest_name() const {
    float widest = 0;
    for (const AddressRow& row : map_.rows) widest = std::max(widest, sheet_.width(kLabelType, row.label));
    return std::min(widest, area_.width() * 0.3f);
  }

  float x_of(record::Bytes bytes) const {
    return sheet_.snap(area_.x0 + area_.width() * static_cast<float>(bytes) / static_cast<float>(map_.width));
  }

  void row(const AddressRow& row, Rect rect, float name_room) {
    rect.y0 = sheet_.snap(rect.y0);
    rect.y1 = sheet_.snap(rect.y1);
    if (name_room > 0)
      sheet_.text_cut(Layer::kAxes, kLabelType, palette_.text3, row.label, area_.x0 - sheet_.px(10), rect.center_y(),
                      name_room, Anchor::kEnd);
    const float least = sheet_.line_px(1);
    // Adjacent blocks too thin to be seen are merged.
    for (std::size_t i = 0; i < row.pieces.size();) {
      const AddressPiece& first = row.pieces[i];
      std::size_t last = i + 1;
      while (last < row.pieces.size() && row.pieces[last].kind == first.kind &&
             row.pieces[last].category == first.category && row.pieces[last].begin == row.pieces[last - 1].end &&
             x_of(row.pieces[last].end) - x_of(row.pieces[last].begin) < 3 * least)
        ++last;
      const Rect part{x_of(first.begin), rect.y0, std::max(x_of(row.pieces[last - 1].end), x_of(first.begin) + least),
                      rect.y1};
      piece(part, first.kind, first.category);
      sheet_.scene().hits.push_back({part, std::nullopt, first.tip});
      // A line in the background's color between wide blocks.
      if (part.width() > 4 * least && first.kind == PieceKind::kBlock)
        sheet_.vertical(Layer::kLines, part.x1 - least, rect.y0, rect.y1, palette_.well, least);
      i = last;
    }
    float drawn = -1;  // x of the last seam; closer seams would form a black bar
    for (const record::Bytes seam : row.seams) {
      if (x_of(seam) - drawn < 4 * least) continue;
      drawn = x_of(seam);
      sheet_.vertical(Layer::kLines, drawn, rect.y0 - sheet_.px(1), rect.y1 + sheet_.px(1), palette_.text, least);
    }
  }

  void piece(const Rect& rect, PieceKind kind, record::Category category) {
    const float line = sheet_.line_px(1);
    switch (kind) {
      case PieceKind::kBlock:
        return lay_out_kind(sheet_, rect, category);
      case PieceKind::kFree:
        if (rect.width() < 3 * line) return sheet_.fill(Layer::kBars, rect, palette_.control);
        return sheet_.inside(Layer::kBars, rect, palette_.control, line);
      case PieceKind::kLeft:
        return sheet_.inside(Layer::kBars, rect, palette_.control, line, 0, {sheet_.px(3)});
      case PieceKind::kAsked:
        sheet_.danger(Layer::kBars, rect);
        return sheet_.inside(Layer::kBars, rect, palette_.danger, line);
    }
  }

  Sheet& sheet_;
  const Palette& palette_;
  const AddressMap& map_;
  Rect area_;
};

}  // namespace

void lay_out_panel(Sheet& sheet, const AddressMap& panel, Rect area) { AddressLayout(sheet, panel, area).draw(); }

}  // namespace headroom::app::paint
