// Page text on screen.
#include "app/window/draw/markdown.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include "app/window/draw/controls.h"
#include "app/window/draw/draw.h"
#include "imgui_rich_md/rich_md.h"

namespace headroom::app::window {

namespace {

constexpr float kRegularSize = 16;  // what the library calls its regular size; scaled to ours at each render

// The faces under the names that the library asks for. It has no italics of ours: emphasis is weight.
RichMd::AssetBytes read_face(const std::filesystem::path& fonts, const std::string& asked) {
  Face face = Face::kRegular;
  if (asked.find("Bold") != std::string::npos)
    face = Face::kSemiBold;
  else if (asked.find("Inconsolata") != std::string::npos)
    face = Face::kMono;
  else if (asked.find("Roboto") == std::string::npos)
    return RichMd::ReadAssetDefault(asked);
  std::ifstream file(fonts / file_of(face), std::ios::binary);
  if (!file) return std::nullopt;
  return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(file), {});
}

// Formulas are textures, as large as they are drawn: between two pixels they would be pale.
void snap_images(ImDrawList& list, int first_command) {
  const ImTextureRef text = ImGui::GetIO().Fonts->TexRef;
  for (int c = first_command; c < list.CmdBuffer.Size; ++c) {
    const ImDrawCmd& command = list.CmdBuffer[c];
    if (command.TexRef._TexData == text._TexData && command.TexRef._TexID == text._TexID) continue;
    for (unsigned i = 0; i + 6 <= command.ElemCount; i += 6) {  // two triangles of four vertices in a row
      const int index = static_cast<int>(command.IdxOffset + i);
      ImDrawVert* const corners = &list.VtxBuffer[static_cast<int>(command.VtxOffset + list.IdxBuffer[index])];
      const ImVec2 off(std::round(corners->pos.x) - corners->pos.x, std::round(corners->pos.y) - corners->pos.y);
      for (int corner = 0; corner < 4; ++corner) {
        corners[corner].pos.x += off.x;
        corners[corner].pos.y += off.y;
      }
    }
  }
}

}  // namespace

Markdown::Markdown(std::filesystem::path fonts, lessons::Glossary glossary) : glossary_(std::move(glossary)) {
  RichMd::HostServices services;
  services.ReadAsset = [fonts = std::move(fonts)](const std::string& asked) { return read_face(fonts, asked); };
  RichMd::SetHostServices(services);
  RichMd::MarkdownOptions options;
  options.withLatex = true;
  options.autolinks = false;
  options.fontOptions.regularSize = kRegularSize;
  options.callbacks.OnOpenLink = [](const std::string&) {};  // pages link only to terms, which are tags by now
  options.callbacks.OnHtmlSpan = [this](const std::string& tag, bool opening) { return on_tag(tag, opening); };
  RichMd::CreateContext(options);

  // The library hands formulas the line box as their em, a fifth too large. 1.12: x-heights of Inter and Latin Modern
  // agree.
  services = RichMd::GetHostServices();
  services.RenderLatex = [render = services.RenderLatex](const std::string& formula, float size, ImU32 color,
                                                         bool display) {
    return render(formula, std::round(size / paint::line_of(Face::kRegular) * 1.12f), color, display);
  };
  RichMd::SetHostServices(services);
}

Markdown::~Markdown() { RichMd::DestroyContext(); }

void Markdown::render(const lessons::MarkedText& text, float em, float line, std::optional<record::Category> lit) {
  rendered_ = &text;
  last_y_ = -1;
  lit_ = lit;
  em_ = em;
  render(text.markdown, em, line);
  rendered_ = nullptr;
}

void Markdown::render(const std::string& text, float em, float line) {
  RichMd::Style& style = RichMd::GetStyle();
  style.linkColor = style.codeColor = as_vec4(theme().text);
  style.linkUnderline = style.linkUnderlineHovered = as_vec4(theme().control);
  style.errorColor = as_vec4(theme().danger);
  style.linkTooltip = false;
  style.blockGap = 0.45f;
  for (ImVec4& color : style.admonitionColors) color = as_vec4(theme().text);
  const float size = font_size(Face::kRegular, em);
  ImGui::PushFont(nullptr, ImGui::GetStyle().FontSizeBase * size / kRegularSize);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), std::round(px(em * line) - size)));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const int first_command = list.CmdBuffer.Size - 1;  // begun already, perhaps without a vertex
  RichMd::RenderRaw(text);
  snap_images(list, first_command);
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

bool Markdown::on_tag(const std::string& tag, bool opening) {
  constexpr std::string_view kTag = "term-";
  if (rendered_ == nullptr || !tag.starts_with(kTag)) return false;
  std::size_t index = 0;
  std::from_chars(tag.data() + kTag.size(), tag.data() + tag.size(), index);
  if (index >= rendered_->terms.size()) return false;
  if (opening)
    ImGui::PushFont(font_of(Face::kMedium), font_size(Face::kMedium, em_));
  else
    end_term(index);
  return true;
}

// The word just drawn is ImGui's last item.
void Markdown::end_term(std::size_t index) {
  const std::string& key = rendered_->terms[index];
  ImGui::PopFont();
  ImVec2 from = ImGui::GetItemRectMin();
  const ImVec2 to = ImGui::GetItemRectMax();
  const float y = std::round(from.y + (to.y - from.y) * 0.97f);
  // The line under a term does not stop between its words.
  if (index == last_term_ && y == last_y_) from.x = last_x_;
  last_term_ = index;
  last_x_ = to.x;
  last_y_ = y;
  const auto category = lessons::category_of_term(key);
  const bool pointed = ImGui::IsMouseHoveringRect(from, {to.x, y + px(4)}) && ImGui::IsWindowHovered();
  if (category) {
    const ImU32 color = theme().kind[static_cast<std::size_t>(*category)];
    if (pointed || lit_ == category) fill({from.x - px(2), from.y, to.x + px(2), y}, with_alpha(color, 0.22f), 3);
    canvas()->AddRectFilled({from.x, y}, {to.x, y + std::max(1.0f, px(2.5f))}, color);
  } else {
    for (float x = from.x; x < to.x; x += px(4))
      canvas()->AddRectFilled({x, y}, {std::min(x + px(2), to.x), y + line_px(1)}, theme().control);
  }
  if (!pointed) return;
  if (category) pointed_at_ = category;
  if (const auto entry = glossary_.find(key); entry != glossary_.end() && ImGui::IsMouseHoveringRect(from, to))
    tooltip(entry->second);
}

}  // namespace headroom::app::window
