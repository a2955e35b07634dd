// The page's settings, drawn from their schema: with Run, or with the parameters of a figure that follows them.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "app/common/summary.h"
#include "app/page/page_facts.h"
#include "app/page/settings/param_scale.h"
#include "app/window/draw/controls.h"
#include "app/window/views/figure_card.h"
#include "app/window/widgets/param_control.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

namespace {

using record::ParamKind;
using record::ParamSpec;

constexpr int kColumns = 4;
constexpr std::size_t kShownCells = 2 * kColumns;

// Settings in use: the page's switches first, then those that are not folded away, then the rest.
std::vector<const ParamSpec*> params_in_use(const PageFrame& frame) {
  const record::Params& params = frame.page.control().params();
  const auto& switches = frame.page.page().switches;
  const auto turn = [&](const ParamSpec& spec) {
    const auto at = std::find(switches.begin(), switches.end(), spec.key);
    return at != switches.end() ? at - switches.begin() : std::ssize(switches) + (spec.advanced ? 1 : 0);
  };
  std::vector<const ParamSpec*> specs;
  for (const ParamSpec& spec : params.schema()) {
    const bool no_choice = spec.kind == ParamKind::kChoice && spec.choices.size() < 2;
    const bool in_widget = frame.widgets.edit(spec.key);
    if (params.in_use(spec.key) && !no_choice && !in_widget) specs.push_back(&spec);
  }
  std::stable_sort(specs.begin(), specs.end(), [&](const auto* a, const auto* b) { return turn(*a) < turn(*b); });
  return specs;
}

struct Cell {
  ParamsOf of;
  const ParamSpec* spec;
};

// Two rows of four cells, less one for "More settings". If widgets start runs or calculate, only the page's switches
// are shown. Parameters of a figure in closed form come first, except choices, which are in its head.
std::vector<Cell> shown_cells(const PageFrame& frame) {
  std::vector<Cell> cells;
  const bool calculates = frame.widgets.have_figure_params();
  if (calculates)
    for (const ParamSpec* spec : figure_params(frame.page)) cells.push_back({ParamsOf::kFigure, spec});
  else if (lessons::is_closed_form(frame.page.figures().shown()))
    for (const ParamSpec* spec : figure_params(frame.page))
      if (record::choices_of(*spec).empty()) cells.push_back({ParamsOf::kFigure, spec});
  if (calculates && !lessons::follows_settings(frame.page.figures().shown())) return cells;
  const bool only_switches = frame.widgets.start_runs() || calculates;
  const auto& switches = frame.page.page().switches;
  for (const ParamSpec* spec : params_in_use(frame))
    if ((!spec->advanced && !only_switches) || std::find(switches.begin(), switches.end(), spec->key) != switches.end())
      cells.push_back({ParamsOf::kPage, spec});
  if (cells.size() > kShownCells - 1) cells.resize(kShownCells - 1);
  return cells;
}

std::vector<const ParamSpec*> folded_params(const PageFrame& frame) {
  const std::vector<Cell> shown = shown_cells(frame);
  std::vector<const ParamSpec*> specs = params_in_use(frame);
  std::erase_if(specs, [&](const ParamSpec* spec) {
    return std::any_of(shown.begin(), shown.end(), [&](const Cell& cell) { return cell.spec == spec; });
  });
  return specs;
}

bool has_more(const PageFrame& frame) {
  if (frame.widgets.have_figure_params()) return lessons::follows_settings(frame.page.figures().shown());
  return frame.page.control().fixed_settings().empty() && !frame.widgets.start_runs();
}

struct GroupOnShow {
  std::string_view title;
  std::vector<const ParamSpec*> specs;
  int changed = 0;  // settings not at their defaults
};

std::vector<GroupOnShow> grouped(const PageFrame& frame, const std::vector<const ParamSpec*>& specs) {
  const record::Params& params = frame.page.control().params();
  const record::Params defaults(params.schema());
  std::vector<GroupOnShow> shown;
  const auto group_of = [&](const ParamSpec& spec) -> GroupOnShow& {
    const auto same = [&](const GroupOnShow& group) { return group.title == spec.group; };
    const auto at = std::find_if(shown.begin(), shown.end(), same);
    return at == shown.end() ? shown.emplace_back(GroupOnShow{spec.group, {}, 0}) : *at;
  };
  for (const ParamSpec& spec : params.schema()) group_of(spec);  // in the schema's order
  for (const ParamSpec* spec : specs) {
    GroupOnShow& group = group_of(*spec);
    group.specs.push_back(spec);
    group.changed += params.as_text(spec->key) != defaults.as_text(spec->key);
  }
  std::erase_if(shown, [](const GroupOnShow& group) { return group.specs.empty(); });
  return shown;
}

// A hairline stands between the figure's parameters and the page's settings.
void draw_grid(PageFrame& frame, const std::vector<Cell>& cells, const Rect& rect, int columns, float gap) {
  const float width = (rect.width() - px(gap) * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  for (int i = 0; i < static_cast<int>(cells.size()); ++i) {
    const auto& [of, spec] = cells[static_cast<std::size_t>(i)];
    const float x = std::round(rect.x0 + static_cast<float>(i % columns) * (width + px(gap)));
    const float y = rect.y0 + static_cast<float>(i / columns) * px(kCellHeight + kCellGap);
    if (i > 0 && of != cells[static_cast<std::size_t>(i - 1)].of) {
      if (i % columns > 0)
        vertical_line(x - px(gap) / 2, y, y + px(kCellHeight), theme().hairline);
      else
        horizontal_line(rect.x0, rect.x1, y - px(kCellGap) / 2, theme().hairline);
    }
    draw_param(frame, of, *spec, {x, y, std::round(x + width), y + px(kCellHeight)});
  }
}

constexpr float kGroupHeads = 214;

// The groups' names, with the number of changed settings; the open group is marked.
void draw_group_heads(PageFrame& frame, const std::vector<GroupOnShow>& groups, Rect column, std::size_t& open) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const GroupOnShow& group = groups[i];
    const Rect row = column.cut_top(px(32));
    const Rect body{row.x0, row.y0 + px(1), row.x1, row.y1 - px(1)};
    const Hit state = hit(("group " + std::string(group.title)).c_str(), body);
    if (i == open || state.hovered) fill(body, i == open ? theme().state.selected : theme().state.hover, 6);
    if (state.focused) focus_ring(body, 6);
    text_in(i == open ? Face::kSemiBold : Face::kMedium, 13, body.inset(px(10), 0), theme().text, group.title);
    if (group.changed > 0) {
      const std::string number = fmt::format("{} set", group.changed);
      text_in(Face::kRegular, 12, body.inset(px(10), 0), theme().text2, number, 1);
    }
    if (!state.clicked) continue;
    open = i;
    frame.state.settings.group = group.title;
  }
}

