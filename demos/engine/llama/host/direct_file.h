// A file for data that does not fit into memory, with direct I/O in whole blocks if the file system supports it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "demos/record/result.h"
#include "demos/record/units.h"

namespace headroom::llama {

class DirectFile {
 public:
  // Offsets, sizes and addresses must be multiples of this.
  static constexpr record::Bytes kBlock = 4096;

  // Creates a file and reserves its bytes, so a full disk fails here, not during a step. The file is unlinked
  // immediately. An empty `path` means the temporary folder.
  static record::Result<std::unique_ptr<DirectFile>> create(const std::filesystem::path& path, record::Bytes bytes);
  ~DirectFile();
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;

  // write() and read() are thread-safe, and throw std::runtime_error with a sentence.
  void write(record::Bytes offset, const void* data, record::Bytes bytes) const;
  void read(record::Bytes offset, void* data, record::Bytes bytes) const;

  // False if there is no direct I/O, so that the page cache is used.
  bool direct() const { return direct_; }

 private:
  DirectFile(int descriptor, bool direct, std::filesystem::path path)
      : descriptor_(descriptor), direct_(direct), path_(std::move(path)) {}

  int descriptor_;
  bool direct_;
  std::filesystem::path path_;  // the name before unlinking
};

}  // namespace headroom::llama
