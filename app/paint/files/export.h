// A figure as the bytes of a file, headless. The same figure, options and libraries give the same bytes.
#pragma once

#include <filesystem>
#include <string>

#include "app/paint/scene/palette.h"
#include "demos/record/result.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

enum class Format : std::uint8_t { kSvg, kPdf, kPng, kCsv, kJson };

struct ExportOptions {
  std::filesystem::path assets;  // the folder that has fonts/; needed for SVG, PDF and PNG
  float width = 960;             // px (1/96 inch); the height follows from it and from what the figure holds
  const Palette* palette = &kLight;
};

// False for PDF and PNG in a build without cairo.
bool can_write(Format format);

record::Result<std::string> render(const lessons::FigureData& figure, Format format, const ExportOptions& options);

}  // namespace headroom::app::paint
