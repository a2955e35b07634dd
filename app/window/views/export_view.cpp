// Exports the current figure.
#include "app/window/views/views.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "app/common/whole_file.h"
#include "app/page/words/page_words.h"
#include "app/paint/files/export.h"
#include "app/window/draw/controls.h"

namespace headroom::app::window {

namespace fs = std::filesystem;

namespace {

struct FormatChoice {
  paint::Format format;
  const char* name;
  const char* ending;
};
constexpr std::array<FormatChoice, 5> kFormats{{{paint::Format::kSvg, "SVG", "svg"},
                                                {paint::Format::kPdf, "PDF", "pdf"},
                                                {paint::Format::kPng, "PNG", "png"},
                                                {paint::Format::kCsv, "CSV", "csv"},
                                                {paint::Format::kJson, "JSON", "json"}}};
constexpr int kExportColumns = 1000;

// Returns a sentence with the result.
std::string write_figure(PageFrame& frame) {
  const fs::path folder = frame.ui.exports.folder;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return fmt::format("The folder {} cannot be created: {}.", folder.string(), failed.message());
  const lessons::FigureData& figure = frame.page.figure(kExportColumns);
  if (!figure.head.empty_reason.empty()) return "There is no figure to write yet: press Run or show a stored run.";
  paint::ExportOptions options;
  options.assets = frame.ui.assets;
  std::string written;
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (!frame.ui.exports.formats[i]) continue;
    const auto bytes = paint::render(figure, kFormats[i].format, options);
    if (!bytes) return bytes.error().message;
    const std::string name = fmt::format("{}.{}", figure.head.id, kFormats[i].ending);
    const record::Status status = write_whole(folder / name, bytes.value());
    if (!status) return status.error().message;
    written += (written.empty() ? "" : ", ") + name;
  }
  if (written.empty()) return "Choose at least one format.";
  return fmt::format("Written to {}: {}.", fs::absolute(folder).string(), written);
}

void draw_formats(PageFrame& frame, Rect row) {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (!paint::can_write(kFormats[i].format)) continue;
    const ButtonText text{kFormats[i].name, frame.ui.exports.formats[i] ? Icon::kCheck : Icon::kNone};
    const float width = px(70);
    const Rect at{row.x0, row.y0, row.x0 + width, row.y1};
    if (button(kFormats[i].name, at, text)) frame.ui.exports.formats[i] = !frame.ui.exports.formats[i];
    row.x0 = at.x1 + px(8);
  }
}

}  // namespace

void draw_export(PageFrame& frame) {
  if (frame.ui.open.exports) {
    ImGui::OpenPopup("export page");
    frame.ui.exports.result.clear();
  }
  frame.ui.open.exports = false;
  constexpr float kPadding = 20;
  const float width = std::min(px(440), ImGui::GetMainViewport()->Size.x), inner_width = width - px(2 * kPadding);
  if (!begin_centered_popup("export page", width, kPadding, 16)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Rect inner{at.x, at.y, at.x + inner_width, at.y + px(1000)};
  text_in(Face::kSemiBold, 15, inner.cut_top(px(24)), theme().text, "Export this figure");
  inner.cut_top(px(6));
  inner.y0 = paragraph(Face::kRegular, 13, 1.5f, inner, theme().text2,
                       "Each file shows the current view and names its source. CSV and JSON contain the same numbers.");
  inner.cut_top(px(12));
  draw_formats(frame, inner.cut_top(px(32)));
  inner.cut_top(px(12));
  text_in(Face::kMedium, 12, inner.cut_top(px(20)), theme().text2, "Folder");
  text_field("folder", inner.cut_top(px(32)), frame.ui.exports.folder, "");
  inner.cut_top(px(12));
  const ButtonText write{"Write files", Icon::kExport};
  const Rect row = inner.cut_top(px(32));
  if (button("write", {row.x0, row.y0, row.x0 + button_width(write), row.y1}, write, ButtonKind::kPrimary))
    frame.ui.exports.result = write_figure(frame);
  if (const std::string command = page::as_command(frame.page); !command.empty()) {
    const ButtonText copy{"Copy as command", Icon::kNone, "", command};
    const float x = row.x0 + button_width(write) + px(8);
    if (button("copy command", {x, row.y0, x + button_width(copy), row.y1}, copy)) {
      ImGui::SetClipboardText(command.c_str());
      frame.ui.exports.result = "Copied: " + command;
    }
  }
  if (!frame.ui.exports.result.empty()) {
    inner.cut_top(px(8));
    inner.y0 = paragraph(Face::kRegular, 12, 1.5f, inner, theme().text2, frame.ui.exports.result);
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({inner_width, inner.y0 - at.y});
  end_popup();
}

}  // namespace headroom::app::window
