// What all readers of a checkpoint's folder share.
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

#include "demos/record/result.h"

namespace headroom::llama {

// config.json or the index of shards.
record::Result<nlohmann::json> read_json_file(const std::filesystem::path& file);

// config.json of a folder, or itself where it is given alone; and what is in it.
std::filesystem::path config_file(const std::filesystem::path& weights);
record::Result<nlohmann::json> read_config_file(const std::filesystem::path& weights);

// Whether it is a folder, and none of the folders around a checkpoint in a Hugging Face cache.
record::Status check_checkpoint_folder(const std::filesystem::path& folder);

}  // namespace headroom::llama
