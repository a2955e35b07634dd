// Functions that all readers of a checkpoint's folder share.
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

#include "demos/record/result.h"

namespace headroom::llama {

record::Result<nlohmann::json> read_json_file(const std::filesystem::path& file);

// `weights` is a folder or a config.json.
std::filesystem::path config_file(const std::filesystem::path& weights);
record::Result<nlohmann::json> read_config_file(const std::filesystem::path& weights);

// Refuses files. Also refuses entries of Hugging Face's cache: these contain checkpoint folders.
record::Status check_checkpoint_folder(const std::filesystem::path& folder);

}  // namespace headroom::llama
