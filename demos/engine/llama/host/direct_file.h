// A file for what does not fit into memory: written and read in whole blocks, past the page cache where the file system
// has direct I/O.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "demos/record/result.h"
#include "demos/record/units.h"

namespace headroom::llama {

class DirectFile {
 public:
  // Offsets, sizes and addresses are multiples of this.
  static constexpr record::Bytes kBlock = 4096;

  // A new file of so many bytes, all of them reserved: a full disk is met here and not in the middle of a step. It has
  // no name any more when this returns, so it is gone with the process, however that ends. Empty path: in the folder for
  // temporary files. Refused with a sentence.
  static record::Result<std::unique_ptr<DirectFile>> create(const std::filesystem::path& path, record::Bytes bytes);
  ~DirectFile();
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;

  // May be called from several threads. Throws std::runtime_error with a sentence.
  void write(record::Bytes offset, const void* data, record::Bytes bytes) const;
  void read(record::Bytes offset, void* data, record::Bytes bytes) const;

  // False: the file system has no direct I/O, and the page cache takes part.
  bool direct() const { return direct_; }

 private:
  DirectFile(int descriptor, bool direct, std::filesystem::path path)
      : descriptor_(descriptor), direct_(direct), path_(std::move(path)) {}

  int descriptor_;
  bool direct_;
  std::filesystem::path path_;  // that it had
};

}  // namespace headroom::llama
