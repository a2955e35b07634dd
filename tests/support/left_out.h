// Names and values that a scene leaves out of its figure without a mark. A name is there if it is drawn whole, cut with
// a tooltip that has it, or listed by a mark such as "3 more rows". A plotted point is there without its number.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "app/paint/scene/scene.h"
#include "lessons/figure.h"
#include "lessons/names.h"

namespace headroom::tests {

class LeftOut {
 public:
  explicit LeftOut(const app::paint::Scene& scene) : scene_(scene) {
    const app::paint::Rect frame{-2, -2, scene.width + 2, scene.height + 2};
    for (const app::paint::Item& item : scene.items)
      if (const auto* text = std::get_if<app::paint::Text>(&item.shape);
          text != nullptr && !text->text.empty() && text->box.inside(frame))
        texts_.push_back(*text);
  }

  // `rungs`: false if the window names them.
  std::vector<std::string> of(const lessons::FigureData& figure, bool rungs) {
    for (const lessons::Panel& panel : figure.panels)
      std::visit([&](const auto& kind) { look_at(kind, rungs); }, panel);
    return missing_;
  }

 private:
  void look_at(const lessons::Table& table, bool) {
    for (const std::string& column : table.columns) need(column);
    for (const lessons::TableRow& row : table.rows) {
      need(row.name);
      need(row.note, true);
      for (const std::string& cell : row.cells) need(cell, true);
    }
  }
  void look_at(const lessons::Bars& panel, bool) {
    for (const lessons::Bar& bar : panel.bars) need(bar.label), need(bar.value_text), need(bar.note);
  }
  void look_at(const lessons::Rungs& panel, bool rungs) {
    for (const lessons::Rung& rung : panel.rungs) {
      if (rungs) need(rung.label);
      need(rung.value);
      if (rung.value.empty()) continue;
      for (const std::string& entry : {rung.delta, rung.speed.text, rung.speed.delta, rung.loss}) need(entry, true);
    }
  }
  void look_at(const lessons::Chart& chart, bool) {
    if (is_marked(chart.title.empty() ? chart.y.name : chart.title, "chart")) return;
    need(chart.title);
    need(chart.x.name);
    for (const std::string& category : chart.categories) need(category);
    for (const lessons::ChartReference& reference : chart.references) need(reference.label);
    for (const lessons::ChartSpan& span : chart.spans) need(span.label);
    for (const lessons::ChartSeries& series : chart.series) {
      const std::string& word = series.legend.empty() ? series.label : series.legend;
      if (std::ranges::find(legend_, word) == legend_.end()) need(word), legend_.push_back(word);
      if (!chart.bars || (chart.stacked && &series != &chart.series.back())) continue;
      for (const lessons::ChartPoint& point : series.points)
        if (!point.out_of_memory) need(point.label);
    }
  }
  void look_at(const lessons::HeatMap& map, bool) {
    need(map.title);
    for (const std::string& row : map.rows) need(row);
    const auto every = static_cast<std::size_t>(map.named_every);
    for (std::size_t c = every / 2; c < map.columns.size(); c += every) need(map.columns[c]);
  }
  void look_at(const lessons::Diagram& diagram, bool) {
    for (const lessons::DiagramBox& box : diagram.boxes) {
      const auto begins = [&](const app::paint::Text& text) {
        return box.label.starts_with(text.text.substr(0, text.text.find("…")));
      };
      if (!box.label.empty() && !is_marked(box.label) && std::ranges::none_of(texts_, begins))
        missing_.push_back(box.label);
    }
  }
  void look_at(const lessons::Lanes& panel, bool) {
    for (const lessons::Lane& lane : panel.lanes) need(lane.label);
  }
  void look_at(const lessons::AddressMap& map, bool) {
    for (const lessons::AddressRow& row : map.rows) need(row.label);
    for (const lessons::AddressSum& sum : map.sums) need(sum.label);
  }
  void look_at(const lessons::Traffic& panel, bool) {
    for (const lessons::TrafficForm& form : panel.forms) {
      need(form.label);
      for (const lessons::TrafficKernel& kernel : form.kernels) need_somewhere(kernel.label, kernel.label);
    }
  }
  void look_at(const lessons::Timeline& timeline, bool) {
    for (int i = 0; i < record::kNumCategories; ++i) {
      const auto holds = [i](const lessons::StackColumn& column) {
        return column.high[static_cast<std::size_t>(i)] > 0;
      };
      const std::string name = lessons::capitalised(record::label_of(static_cast<record::Category>(i)));
      if (std::ranges::any_of(timeline.stack, holds)) need_somewhere(name, name);
    }
    for (const lessons::StepLine& line : timeline.lines) need_somewhere(line.label, line.short_label);
    if (timeline.peak && timeline.peak->y <= timeline.y.high) need(timeline.peak->label);
    if (timeline.cap) need_somewhere(timeline.cap->label, timeline.cap->label);
  }

  bool is_marked(const std::string& words, std::string_view what = {}) const {
    return std::ranges::any_of(scene_.more, [&](const app::paint::MoreMark& mark) {
      const auto has = [&](const std::string& name) { return name.find(words) != std::string::npos; };
      return (what.empty() || mark.what == what) && std::ranges::any_of(mark.names, has);
    });
  }
  bool in_tip(const std::string& words, const app::paint::Rect* at) const {
    return std::ranges::any_of(scene_.hits, [&](const app::paint::HitArea& area) {
      return (at == nullptr || area.rect.contains({at->center_x(), at->center_y()})) &&
             area.tip.find(words) != std::string::npos;
    });
  }
  bool is_cut(const std::string& words) const {
    constexpr std::string_view kCut = "…";
    return std::ranges::any_of(texts_, [&](const app::paint::Text& text) {
      return text.text.ends_with(kCut) && text.text.size() > kCut.size() &&
             words.starts_with(text.text.substr(0, text.text.size() - kCut.size())) && in_tip(words, &text.box);
    });
  }
  bool has_column_mark() const {
    return std::ranges::any_of(scene_.more, [](const auto& mark) { return mark.what == "column"; });
  }

  // Each drawn text counts once. `in_column`: the tooltip of its row has it if its column has no room.
  void need(const std::string& words, bool in_column = false) {
    if (words.empty()) return;
    const auto drawn = std::ranges::find(texts_, words, &app::paint::Text::text);
    if (drawn != texts_.end())
      texts_.erase(drawn);
    else if (!is_cut(words) && !is_marked(words) && !(in_column && has_column_mark() && in_tip(words, nullptr)))
      missing_.push_back(words);
  }
  // Any drawn text that begins with one of the words.
  void need_somewhere(const std::string& words, const std::string& shorter) {
    const auto says = [&](const app::paint::Text& text) {
      return text.text.starts_with(words) || (!shorter.empty() && text.text.starts_with(shorter));
    };
    if (!words.empty() && std::ranges::none_of(texts_, says) && !is_marked(words) && !is_cut(words))
      missing_.push_back(words);
  }

  const app::paint::Scene& scene_;
  std::vector<app::paint::Text> texts_;
  std::vector<std::string> legend_, missing_;
};

}  // namespace headroom::tests
