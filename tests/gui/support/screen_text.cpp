// Finds each quad's glyph by its place in the font's texture.
#include "tests/gui/support/screen_text.h"

#include <array>
#include <cctype>
#include <cmath>
#include <map>

#include "imgui_internal.h"  // the baked fonts

namespace headroom::tests {

namespace {

struct Glyph {
  unsigned codepoint = 0;
  float top = 0, em = 0;  // px from the line's top to the glyph's top; font size
};

using Corners = std::array<float, 4>;  // in the texture

std::map<Corners, Glyph> glyphs_of_fonts() {
  std::map<Corners, Glyph> all;
  ImStableVector<ImFontBaked, 32>& fonts = ImGui::GetIO().Fonts->Builder->BakedPool;
  for (int i = 0; i < fonts.Size; ++i)
    for (const ImFontGlyph& glyph : fonts[i].Glyphs)
      if (glyph.Visible) all[{glyph.U0, glyph.V0, glyph.U1, glyph.V1}] = {glyph.Codepoint, glyph.Y0, fonts[i].Size};
  return all;
}

void append(std::string& text, unsigned codepoint) {
  std::array<char, 5> utf8{};
  ImTextCharToUtf8(utf8.data(), codepoint);
  text += utf8.data();
}

class Reader {
 public:
  void take(const Glyph& glyph, const ImDrawVert& from, const ImDrawVert& to) {
    const float line = from.pos.y - glyph.top;
    const float gap = from.pos.x - end_;
    const bool goes_on = !pieces_.empty() && std::abs(line - line_) < 2 && gap > -0.2f * glyph.em && gap < glyph.em;
    if (!goes_on)
      pieces_.emplace_back();
    else if (gap > 0.18f * glyph.em)
      pieces_.back() += ' ';
    append(pieces_.back(), glyph.codepoint);
    line_ = line;
    end_ = to.pos.x;
  }
  std::vector<std::string> pieces() && { return std::move(pieces_); }

 private:
  std::vector<std::string> pieces_;
  float line_ = 0, end_ = 0;
};

bool inside(const ImVec4& clip, const ImDrawVert& from, const ImDrawVert& to) {
  return (from.col & IM_COL32_A_MASK) != 0 && from.pos.x >= clip.x - 1 && to.pos.x <= clip.z + 1 &&
         from.pos.y >= clip.y - 1 && to.pos.y <= clip.w + 1;
}

}  // namespace

std::vector<std::string> read_screen() {
  const std::map<Corners, Glyph> glyphs = glyphs_of_fonts();
  Reader reader;
  for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists)
    for (const ImDrawCmd& command : list->CmdBuffer)
      for (unsigned i = 0; i + 6 <= command.ElemCount; i += 3) {  // a glyph is two triangles with four corners
        const ImDrawIdx* const corner = &list->IdxBuffer[static_cast<int>(command.IdxOffset + i)];
        if (corner[3] != corner[0] || corner[4] != corner[2] || corner[5] != corner[0] + 3) continue;
        const ImDrawVert* const vertex = &list->VtxBuffer[static_cast<int>(command.VtxOffset)];
        const ImDrawVert &from = vertex[corner[0]], &to = vertex[corner[2]];
        const auto glyph = glyphs.find({from.uv.x, from.uv.y, to.uv.x, to.uv.y});
        if (glyph == glyphs.end() || !inside(command.ClipRect, from, to)) continue;
        reader.take(glyph->second, from, to);
        i += 3;
      }
  return std::move(reader).pieces();
}

std::vector<std::string> numbers_in(const std::vector<std::string>& pieces) {
  std::vector<std::string> numbers;
  const auto digit = [](const std::string& text, std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  for (const std::string& text : pieces)
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!digit(text, i)) continue;
      std::string number;
      for (; digit(text, i) || (!number.empty() && (text[i] == ',' || text[i] == '.') && digit(text, i + 1)); ++i)
        if (text[i] != ',') number += text[i];
      numbers.push_back(std::move(number));
    }
  return numbers;
}

}  // namespace headroom::tests
