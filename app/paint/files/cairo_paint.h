// Paints a scene through cairo and pango: PDF with text that stays text, and PNG. Fonts come from assets/fonts only,
// through our own font configuration, so that a system's fonts and settings change nothing.
#pragma once

#include <filesystem>
#include <string>

#include "app/paint/scene/scene.h"
#include "demos/record/result.h"

namespace headroom::app::paint {

struct FileFacts {
  std::string metadata;  // one JSON document in ASCII
  std::filesystem::path assets;
};

// Bytes of a PDF page of the scene's size; a px is 1/96 inch.
record::Result<std::string> to_pdf(const Scene& scene, const FileFacts& facts);
// Bytes of a PNG of the scene's size, with the metadata in a tEXt chunk "Headroom".
record::Result<std::string> to_png(const Scene& scene, const FileFacts& facts);

}  // namespace headroom::app::paint
