// The interface's faces and sizes.
#include "app/window/draw/type.h"

#include <array>
#include <cfloat>
#include <cmath>

#include "app/paint/scene/fonts.h"
#include "app/window/draw/theme.h"

namespace headroom::app::window {

namespace {

// Width of the widest digit, in em; 0 for a monospaced face.
constexpr std::array<float, paint::kNumFaces> kDigitEm{0.642f, 0.654f, 0.667f, 0.623f, 0.0f};

// Faces belong to the current ImGui context; tests create several in a row.
std::array<ImFont*, paint::kNumFaces> loaded_faces{};

ImFont* load(const std::filesystem::path& path, Face face) {
  const float digit_em = kDigitEm[static_cast<std::size_t>(face)];
  // The rasterizer's own gray looks thin at 12 and 13 px.
  constexpr float kWeight = 1.15f;
  constexpr float kReferenceSize = 16.0f;
  static const ImWchar not_digits[] = {0x0001, 0x002F, 0x003A, 0x10FFFF, 0};
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  const std::string name = path.string();
  if (digit_em == 0) {
    ImFontConfig whole;
    whole.RasterizerMultiply = kWeight;
    return atlas->AddFontFromFileTTF(name.c_str(), kReferenceSize, &whole);
  }
  ImFontConfig digits;
  digits.GlyphExcludeRanges = not_digits;
  digits.RasterizerMultiply = kWeight;
  digits.GlyphMinAdvanceX = digits.GlyphMaxAdvanceX = digit_em * kReferenceSize / paint::line_of(face);
  ImFont* font = atlas->AddFontFromFileTTF(name.c_str(), kReferenceSize, &digits);
  ImFontConfig rest;
  rest.MergeMode = true;
  rest.RasterizerMultiply = kWeight;
  atlas->AddFontFromFileTTF(name.c_str(), kReferenceSize, &rest);
  return font;
}

}  // namespace

record::Status load_faces(const std::filesystem::path& fonts) {
  for (std::size_t i = 0; i < kDigitEm.size(); ++i) {
    const std::filesystem::path path = fonts / paint::facts_of(static_cast<Face>(i)).file;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      return record::Error{
          "The font " + path.string() +
          " is missing: assets/fonts in the source tree has it. Set HEADROOM_ASSETS to the path of assets."};
    loaded_faces[i] = load(path, static_cast<Face>(i));
  }
  return record::Ok{};
}

ImFont* font_of(Face face) { return loaded_faces[static_cast<std::size_t>(face)]; }

float device_font_size(Face face, float em) {
  // Quarters of a pixel: fewer sizes to rasterize, no visible step.
  return std::round(em * paint::line_of(face) * 4.0f) / 4.0f;
}

float font_size(Face face, float em) { return device_font_size(face, em * look().scale); }

float AtlasMeasure::width(Face face, float em, std::string_view text) const {
  if (text.empty()) return 0;
  return font_of(face)
      ->CalcTextSizeA(device_font_size(face, em), FLT_MAX, 0.0f, text.data(), text.data() + text.size())
      .x;
}

ImVec2 text_size(Face face, float em, std::string_view text) {
  if (text.empty()) return {0, font_size(face, em)};  // ImGui treats an empty view as zero-terminated
  return font_of(face)->CalcTextSizeA(font_size(face, em), FLT_MAX, 0.0f, text.data(), text.data() + text.size());
}

std::string shortened(Face face, float em, std::string_view text, float width) {
  std::string cut(text);
  if (text_width(face, em, cut) <= width) return cut;
  const auto is_continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  while (!cut.empty() && text_width(face, em, cut + "…") > width) {
    while (!cut.empty() && is_continuation(cut.back())) cut.pop_back();
    if (!cut.empty()) cut.pop_back();
  }
  while (!cut.empty() && (cut.back() == ' ' || cut.back() == ',')) cut.pop_back();
  return cut + "…";
}

}  // namespace headroom::app::window
