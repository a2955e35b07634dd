// The files of assets/fonts: which face is which, and how wide their text is. Read without a font library, so that the
// layout is the same in every build.
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
  float digit_em = 0;       // width of a digit with OpenType's tnum, as files have it; 0: all are equal anyway
};
const FaceFacts& facts_of(Face face);

// Widths from the fonts' own tables (cmap, hmtx), without kerning.
class FontWidths final : public TextMeasure {
 public:
  // `assets`: the folder that has fonts/. An error names the file that cannot be used.
  static record::Result<FontWidths> load(const std::filesystem::path& assets);

  float width(Face face, float em, std::string_view text) const override;

 private:
  std::array<std::unordered_map<char32_t, float>, kNumFaces> advances_;  // em
};

}  // namespace headroom::app::paint
