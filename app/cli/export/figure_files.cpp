// Writes figures to files.
#include "app/cli/export/figure_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/assets.h"
#include "app/common/whole_file.h"
#include "demos/record/file/split.h"
#include "demos/record/text.h"
#include "headroom_build.h"

namespace headroom::app {

namespace fs = std::filesystem;
using nlohmann::json;
using record::Error;
using record::ErrorKind;

namespace {

struct FormatName {
  paint::Format format;
  std::string_view name;  // also the extension
};
constexpr FormatName kFormats[] = {{paint::Format::kSvg, "svg"},
                                   {paint::Format::kPdf, "pdf"},
                                   {paint::Format::kPng, "png"},
                                   {paint::Format::kCsv, "csv"},
                                   {paint::Format::kJson, "json"}};

std::string_view name_of(paint::Format format) {
  return std::ranges::find(kFormats, format, &FormatName::format)->name;
}

// "svg,pdf" → SVG and PDF; duplicates are dropped.
record::Result<std::vector<paint::Format>> parse_formats(std::string_view list) {
  std::vector<paint::Format> formats;
  for (const std::string& name : record::split(list, ',')) {
    const auto* const found = std::ranges::find(kFormats, name, &FormatName::name);
    if (found == std::end(kFormats))
      return Error{fmt::format("--format has no {}: use svg, pdf, png, csv or json, separated by commas.",
                               record::quoted(name))};
    if (!paint::can_write(found->format))
      return Error{
          fmt::format("This build cannot write {}: build it with cairo and pango, or use --format svg.", name)};
    if (std::ranges::find(formats, found->format) == formats.end()) formats.push_back(found->format);
  }
  return formats;
}

struct ThemeName {
  std::string_view name;
  const paint::Palette* palette;
};
constexpr std::array<ThemeName, 3> kThemes{
    {{"light", &paint::kLight}, {"dark", &paint::kDark}, {"print", &paint::kPrint}}};

constexpr double kPixelsPerInch = 96;  // CSS and SVG
constexpr double kMinWidth = 240, kMaxWidth = 8192;

// paper: A4 between margins of 20 mm. slide: text of 13 px becomes 27 px on a slide of 1920 px.
struct SizeName {
  std::string_view name, width;
};
constexpr std::array<SizeName, 2> kSizes{{{"paper", "170mm"}, {"slide", "900"}}};

// "900", "900px", "3.33in", "85mm" → pixels.
record::Result<float> parse_width(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  double pixels = std::nan("");
  if (parsed.ec == std::errc{} && (unit.empty() || unit == "px"))
    pixels = value;
  else if (parsed.ec == std::errc{} && unit == "in")
    pixels = value * kPixelsPerInch;
  else if (parsed.ec == std::errc{} && unit == "mm")
    pixels = value * kPixelsPerInch / 25.4;
  if (!(pixels >= kMinWidth && pixels <= kMaxWidth))
    return Error{
        fmt::format("--width {}: use {:.0f} to {:.0f} pixels or the same in inches or millimeters, such as 900, "
                    "6.75in or 170mm.",
                    record::quoted(text), kMinWidth, kMaxWidth)};
  return static_cast<float>(pixels);
}

// A recording's name is a file name, so the result is a single path component.
std::string file_name(const std::string& stem, std::string_view theme, std::string_view extension) {
  const std::string suffix = theme == kThemes.front().name ? "" : fmt::format("__{}", theme);
  return fmt::format("{}{}.{}", stem, suffix, extension);
}

}  // namespace

record::Result<FileStyle> file_style(const FileOptions& options) {
  if (options.out.empty()) return Error{"Name the folder for the figures: --out FOLDER."};
  auto formats = parse_formats(options.format);
  if (!formats) return formats.error();
  const auto theme = std::ranges::find(kThemes, options.theme, &ThemeName::name);
  if (theme == kThemes.end())
    return Error{fmt::format("--theme {}: use light, dark or print.", record::quoted(options.theme))};
  FileStyle style{options.out, std::move(formats).value(), {}, options.theme};
  const auto assets = find_assets();
  if (!assets) return assets.error();
  style.options.assets = assets.value();
  style.options.palette = theme->palette;
  if (options.width && options.size) return Error{"--size already sets the width: remove --width."};
  std::optional<std::string> wanted = options.width;
  if (options.size) {
    const auto size = std::ranges::find(kSizes, *options.size, &SizeName::name);
    if (size == kSizes.end())
      return Error{fmt::format("--size {}: use paper or slide.", record::quoted(*options.size))};
    wanted = size->width;
  }
  if (wanted) {
    auto width = parse_width(*wanted);
    if (!width) return width.error();
    style.options.width = width.value();
  }
  return style;
}

record::Result<FigureFiles> FigureFiles::open(FileStyle style) {
  std::error_code failed;
  fs::create_directories(style.folder, failed);
  if (!failed && access(style.folder.c_str(), W_OK | X_OK) != 0) failed = {errno, std::generic_category()};
  if (failed)
    return Error{fmt::format("The folder {} cannot be written ({}): choose another one with --out.",
                             style.folder.string(), failed.message()),
                 ErrorKind::kNotWritten};
  return FigureFiles(std::move(style));
}

record::Status FigureFiles::write(const lessons::FigureData& figure, const std::string& recording,
                                  const std::string& prefix) {
  const std::string stem = fmt::format("{}{}__{}", prefix, figure.head.id, recording);
  for (const paint::Format format : style_.formats) {
    const auto bytes = paint::render(figure, format, style_.options);
    if (!bytes) return bytes.error();
    const std::string name = file_name(stem, style_.theme, name_of(format));
    if (auto written = write_whole(style_.folder / name, bytes.value()); !written) return written.error();
    entries_.push_back({name, figure.head.id, figure.head.title, recording, std::string(name_of(format)),
                        figure.head.source, bytes.value().size()});
  }
  return record::Ok{};
}

std::string FigureFiles::manifest(bool with_folder) const {
  json files = json::array();
  for (const Entry& entry : entries_)
    files.push_back({{"file", entry.file},
                     {"figure", entry.figure},
                     {"title", entry.title},
                     {"recording", entry.recording},
                     {"format", entry.format},
                     {"source", record::key_of(entry.source)},
                     {"bytes", entry.bytes}});
  json document = {{"program", fmt::format("headroom {}", build::kVersion)},
                   {"revision", build::revision()},
                   {"files", std::move(files)}};
  if (with_folder) document["folder"] = style_.folder.string();
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

record::Status FigureFiles::write_manifest() const {
  return write_whole(style_.folder / "manifest.json", manifest(false));
}

std::string FigureFiles::as_json() const { return manifest(true); }

std::string FigureFiles::as_text() const {
  std::string text;
  for (const Entry& entry : entries_) text += (style_.folder / entry.file).string() + "\n";
  return text;
}

}  // namespace headroom::app
