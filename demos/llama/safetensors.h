// Safetensors files: what their header says, held against the file itself. No torch.
// Format: https://github.com/huggingface/safetensors, "Format": 8 bytes little-endian header length, a JSON object, the
// tensors' bytes without gaps.
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

enum class StoredType : std::uint8_t { kF32, kF16, kBf16, kI64, kI32, kU8 };  // whole numbers: of a training state
std::string_view name_of(StoredType type);  // as in the header: "F32"
std::int64_t bytes_of(StoredType type);

struct StoredTensor {
  StoredType type = StoredType::kF32;
  std::vector<std::int64_t> shape;
  std::size_t file = 0;     // index into the files of a checkpoint; 0 in a file by itself
  std::uint64_t begin = 0;  // bytes from the file's begin
  std::uint64_t bytes = 0;
};

// "[2048, 512]"
std::string text_of(const std::vector<std::int64_t>& shape);

using StoredTensors = std::map<std::string, StoredTensor, std::less<>>;

// Reads and checks the header: every tensor has a valid type and shape and is inside the file, and together they
// fill it without overlap or gap. Whole numbers are refused unless they may be there. Reads none of their bytes. The error is one sentence with file, tensor and cure.
record::Result<StoredTensors> read_safetensors_header(const std::filesystem::path& file, bool whole_numbers = false);

}  // namespace headroom::llama
