// The figure's source, then the main numbers of each panel.
#include "app/paint/layout/description.h"

#include <algorithm>

#include "lessons/shown_unit.h"

namespace headroom::app::paint {
namespace {

void add(std::string& text, const std::string& sentence) {
  if (!sentence.empty()) text += " " + sentence + ".";
}

struct InWords {
  std::string& text;

  void operator()(const lessons::Timeline& panel) const {
    if (panel.peak) add(text, "The " + panel.peak->label);
    if (panel.failed && panel.cap)
      add(text, "The run ended on the " + panel.cap->label + ": it " + panel.failed->label);
    if (!panel.alive || panel.alive->rows.empty()) return;
    std::string list = "Alive at " + panel.alive->when + ":";
    for (std::size_t i = 0; i < std::min<std::size_t>(3, panel.alive->rows.size()); ++i) {
      const lessons::ListRow& row = panel.alive->rows[i];
      list += (i == 0 ? " " : ", ") + row.name + " " + lessons::bytes_text(row.bytes, lessons::unit_of(panel.y));
    }
    add(text, list);
  }
  void operator()(const lessons::Bars& panel) const {
    add(text, "The " + panel.total_label);
    for (const lessons::Bar& bar : panel.bars) add(text, bar.label + " " + bar.value_text);
  }
  void operator()(const lessons::Rungs& panel) const {
    for (const lessons::Rung& rung : panel.rungs) add(text, rung.tip);
  }
  void operator()(const lessons::Chart& panel) const {
    add(text, panel.title);
    for (const lessons::ChartSeries& series : panel.series)
      for (const lessons::ChartPoint& point : series.points) add(text, point.tip);
  }
  void operator()(const lessons::Lanes& panel) const {
    for (const lessons::Lane& lane : panel.lanes) add(text, lane.note);
  }
  void operator()(const lessons::Table& panel) const {
    for (const lessons::TableRow& row : panel.rows) add(text, row.tip);
  }
  void operator()(const lessons::Diagram& panel) const {
    add(text, panel.title);
    for (const lessons::DiagramBox& box : panel.boxes) add(text, box.tip);
  }
  void operator()(const lessons::AddressMap& panel) const {
    add(text, panel.title);
    for (const lessons::AddressSum& sum : panel.sums) add(text, sum.label);
  }
  void operator()(const lessons::Traffic& panel) const {
    for (const lessons::TrafficForm& form : panel.forms)
      add(text,
          form.label + ": " + form.note + ", " + lessons::bytes_text(form.moved(), panel.bytes_unit()) + " moved");
  }
  void operator()(const lessons::HeatMap& panel) const { add(text, panel.title); }
};

}  // namespace

std::string description_of(const lessons::FigureData& figure) {
  if (!figure.head.empty_reason.empty()) return figure.head.empty_reason;
  std::string text = figure.head.provenance_line + ".";
  if (!figure.head.caption.empty()) text += " " + figure.head.caption;
  for (const lessons::Panel& panel : figure.panels) std::visit(InWords{text}, panel);
  return text;
}

}  // namespace headroom::app::paint
