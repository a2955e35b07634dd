#include "app/paint/scene/fonts.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/format.h>
#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include "imstb_truetype.h"

namespace headroom::app::paint {

// stb_truetype reads offsets without checking them, so it may read only the shipped fonts. It supports no OpenType
// features, so the width of digits with tnum is in FaceFacts.
struct FontWidths::Font {
  std::string bytes;
  stbtt_fontinfo info{};
  float units = 0;  // font units per em

  // False if the file is no font with digits.
  bool open() {
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    constexpr std::size_t kHeader = 12;
    const int offset = bytes.size() < kHeader ? -1 : stbtt_GetFontOffsetForIndex(data, 0);
    if (offset < 0 || stbtt_InitFont(&info, data, offset) == 0) return false;
    units = std::round(1 / stbtt_ScaleForMappingEmToPixels(&info, 1));
    return stbtt_FindGlyphIndex(&info, '0') != 0;
  }

  float width(char32_t character) const {
    constexpr float kUnknown = 0.6f;
    const int glyph = stbtt_FindGlyphIndex(&info, static_cast<int>(character));
    int advance = 0, bearing = 0;
    stbtt_GetGlyphHMetrics(&info, glyph, &advance, &bearing);
    return glyph == 0 ? kUnknown : static_cast<float>(advance) / units;
  }
};

namespace {

// Empty if the file cannot be read.
std::string contents(const std::filesystem::path& path) {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(path, missing);
  std::string bytes(missing ? 0 : size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) bytes.clear();
  return bytes;
}

// Decodes UTF-8. An invalid byte is returned as it is.
char32_t next_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(at++);
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
  char32_t character = more == 3 ? first & 0x07 : more == 2 ? first & 0x0F : more == 1 ? first & 0x1F : first;
  for (int i = 0; i < more && (byte(at) & 0xC0) == 0x80; ++i) character = character << 6 | (byte(at++) & 0x3F);
  return character;
}

}  // namespace

const FaceFacts& facts_of(Face face) {
  static constexpr std::array<FaceFacts, kNumFaces> kFacts{{
      {"Inter-Regular.otf", "Inter", 400, 1824 / 2816.0f},
      {"Inter-Medium.otf", "Inter", 500, 1856 / 2816.0f},
      {"Inter-SemiBold.otf", "Inter", 600, 1888 / 2816.0f},
      {"InterDisplay-SemiBold.otf", "Inter Display", 600, 0.623f},
      {"JetBrainsMono-Regular.ttf", "JetBrains Mono", 400, 0},
  }};
  return kFacts.at(static_cast<std::size_t>(face));
}

record::Result<FontWidths> FontWidths::load(const std::filesystem::path& assets) {
  FontWidths widths;
  for (int i = 0; i < kNumFaces; ++i) {
    const std::filesystem::path path = assets / "fonts" / facts_of(static_cast<Face>(i)).file;
    const auto font = std::make_shared<Font>(Font{.bytes = contents(path)});
    if (!font->open())
      return record::Error{fmt::format("The font {} cannot be read: restore the folder assets/fonts.", path.string())};
    widths.fonts_[static_cast<std::size_t>(i)] = font;
  }
  return widths;
}

float FontWidths::width(Face face, float em, std::string_view text) const {
  const Font& font = *fonts_[static_cast<std::size_t>(face)];
  const float digit = facts_of(face).digit_em;
  float sum = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    sum += digit > 0 && c >= U'0' && c <= U'9' ? digit : font.width(c);
  }
  return sum * em;
}

}  // namespace headroom::app::paint
