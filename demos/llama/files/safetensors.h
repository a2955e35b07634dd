// Headers of safetensors files. No torch. Format (https://github.com/huggingface/safetensors, "Format"): the header's
// length (8 bytes, little-endian), the header (a JSON object), the tensors' bytes without gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"

namespace headroom::llama {

enum class StoredType : std::uint8_t { kF32, kF16, kBf16, kI64, kI32, kU8 };  // integers occur only in training states
std::string_view name_of(StoredType type);                                    // "F32"
std::int64_t bytes_of(StoredType type);

struct StoredTensor {
  StoredType type = StoredType::kF32;
  std::vector<std::int64_t> shape;
  std::size_t file = 0;     // index into the checkpoint's files
  std::uint64_t begin = 0;  // offset in the file
  std::uint64_t bytes = 0;
};

// "[2048, 512]"
std::string text_of(const std::vector<std::int64_t>& shape);

using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

// Reads the header alone. Every tensor must have a valid type and shape, and together they must fill the file without
// overlap or gap. Refuses integers unless `whole_numbers`.
record::Result<StoredTensors> read_safetensors_header(const std::filesystem::path& file, bool whole_numbers = false);

}  // namespace headroom::llama
