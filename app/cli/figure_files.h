// Where figures go: one file per figure, recording and format, and a manifest of them all.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/paint/files/export.h"
#include "demos/record/result.h"
#include "lessons/figure.h"

namespace headroom::app {

// As the command line has it.
struct FileOptions {
  std::string out;
  std::string format = "svg";  // several with commas
  std::string theme = "light";
  std::optional<std::string> width, size;  // not both
};

// Formats, look and folder of all files of one command, checked.
struct FileStyle {
  std::filesystem::path folder;
  std::vector<paint::Format> formats;  // each once, in the order asked for
  paint::ExportOptions options;
  std::string theme;
};
record::Result<FileStyle> file_style(const FileOptions& options);

class FigureFiles {
 public:
  // Makes the folder; an error where it cannot be written.
  static record::Result<FigureFiles> open(FileStyle style);

  // <folder>/<prefix><figure>__<recording>.<format>, those of another theme than light …__<theme>.<format>; each is there whole or not at all.
  record::Status write(const lessons::FigureData& figure, const std::string& recording, const std::string& prefix = {});
  // <folder>/manifest.json: what was written, in order.
  record::Status write_manifest() const;

  std::string as_json() const;  // the manifest, with the folder
  std::string as_text() const;  // one path per line

 private:
  struct Entry {
    std::string file, figure, title, recording, format;
    record::Source source;
    std::size_t bytes;
  };

  std::string manifest(bool with_folder) const;

  explicit FigureFiles(FileStyle style) : style_(std::move(style)) {}

  FileStyle style_;
  std::vector<Entry> entries_;
};

}  // namespace headroom::app
