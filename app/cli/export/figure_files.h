// Writes one file per figure, recording and format, and a manifest.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/paint/files/export.h"
#include "demos/record/result.h"
#include "lessons/figure.h"

namespace headroom::app {

// Options as typed.
struct FileOptions {
  std::string out;
  std::string format = "svg";  // several, separated by commas
  std::string theme = "light";
  std::optional<std::string> width, size;  // not both
};

// Checked options for all files of a command.
struct FileStyle {
  std::filesystem::path folder;
  std::vector<paint::Format> formats;
  paint::ExportOptions options;
  std::string theme;
};
record::Result<FileStyle> file_style(const FileOptions& options);

class FigureFiles {
 public:
  // Creates the folder; fails if it is not writable.
  static record::Result<FigureFiles> open(FileStyle style);

  // <folder>/<prefix><figure>__<recording>.<format>, or …__<theme>.<format> unless the theme is light. Each file is
  // written whole or not at all.
  record::Status write(const lessons::FigureData& figure, const std::string& recording, const std::string& prefix = {});
  // <folder>/manifest.json: the files in order.
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
