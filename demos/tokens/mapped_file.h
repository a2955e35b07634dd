// A memory-mapped file, because token files may be larger than memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "demos/record/result.h"

namespace headroom::tokens {

class MappedFile {
 public:
  // Fails if the file is missing or empty. Truncating a mapped file kills the process.
  static record::Result<MappedFile> open(const std::filesystem::path& file);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {first_, size_}; }

 private:
  MappedFile(const std::byte* first, std::size_t size) : first_(first), size_(size) {}

  const std::byte* first_;
  std::size_t size_;
};

}  // namespace headroom::tokens
