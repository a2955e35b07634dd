// The JSON files beside weights that are written: what transformers and PEFT read of a model and of adapters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "demos/llama/config.h"
#include "demos/llama/safetensors.h"
#include "demos/record/result.h"

namespace headroom::llama {

// A header of safetensors for these tensors one after the other, and where each begins.
struct WrittenTensor {
  std::string name;
  StoredType type = StoredType::kF32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // bytes from the file's begin
};
struct WrittenHeader {
  std::string bytes;
  std::vector<WrittenTensor> tensors;
  std::uint64_t file_bytes = 0;  // of the whole file
};
WrittenHeader written_header(std::vector<WrittenTensor> tensors);

// config.json of a model of this type. `from`: the config.json whose other fields stay, or the checkpoint's folder; empty:
// none. Refused where that cannot be read.
record::Result<std::string> written_config(const Config& config, StoredType type, const std::filesystem::path& from);

// adapter_config.json of PEFT's LoRA.
struct WrittenAdapters {
  std::int64_t rank = 0;
  double alpha = 0;
  bool gaussian = false;             // how A was drawn; else by PEFT's default
  std::vector<std::string> targets;  // "q_proj"
  std::string base_model;            // its folder; empty: not known
};
std::string written_adapters(const WrittenAdapters& adapters);

}  // namespace headroom::llama
