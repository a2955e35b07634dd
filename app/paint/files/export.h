// Renders a figure to a file's bytes, without a window. Equal inputs and libraries give equal bytes.
#pragma once

#include <filesystem>
#include <string>

#include "app/paint/scene/palette.h"
#include "demos/record/result.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

enum class Format : std::uint8_t { kSvg, kPdf, kPng, kCsv, kJson };

struct ExportOptions {
  std::filesystem::path assets;  // contains fonts/; needed for SVG, PDF and PNG
  float width = 960;             // px (1/96 inch); also determines the height
  const Palette* palette = &kLight;
};

// False for PDF and PNG in a build without cairo.
bool can_write(Format format);

record::Result<std::string> render(const lessons::FigureData& figure, Format format, const ExportOptions& options);

}  // namespace headroom::app::paint
