// A memory-mapped file, because token files may be larger than memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "demos/record/result.h"

namespace headroom::tokens {

class MappedFile {
 public:
  // Fails if the file is missing or empty. Truncating a mapped file kills the process.
  static record::Result<MappedFile> open(const std::filesystem::path& file);

  std::span<const std::byte> bytes() const { return {first_.get(), first_.get_deleter().size}; }

 private:
  struct Unmap {
    std::size_t size;
    void operator()(const std::byte* first) const;
  };
  MappedFile(const std::byte* first, std::size_t size) : first_(first, Unmap{size}) {}

  std::unique_ptr<const std::byte, Unmap> first_;
};

}  // namespace headroom::tokens
