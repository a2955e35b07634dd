// The faces of the interface and their sizes. All code asks for em px; ImGui counts in line boxes, and only here is one
// turned into the other.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "app/paint/layout/layout.h"
#include "demos/record/result.h"
#include "imgui.h"

namespace headroom::app::window {

using paint::Face;

// Loads the faces from a folder of fonts into the current ImGui context. Digits of every face but the mono get one
// width, so that numbers align in columns. An error names the file that is missing.
record::Status load_faces(const std::filesystem::path& fonts);

// File of a face inside assets/fonts.
std::string_view file_of(Face face);

ImFont* font_of(Face face);
// ImGui's size for text of `em` px at scale 1, at the current scale.
float font_size(Face face, float em);
// Height of a line of text (ascent and descent).
inline float line_height(Face face, float em) { return font_size(face, em); }

ImVec2 text_size(Face face, float em, std::string_view text);
inline float text_width(Face face, float em, std::string_view text) { return text_size(face, em, text).x; }
// Widths for the figure's layout, from the same glyphs that will be drawn. Its em are device px.
class AtlasMeasure final : public paint::TextMeasure {
 public:
  float width(Face face, float em, std::string_view text) const override;
};
// ImGui's size for `em` device px, as the painter of figures uses it.
float device_font_size(Face face, float em);

// The text, cut with "…" so that it is at most `width` wide.
std::string shortened(Face face, float em, std::string_view text, float width);

}  // namespace headroom::app::window
