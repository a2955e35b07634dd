// Faces of assets/fonts and their text widths, parsed without a font library so that every build computes the same
// layout.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "app/paint/layout/layout.h"
#include "demos/record/result.h"

namespace headroom::app::paint {

struct FaceFacts {
  std::string_view file;    // in assets/fonts
  std::string_view family;  // "Inter"
  int weight = 400;         // as in CSS
  float digit_em = 0;       // digit width with OpenType's tnum; 0 if digits are equally wide anyway
};
const FaceFacts& facts_of(Face face);

// Uses the fonts' cmap and hmtx tables, without kerning.
class FontWidths final : public TextMeasure {
 public:
  // `assets`: the folder that contains fonts/. The error names the unreadable file.
  static record::Result<FontWidths> load(const std::filesystem::path& assets);

  float width(Face face, float em, std::string_view text) const override;

 private:
  std::array<std::unordered_map<char32_t, float>, kNumFaces> advances_;  // em
};

}  // namespace headroom::app::paint
