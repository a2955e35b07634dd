// Renders page text.
#include "app/window/draw/markdown.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/paint/scene/fonts.h"
#include "app/window/draw/controls.h"
#include "imgui_rich_md/rich_md.h"

namespace headroom::app::window {

namespace {

constexpr float kRegularSize = 16;  // the library's regular size, scaled to ours at each render

// Maps the library's faces to ours. We have no italics: emphasis is weight.
RichMd::AssetBytes read_face(const std::filesystem::path& fonts, const std::string& asked) {
  Face face = Face::kRegular;
  if (asked.find("Bold") != std::string::npos)
    face = Face::kSemiBold;
  else if (asked.find("Inconsolata") != std::string::npos)
    face = Face::kMono;
  else if (asked.find("Roboto") == std::string::npos)
    return RichMd::ReadAssetDefault(asked);
  std::ifstream file(fonts / paint::facts_of(face).file, std::ios::binary);
  if (!file) return std::nullopt;
  return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(file), {});
}

// Snaps formulas to whole pixels: textures in their drawn size look pale between pixels.
void snap_images(ImDrawList& list, int first_command) {
  const ImTextureRef text = ImGui::GetIO().Fonts->TexRef;
  for (int c = first_command; c < list.CmdBuffer.Size; ++c) {
    const ImDrawCmd& command = list.CmdBuffer[c];
    if (command.TexRef._TexData == text._TexData && command.TexRef._TexID == text._TexID) continue;
    for (unsigned i = 0; i + 6 <= command.ElemCount; i += 6) {  // two triangles of four consecutive vertices
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

// Each line of a wrapped link has a name, for the keyboard and for tests.
std::string name_of_link(int link, int lines_above) {
  return lines_above == 0 ? fmt::format("link {}", link) : fmt::format("link {} line {}", link, lines_above + 1);
}

void draw_link(const Rect& at, const Hit& state) {
  fill(at.inset(-px(2), 0), faded(theme().ink, state.held ? 0.2f : state.hovered ? 0.12f : 0.05f), 3);
  horizontal_line(at.x0, at.x1, std::round(at.y0 + at.height() * 0.97f), theme().ink, 1.5f);
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
  options.callbacks.OnOpenLink = [](const std::string&) {};  // page links are already tags
  options.callbacks.OnHtmlSpan = [this](const std::string& tag, bool opening) { return on_tag(tag, opening); };
  RichMd::CreateContext(options);

  // The library passes the line box's height as a formula's em, a fifth too large. 1.12 matches the x-heights of Inter
  // and Latin Modern.
  services = RichMd::GetHostServices();
  services.RenderLatex = [render = services.RenderLatex](const std::string& formula, float size, ImU32 color,
                                                         bool display) {
    return render(formula, std::round(size / paint::line_of(Face::kRegular) * 1.12f), color, display);
  };
  RichMd::SetHostServices(services);
}

Markdown::~Markdown() { RichMd::DestroyContext(); }

const lessons::Act* Markdown::render(const lessons::MarkedText& text, float em, float line,
                                     std::optional<record::Category> lit, const ActWords& acts) {
  rendered_ = &text;
  acts_ = &acts;
  last_y_ = -1;
  lit_ = lit;
  em_ = em;
  act_lines_.clear();
  on_term_ = false;
  render(text.markdown, em, line);
  if (on_term_) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);  // overrides the library's cursor
  const lessons::Act* const clicked = draw_acts();
  rendered_ = nullptr;
  return clicked;
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
  const int first_command = list.CmdBuffer.Size - 1;  // the current command, perhaps empty
  RichMd::RenderRaw(text);
  snap_images(list, first_command);
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

bool Markdown::on_tag(const std::string& tag, bool opening) {
  constexpr std::string_view kTerm = "term-", kAct = "act-";
  const bool term = tag.starts_with(kTerm);
  if (rendered_ == nullptr || (!term && !tag.starts_with(kAct))) return false;
  std::size_t index = 0;
  std::from_chars(tag.data() + (term ? kTerm : kAct).size(), tag.data() + tag.size(), index);
  if (index >= (term ? rendered_->terms.size() : rendered_->acts.size())) return false;
  if (opening) {
    const Face face = term || acts_->why_not(rendered_->acts[index]).empty() ? Face::kMedium : Face::kRegular;
    ImGui::PushFont(font_of(face), font_size(face, em_));
    return true;
  }
  ImGui::PopFont();
  term ? end_term(index) : end_act_word(index);
  return true;
}

// Expects the word to be ImGui's last item.
void Markdown::end_act_word(std::size_t index) {
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  ActLine* const last = act_lines_.empty() ? nullptr : &act_lines_.back();
  if (last != nullptr && last->act == index && last->from.y == from.y)
    last->to = to;
  else
    act_lines_.push_back({index, from, to});
}

const lessons::Act* Markdown::draw_acts() {
  const lessons::Act* clicked = nullptr;
  if (act_lines_.empty()) return clicked;
  const ImVec2 below = ImGui::GetCursorScreenPos();
  bool ring = false;
  int goes_on = 0;  // number of this link's lines above
  for (std::size_t i = 0; i < act_lines_.size(); ++i) {
    const ActLine& line = act_lines_[i];
    const lessons::Act& act = rendered_->acts[line.act];
    goes_on = i > 0 && act_lines_[i - 1].act == line.act ? goes_on + 1 : 0;
    if (goes_on == 0) ++links_;
    const Rect at{line.from.x, line.from.y, line.to.x, line.to.y};
    const std::string why = acts_->why_not(act);
    const bool over = window::pointed(at);
    if (over && why.empty()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (over && why.empty()) pointed_act_ = act;
    if (over) tooltip(why.empty() ? acts_->in_words(act) : why);
    if (const auto kind = lessons::category_of_term(act.view.highlight); over && kind) pointed_at_ = kind;
    if (!why.empty()) continue;
    ImGui::PushItemFlag(ImGuiItemFlags_NoNav, goes_on > 0);
    const Hit state = hit(name_of_link(links_, goes_on).c_str(), at);
    ImGui::PopItemFlag();
    if (state.clicked) clicked = &act;
    ring = goes_on == 0 ? state.focused : ring;
    draw_link(at, state);
    if (ring) focus_ring(at, 3);
  }
  ImGui::SetCursorScreenPos(below);
  ImGui::Dummy({0, 0});  // moves the cursor back below the words
  return clicked;
}

// Expects the word to be ImGui's last item.
void Markdown::end_term(std::size_t index) {
  const std::string& key = rendered_->terms[index];
  ImVec2 from = ImGui::GetItemRectMin();
  const ImVec2 to = ImGui::GetItemRectMax();
  const float y = std::round(from.y + (to.y - from.y) * 0.97f);
  // Underlines continue between a term's words.
  if (index == last_term_ && y == last_y_) from.x = last_x_;
  last_term_ = index;
  last_x_ = to.x;
  last_y_ = y;
  const auto category = lessons::category_of_term(key);
  const bool pointed = ImGui::IsMouseHoveringRect(from, {to.x, y + px(4)}) && ImGui::IsWindowHovered();
  if (category) {
    const Color color = theme().of(*category).fill;
    if (pointed || lit_ == category) fill({from.x - px(2), from.y, to.x + px(2), y}, faded(color, 0.22f), 3);
    canvas()->AddRectFilled({from.x, y}, {to.x, y + std::max(1.0f, px(2.5f))}, as_u32(color));
  } else {
    for (float x = from.x; x < to.x; x += px(4))
      canvas()->AddRectFilled({x, y}, {std::min(x + px(2), to.x), y + line_px(1)}, as_u32(theme().control));
  }
  if (!pointed) return;
  if (category) pointed_at_ = category;
  const auto entry = glossary_.find(key);
  if (entry == glossary_.end() || !ImGui::IsMouseHoveringRect(from, to)) return;
  on_term_ = true;
  tooltip(entry->second.text + "\nClick: the glossary, and the pages that use it");
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) clicked_term_ = key;
}

}  // namespace headroom::app::window
