// Figures among the words: small, not interactive, laid out only when their content changes.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "app/paint/scene/scene.h"
#include "app/window/draw/theme.h"
#include "app/window/views/page_frame.h"
#include "lessons/pages/blocks/figure.h"

namespace headroom::app::window {

class Insets {
 public:
  // Takes room from the column. `place`: step and part of the page. A click shows the figure at full size.
  void draw(PageFrame& frame, std::pair<int, int> place, const lessons::FigureBlock& block);

 private:
  struct Inset {
    int revision = -1;
    float width = 0, scale = 0;
    ThemeId theme{};
    paint::Scene scene;
    std::string title, empty_reason;
  };
  void lay_out(PageFrame& frame, Inset& inset, const lessons::FigureBlock& block, float width, float height);

  std::map<std::pair<int, int>, Inset> insets_;
};

}  // namespace headroom::app::window