void draw_more(PageFrame& frame, const Rect& button_rect) {
  const std::vector<const ParamSpec*> specs = folded_params(frame);
  if (specs.empty()) return;
  const int changed = static_cast<int>(page::changes_of(frame.page).size());
  const std::string words = changed == 0 ? "More settings" : fmt::format("More, {} changed", changed);
  const ButtonText more{
      words, Icon::kNone, "",
      frame.widgets.run_button() ? "All other switches, and the settings of the run" : "All other switches"};
  if (button("more settings", button_rect, more)) ImGui::OpenPopup("more");
  for (const ParamSpec* spec : specs)
    if (is_sought(frame.state, ParamsOf::kPage, *spec) && !ImGui::IsPopupOpen("more")) {
      frame.state.settings.group = spec->group;
      ImGui::OpenPopup("more");
    }
  constexpr float kPadding = 16, kTwoColumns = 408, kRow = 32;
  const std::vector<GroupOnShow> groups = grouped(frame, specs);
  std::size_t most = 0;
  for (const GroupOnShow& group : groups) most = std::max(most, group.specs.size());
  const float heads = groups.size() > 1 ? kGroupHeads : 0;
  const float height = std::max(static_cast<float>((most + 1) / 2) * (kCellHeight + kCellGap) - kCellGap,
                                heads > 0 ? static_cast<float>(groups.size()) * kRow : 0);
  const Rect place = popup_place(button_rect, {px(kTwoColumns + heads + 2 * kPadding), px(height + 2 * kPadding)});
  if (!begin_popup("more", place, kPadding)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Rect inner{at.x, at.y, at.x + place.width() - px(2 * kPadding), at.y + px(height)};
  Rect grid = inner;
  std::size_t open = 0;
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (groups[i].title == frame.state.settings.group) open = i;
  if (heads > 0) draw_group_heads(frame, groups, grid.cut_left(px(heads - 24)), open);
  if (heads > 0) grid.cut_left(px(24));
  std::vector<Cell> cells;
  for (const ParamSpec* spec : groups[open].specs) cells.push_back({ParamsOf::kPage, spec});
  draw_grid(frame, cells, grid, 2, 24);
  ImGui::SetCursorScreenPos(upper_left(inner));
  ImGui::Dummy(size_of(inner));
  end_popup();
}

// "Llama 3.2 1B, batch 4, 1,024 tokens, bf16"
std::string settings_summary(const PageFrame& frame) {
  std::string summary;
  for (const auto& [of, spec] : shown_cells(frame)) {
    const record::Params& params =
        of == ParamsOf::kFigure ? frame.page.figures().params() : frame.page.control().params();
    // Automatic values and absent limits are not worth their room.
    if (spec->kind == ParamKind::kBytes && params.integer(spec->key) == 0) continue;
    if (spec->kind == ParamKind::kChoice && params.text(spec->key) == "auto") continue;
    if (!summary.empty()) summary += ", ";
    summary += page::value_in_words(*spec, params);
  }
  return summary;
}

// With Run, or without it for pages where nothing runs.
class SettingsView final : public WidgetView {
 public:
  explicit SettingsView(bool runs) : runs_(runs) {}

  void draw(PageFrame& frame, Rect& rect) override;
  void draw_narrow(PageFrame& frame, Rect rect) override;
  std::vector<OfferedParam> offers(const PageFrame& frame) const override;

 private:
  bool runs_;
};

// Omits read-only settings.
std::vector<OfferedParam> SettingsView::offers(const PageFrame& frame) const {
  std::vector<OfferedParam> all;
  const bool fixed = !frame.page.control().fixed_settings().empty();
  for (const auto& [of, spec] : shown_cells(frame))
    if (of == ParamsOf::kFigure || !fixed) all.push_back({of == ParamsOf::kFigure, spec});
  if (runs_)
    for (const ParamSpec* spec : figure_choices(frame.page)) all.push_back({true, spec});
  if (has_more(frame) && !fixed)
    for (const ParamSpec* spec : folded_params(frame)) all.push_back({false, spec});
  return all;
}

// Two rows of four cells, Run at the right end. "More settings" is the last cell or, where nothing runs, follows the
// cells in use.
void SettingsView::draw(PageFrame& frame, Rect& rect) {
  Rect grid = rect;
  const bool wide = frame.density == Density::kWide;
  Rect run;
  if (runs_) {
    run = grid.cut_right(px(run_column_width(frame.density)));
    grid.cut_right(px(run_column_gap(frame.density)));
  }
  const float gap = wide ? 24 : 14;
  const std::vector<Cell> cells = shown_cells(frame);
  draw_grid(frame, cells, grid, kColumns, gap);
  const std::size_t more = runs_ ? kShownCells - 1 : cells.size();
  const float cell = (grid.width() - px(gap) * (kColumns - 1)) / kColumns;
  const float x = std::round(grid.x0 + static_cast<float>(more % kColumns) * (cell + px(gap)));
  const float y = grid.y0 + static_cast<float>(more / kColumns) * px(kCellHeight + kCellGap) + px(kLabelHeight);
  if (has_more(frame)) draw_more(frame, {x, y, std::round(x + cell), y + px(32)});
  if (!runs_) return;
  if (frame.widgets.run_button())
    draw_run(frame, run);
  else if (!frame.widgets.sweep_button())
    draw_pin(frame, run);
}

void SettingsView::draw_narrow(PageFrame& frame, Rect rect) {
  if (frame.widgets.sweep_button() && page::why_no_engine(frame.page).empty()) rect.cut_right(px(kNarrowSweep + 8));
  const std::string words = shortened(Face::kMedium, 13, settings_summary(frame), rect.width() - px(56));
  const ButtonText summary{words, Icon::kChip};
  const bool sought = !frame.state.sought.param.empty() && !ImGui::IsPopupOpen("folded settings");
  if (button("settings", rect, summary) || sought) ImGui::OpenPopup("folded settings");
  constexpr float kPadding = 16, kWidth = 680, kThreeColumns = 560;
  const int columns = ImGui::GetMainViewport()->Size.x >= px(kThreeColumns) ? 3 : 2;
  const std::vector<Cell> cells = shown_cells(frame);
  const std::vector<const ParamSpec*> choices =
      runs_ ? figure_choices(frame.page) : std::vector<const ParamSpec*>();  // otherwise among the cells
  const int shown = static_cast<int>(cells.size()), of_figure = static_cast<int>(choices.size());
  const int places = shown + of_figure + (has_more(frame) ? 1 : 0) + (runs_ ? 1 : 0);  // "More settings", the pin
  const float height = static_cast<float>((places + columns - 1) / columns) * (kCellHeight + kCellGap) - kCellGap;
  const Rect place = popup_place(rect, {px(kWidth), px(height + 2 * kPadding)});
  if (!begin_popup("folded settings", place, kPadding)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Rect inner{at.x, at.y, at.x + place.width() - px(2 * kPadding), at.y + px(height)};
  draw_grid(frame, cells, inner, columns, 20);
  const float cell = (inner.width() - px(20) * (columns - 1)) / columns;
  const auto cell_at = [&](int i) {
    const float x = inner.x0 + static_cast<float>(i % columns) * (cell + px(20));
    const float y = inner.y0 + static_cast<float>(i / columns) * px(kCellHeight + kCellGap);
    return Rect{std::round(x), y, std::round(x + cell), y + px(kCellHeight)};
  };
  for (int i = 0; i < of_figure; ++i) {
    Rect choice = cell_at(shown + i);
    draw_label(*choices[static_cast<std::size_t>(i)], choice.cut_top(px(kLabelHeight)));
    if (is_sought(frame.state, ParamsOf::kFigure, *choices[static_cast<std::size_t>(i)])) focus_next();
    draw_figure_choice(frame.page, *choices[static_cast<std::size_t>(i)], choice);
  }
  Rect more = cell_at(shown + of_figure);
  more.cut_top(px(kLabelHeight));
  if (has_more(frame)) draw_more(frame, more);
  if (runs_) draw_pin(frame, cell_at(shown + of_figure + (has_more(frame) ? 1 : 0)));
  ImGui::SetCursorScreenPos(upper_left(inner));
  ImGui::Dummy(size_of(inner));
  end_popup();
}

}  // namespace

constinit const Widget kSettingsWidget{
    &lessons::kSettingsWidget, Slot::kBelowFigure,
    [](const WidgetHost&) -> std::unique_ptr<WidgetView> { return std::make_unique<SettingsView>(true); }};

constinit const Widget kCalculatorWidget{
    &lessons::kCalculatorWidget, Slot::kBelowFigure,
    [](const WidgetHost&) -> std::unique_ptr<WidgetView> { return std::make_unique<SettingsView>(false); }};

}  // namespace headroom::app::window
