// Hugging Face checkpoints of Llama and its relatives: a folder with config.json and safetensors, or config.json
// alone for the shape. No torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <vector>

#include "demos/llama/config.h"
#include "demos/llama/files/safetensors.h"
#include "demos/record/result.h"

namespace headroom::llama {

// Every error is one sentence with file, tensor and cure (kBadInput).

inline constexpr const char* kTokenizerFile = "tokenizer.json";

// Checks only the name, so that it works for recordings from other machines.
bool is_config_alone(const std::filesystem::path& weights);
// `weights` itself, or the folder of the config.json.
std::filesystem::path model_folder(const std::filesystem::path& weights);

// Supports Llama, Mistral, Qwen2 and Qwen3 without experts or a sliding window. The id is "custom".
record::Result<Config> read_hugging_face_config(const std::filesystem::path& weights);

// The error names the first difference.
record::Status check_same(const Config& wanted, const Config& stored, const std::filesystem::path& weights);

// The weights of a checkpoint, checked but not read.
struct StoredWeights {
  std::vector<std::filesystem::path> files;
  StoredTensors tensors;
};

// Reads the headers of `model.safetensors`, or of the shards in `model.safetensors.index.json`, which must be in the
// folder, possibly as links. The tensors must be exactly those of `config`. Also allowed are a copy of tied
// embeddings as "lm_head.weight", and "rotary_emb.inv_freq" in old files.
record::Result<StoredWeights> find_weights(const std::filesystem::path& folder, const Config& config);

// Thrown if a file has changed since find_weights(), or if no run can train from its numbers.
class UnusableWeights : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Refuses a copy of a tied head that differs from the embedding. Throws UnusableWeights.
record::Status check_tied_head(const StoredWeights& weights, const Config& config);

// Reads bytes [begin, begin + into.size()) of a tensor. Throws UnusableWeights if they cannot be read.
void read_stored(const StoredWeights& weights, const StoredTensor& tensor, std::uint64_t begin,
                 std::span<std::byte> into);

}  // namespace headroom::llama
