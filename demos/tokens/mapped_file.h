// A file's bytes in the address space, read as they are asked for: token files are larger than memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "demos/record/result.h"

namespace headroom::tokens {

class MappedFile {
 public:
  // A file that is there and not empty, else a sentence. One that is cut while it is mapped ends the process.
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
