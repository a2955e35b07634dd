#include "app/paint/files/export.h"

#include <algorithm>
#include <cmath>

#include "app/paint/files/writers.h"
#include "app/paint/layout/layout.h"
#include "app/paint/scene/fonts.h"

namespace headroom::app::paint {
namespace {

// In figures of bars or lanes alone, each adds a fixed height; other figures have about a screen's shape.
float height_for(const lessons::FigureData& figure, const ExportOptions& options) {
  if (const auto* bars = lessons::panel_of<lessons::Bars>(figure))
    return 116 + 40 * static_cast<float>(bars->bars.size());
  const auto* lanes = lessons::panel_of<lessons::Lanes>(figure);
  if (lanes != nullptr && figure.panels.size() == 1) return 150 + 92 * static_cast<float>(lanes->lanes.size());
  const bool many = lessons::panels_of<lessons::Chart>(figure.panels).size() > 3;
  const float share = many || lanes != nullptr ? 0.68f : 0.5625f;  // rows of charts or lanes need more height
  // Table rows and stacked charts keep their height in narrow pictures.
  constexpr float kUsualWidth = 900, kLeast = 280;
  const float least = figure.panels.size() > 1 ? kUsualWidth * share : kLeast;
  return std::round(std::clamp(options.width * share, least, 1200.0f));
}

Scene scene_of(const lessons::FigureData& figure, const ExportOptions& options, const TextMeasure& measure, float scale,
               bool whole_pixels) {
  Frame frame;
  frame.width = std::round(options.width) * scale;
  frame.height = height_for(figure, options) * scale;
  frame.scale = scale;
  frame.palette = options.palette;
  frame.compact = options.width < 900;
  frame.whole_pixels = whole_pixels;
  frame.measure = &measure;
  return layout(figure, frame);
}

#ifdef HEADROOM_WITH_CAIRO
constexpr bool kHasCairo = true;

record::Result<std::string> drawn_by_cairo(const lessons::FigureData& figure, Format format,
                                           const ExportOptions& options, const TextMeasure& measure) {
  const FileFacts facts{provenance_json(figure), options.assets};
  if (format == Format::kPdf) return to_pdf(scene_of(figure, options, measure, 1, false), facts);
  constexpr float kPixelsPerPx = 2;  // sharp in print and on fine screens
  return to_png(scene_of(figure, options, measure, kPixelsPerPx, true), facts);
}
#else
constexpr bool kHasCairo = false;

record::Result<std::string> drawn_by_cairo(const lessons::FigureData&, Format, const ExportOptions&,
                                           const TextMeasure&) {
  return record::Error{"This build cannot write PDF or PNG: build with cairo and pango, or use SVG.",
                       record::ErrorKind::kRefused};
}
#endif

}  // namespace

bool can_write(Format format) { return kHasCairo || (format != Format::kPdf && format != Format::kPng); }

record::Result<std::string> render(const lessons::FigureData& figure, Format format, const ExportOptions& options) {
  if (format == Format::kCsv) return to_csv(figure);
  if (format == Format::kJson) return to_json(figure);
  const auto measure = FontWidths::load(options.assets);
  if (!measure) return measure.error();
  if (format == Format::kSvg) {
    return to_svg(scene_of(figure, options, measure.value(), 1, false), provenance_json(figure));
  }
  return drawn_by_cairo(figure, format, options, measure.value());
}

}  // namespace headroom::app::paint
