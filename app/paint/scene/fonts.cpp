#include "app/paint/scene/fonts.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace headroom::app::paint {
namespace {

// OpenType tables (ISO/IEC 14496-22, big-endian). Reads past the end return 0; malformed tables yield no glyphs.
class OpenType {
 public:
  explicit OpenType(std::string_view bytes) : bytes_(bytes) {}

  // Advance in em per mapped character; empty if this is no font.
  std::unordered_map<char32_t, float> advances() const {
    std::unordered_map<char32_t, float> result;
    const std::size_t head = table("head"), hhea = table("hhea"), hmtx = table("hmtx"), cmap = table("cmap");
    if (head == 0 || hhea == 0 || hmtx == 0 || cmap == 0) return result;
    const float units = static_cast<float>(u16(head + 18));
    const std::uint32_t metrics = u16(hhea + 34);  // later glyphs share the last advance
    if (units <= 0 || metrics == 0) return result;
    const auto add = [&](char32_t character, std::uint32_t glyph) {
      if (glyph != 0) result[character] = static_cast<float>(u16(hmtx + 4 * std::min(glyph, metrics - 1))) / units;
    };
    const std::uint32_t count = u16(cmap + 2);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t subtable = cmap + u32(cmap + 4 + 8 * i + 4);
      if (u16(subtable) == 4) segments(subtable, add);
      if (u16(subtable) == 12) groups(subtable, add);
    }
    return result;
  }

 private:
  std::uint32_t byte(std::size_t at) const { return at < bytes_.size() ? static_cast<unsigned char>(bytes_[at]) : 0; }
  std::uint32_t u16(std::size_t at) const { return byte(at) << 8 | byte(at + 1); }
  std::uint32_t u32(std::size_t at) const { return u16(at) << 16 | u16(at + 2); }

  // Offset of a table; 0 if missing.
  std::size_t table(const char* tag) const {
    const std::uint32_t count = u16(4);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t entry = 12 + std::size_t{16} * i;
      if (entry + 16 <= bytes_.size() && std::memcmp(bytes_.data() + entry, tag, 4) == 0) return u32(entry + 8);
    }
    return 0;
  }

  template <class Add>
  void segments(std::size_t at, Add add) const {  // cmap format 4: basic plane
    const std::size_t doubled = u16(at + 6), ends = at + 14, starts = ends + doubled + 2, deltas = starts + doubled,
                      offsets = deltas + doubled;
    for (std::size_t s = 0; s < doubled; s += 2) {
      const std::uint32_t first = u16(starts + s), last = u16(ends + s), offset = u16(offsets + s);
      for (std::uint32_t c = first; c <= last && c != 0xFFFF; ++c) {
        std::uint32_t glyph = offset == 0 ? c : u16(offsets + s + offset + std::size_t{2} * (c - first));
        if (offset == 0 || glyph != 0) glyph = (glyph + u16(deltas + s)) & 0xFFFF;
        add(c, glyph);
      }
    }
  }

  template <class Add>
  void groups(std::size_t at, Add add) const {  // cmap format 12: all planes
    const std::uint32_t count = std::min<std::uint32_t>(u32(at + 12), static_cast<std::uint32_t>(bytes_.size() / 12));
    for (std::uint32_t g = 0; g < count; ++g) {
      const std::size_t entry = at + 16 + std::size_t{12} * g;
      const std::uint32_t first = u32(entry), last = std::min<std::uint32_t>(u32(entry + 4), 0x10FFFF);
      for (std::uint32_t c = first; c <= last; ++c) add(c, u32(entry + 8) + (c - first));
    }
  }

  std::string_view bytes_;
};

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
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    auto& advances = widths.advances_[static_cast<std::size_t>(i)];
    advances = OpenType(bytes).advances();
    if (advances.find(U'0') == advances.end()) {
      return record::Error{fmt::format("The font {} cannot be read: put the folder assets/fonts back.", path.string())};
    }
  }
  return widths;
}

float FontWidths::width(Face face, float em, std::string_view text) const {
  const auto& advances = advances_[static_cast<std::size_t>(face)];
  const float digit = facts_of(face).digit_em;
  float sum = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    const auto found = advances.find(c);
    sum += digit > 0 && c >= U'0' && c <= U'9' ? digit : found == advances.end() ? 0.6f : found->second;
  }
  return sum * em;
}

}  // namespace headroom::app::paint
