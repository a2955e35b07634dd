// A figure as the bytes of a file, headless. The same figure, options and libraries give the same bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/paint/palette.h"
#include "demos/record/result.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

enum class Format : std::uint8_t { kSvg, kPdf, kPng, kCsv, kJson };

struct ExportOptions {
  std::filesystem::path assets;  // the folder that has fonts/; needed for SVG, PDF and PNG
  float width = 960;             // px (1/96 inch)
  std::optional<float> height;   // px; else in proportion to the width and to what the figure holds
  const Palette* palette = &kLight;
  int png_scale = 2;  // pixels of a PNG for each px
};

// False for PDF and PNG in a build without cairo.
bool can_write(Format format);

record::Result<std::string> render(const lessons::FigureData& figure, Format format, const ExportOptions& options);

}  // namespace headroom::app::paint
