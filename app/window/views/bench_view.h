// The bench: settings, figure and verdict side by side, without words or a question.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/paint/scene/scene.h"
#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

class BenchView {
 public:
  void draw(PageFrame& frame, const Rect& rect);
  // Narrow windows: the column with card, verdict and switches.
  void draw_verdict_column(PageFrame& frame, const Rect& rect);

 private:
  struct Section {
    std::string_view title;
    std::vector<const record::ParamSpec*> specs;
  };
  struct MapFor {
    int revision = -1;
    ImVec2 size{};
    float scale = 0;
    ThemeId theme = ThemeId::kLight;

    bool operator==(const MapFor& o) const {
      return revision == o.revision && size.x == o.size.x && size.y == o.size.y && scale == o.scale && theme == o.theme;
    }
  };

  void draw_settings(PageFrame& frame, Rect rect);
  void take_sections(const PageFrame& frame, const Rect& column);
  void draw_sections(PageFrame& frame);
  void draw_figures(PageFrame& frame, const Rect& rect);
  void draw_map(PageFrame& frame, const Rect& rect);

  std::string filter_;
  std::vector<Section> sections_;  // stay while the mouse is in their column
  paint::Scene map_;
  MapFor map_for_;
};

}  // namespace headroom::app::window
