// Writes a figure's numbers, or a scene, as the bytes of a file.
#pragma once

#include <filesystem>
#include <string>

#include "app/paint/scene/scene.h"
#include "demos/record/result.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

// The figure's provenance as one JSON document in ASCII, embedded in SVG, PDF and PNG.
std::string provenance_json(const lessons::FigureData& figure);

// CSV with units in the header: lines of `# key: value`, then one table per panel. Neighboring panels with the same
// columns share a table; an empty line separates tables.
std::string to_csv(const lessons::FigureData& figure);
// JSON without the layout.
std::string to_json(const lessons::FigureData& figure);

// SVG with real text. `metadata`: one JSON document. Equal scenes give equal bytes.
std::string to_svg(const Scene& scene, const std::string& metadata);
// Input of to_pdf() and to_png(). PDF has real text. A private font configuration keeps system fonts and settings out.
struct FileFacts {
  std::string metadata;  // one JSON document in ASCII
  std::filesystem::path assets;
};

// A PDF page of the scene's size; a px is 1/96 inch.
record::Result<std::string> to_pdf(const Scene& scene, const FileFacts& facts);
// A PNG with the metadata in a tEXt chunk "Headroom".
record::Result<std::string> to_png(const Scene& scene, const FileFacts& facts);

}  // namespace headroom::app::paint
