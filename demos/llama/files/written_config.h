// JSON files saved with weights, for transformers and PEFT.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "demos/llama/config.h"
#include "demos/llama/files/safetensors.h"
#include "demos/record/result.h"

namespace headroom::llama {

struct WrittenTensor {
  std::string name;
  StoredType type = StoredType::kF32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // offset in the file
};
struct WrittenHeader {
  std::string bytes;
  std::vector<WrittenTensor> tensors;
  std::uint64_t file_bytes = 0;
};
WrittenHeader written_header(std::vector<WrittenTensor> tensors);

// Keeps all other fields of the config.json at `from` (the file or its folder), unless `from` is empty. Fails if the
// file cannot be read.
record::Result<std::string> written_config(const Config& config, StoredType type, const std::filesystem::path& from);

// adapter_config.json of PEFT's LoRA.
struct WrittenAdapters {
  std::int64_t rank = 0;
  double alpha = 0;
  bool gaussian = false;             // initializes A from a normal distribution; false: PEFT's default
  std::vector<std::string> targets;  // "q_proj"
  std::string base_model;            // folder; empty if unknown
};
std::string written_adapters(const WrittenAdapters& adapters);

}  // namespace headroom::llama
