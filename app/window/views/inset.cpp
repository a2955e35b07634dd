// A figure among the words.
#include "app/window/views/figure_card.h"

#include "app/page/page_facts.h"
#include "app/window/views/views.h"

namespace headroom::app::window {

namespace {

constexpr float kShape = 0.62f;  // height over width
constexpr float kTitle = 20;     // px at scale 1: height above the picture

}  // namespace

void Insets::lay_out(PageFrame& frame, Inset& inset, const lessons::FigureBlock& block, float width, float height) {
  const bool same = inset.revision == frame.page.figures().data_revision() && inset.width == width &&
                    inset.scale == look().scale && inset.theme == look().theme;
  if (same) return;
  const lessons::FigureData figure = page::figure_among_words(frame.page, block, static_cast<int>(width));
  inset = {.revision = frame.page.figures().data_revision(),
           .width = width,
           .scale = look().scale,
           .theme = look().theme,
           .scene = {},
           .title = figure.head.title,
           .empty_reason = figure.head.empty_reason};
  if (!inset.empty_reason.empty()) return;
  inset.scene =
      paint::layout(figure, frame_for({width, height}, true, {.header = false, .alive = false, .levels = false}));
}

void Insets::draw(PageFrame& frame, std::pair<int, int> place, const lessons::FigureBlock& block) {
  gap(8);
  const float width = content_rect(0).width();
  Rect all = take(kTitle + width * kShape / look().scale);
  Inset& inset = insets_[place];
  const Rect title = all.cut_top(px(kTitle));
  lay_out(frame, inset, block, all.width(), all.height());
  text_in(Face::kMedium, 12, title, theme().text3, inset.title);
  if (!inset.empty_reason.empty()) {
    empty_state(all, "Nothing to show yet", inset.empty_reason, "");
  } else {
    canvas()->PushClipRect(upper_left(all), lower_right(all), true);
    paint_scene(*canvas(), inset.scene, upper_left(all));
    canvas()->PopClipRect();
    const std::string id = "inset " + std::to_string(place.first) + " " + std::to_string(place.second);
    const Hit over = hit(id.c_str(), all);
    if (over.focused) focus_ring(all, 4);
    if (over.clicked) page::show_figure(frame.page, block);
  }
  gap(10);
}

}  // namespace headroom::app::window
