// Paints a scene as PDF with real text, or as PNG. A private font configuration keeps system fonts and settings out.
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

// A PDF page of the scene's size; a px is 1/96 inch.
record::Result<std::string> to_pdf(const Scene& scene, const FileFacts& facts);
// A PNG with the metadata in a tEXt chunk "Headroom".
record::Result<std::string> to_png(const Scene& scene, const FileFacts& facts);

}  // namespace headroom::app::paint
