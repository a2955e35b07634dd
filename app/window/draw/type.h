// The interface's faces and sizes. Callers give sizes as the em in px, ImGui expects the line box's height; only this
// file converts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "app/paint/layout/layout.h"
#include "demos/record/result.h"
#include "imgui.h"

namespace headroom::app::window {

using paint::Face;

// Loads the faces into the current ImGui context. Each face gets digits of one width, so that columns of numbers
// align. An error names the missing file.
record::Status load_faces(const std::filesystem::path& fonts);

ImFont* font_of(Face face);
// ImGui's size for `em` px at the current scale.
float font_size(Face face, float em);
// Ascent plus descent.
inline float line_height(Face face, float em) { return font_size(face, em); }

ImVec2 text_size(Face face, float em, std::string_view text);
inline float text_width(Face face, float em, std::string_view text) { return text_size(face, em, text).x; }
// Text widths for figure layout, from the glyphs that are drawn. em is in device px.
class AtlasMeasure final : public paint::TextMeasure {
 public:
  float width(Face face, float em, std::string_view text) const override;
};
// ImGui's size for `em` device px, for figures.
float device_font_size(Face face, float em);

// Cuts the text with "…" to at most `width`.
std::string shortened(Face face, float em, std::string_view text, float width);

}  // namespace headroom::app::window
