// Faces in assets/fonts and their text widths. Every build reads the same tables, so that all compute the same layout.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string_view>

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

// Sums of advances, without kerning.
class FontWidths final : public TextMeasure {
 public:
  // `assets` contains fonts/. The error names the unreadable file.
  static record::Result<FontWidths> load(const std::filesystem::path& assets);

  float width(Face face, float em, std::string_view text) const override;

 private:
  struct Font;
  std::array<std::shared_ptr<const Font>, kNumFaces> fonts_;  // shared by copies
};

}  // namespace headroom::app::paint
