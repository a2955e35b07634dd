// Checkpoints of Llama and its relatives as Hugging Face lays them out: a folder with config.json and safetensors in one
// file or in shards; or config.json alone, for the shape.
// No torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <vector>

#include "demos/llama/config.h"
#include "demos/llama/safetensors.h"
#include "demos/record/result.h"

namespace headroom::llama {

// Every defect is one sentence with file, tensor and cure, of kind kBadInput.

inline constexpr const char* kTokenizerFile = "tokenizer.json";

// Whether `weights` names a config.json and no folder: by its name, so that a recording from elsewhere can be asked.
bool is_config_alone(const std::filesystem::path& weights);
// The folder of what is beside the weights: `weights` itself, or where its config.json is.
std::filesystem::path model_folder(const std::filesystem::path& weights);

// The shape that config.json describes, of a folder or alone, with id "custom": a Llama, Mistral, Qwen2 or Qwen3 without
// experts and without a sliding window.
record::Result<Config> read_hugging_face_config(const std::filesystem::path& weights);

// Whether two configs describe the same computation; the sentence names the first difference.
record::Status check_same(const Config& wanted, const Config& stored, const std::filesystem::path& weights);

// The weights of a checkpoint, checked but not read.
struct StoredWeights {
  std::vector<std::filesystem::path> files;
  StoredTensors tensors;
};

// Headers of `model.safetensors`, or of the shards that `model.safetensors.index.json` names. A shard's name is one
// in the folder itself; there may be a link to the file.
// Exactly the weights of `config`, in their shapes; with tied embeddings the file may repeat the table as
// "lm_head.weight", and old ones store "rotary_emb.inv_freq", which are not read then.
record::Result<StoredWeights> find_weights(const std::filesystem::path& folder, const Config& config);

// A file of a checkpoint is no longer what find_weights saw, or it has numbers that no run can train from.
class UnusableWeights : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Whether a head that is stored though it is tied is the embedding: reads both. Throws UnusableWeights.
record::Status check_tied_head(const StoredWeights& weights, const Config& config);

// Bytes [begin, begin + into.size()) of one of these tensors. Throws UnusableWeights, with a sentence, where the file
// ends before them or cannot be read any more.
void read_stored(const StoredWeights& weights, const StoredTensor& tensor, std::uint64_t begin,
                 std::span<std::byte> into);

}  // namespace headroom::llama
