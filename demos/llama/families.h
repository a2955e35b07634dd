// The known model types of config.json, and how each differs from a Llama.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "demos/llama/config.h"
#include "demos/llama/files/config_fields.h"

namespace headroom::llama {

// If `count` is null, there are no experts.
struct ExpertKeys {
  const char* count = nullptr;
  const char* size = "moe_intermediate_size";
  const char* shared_size = nullptr;
};

struct Family {
  std::string_view type;               // model_type
  const char* architecture = nullptr;  // name in written files; null: the step cannot run it, only its bytes are known
  bool may_have_bias = false;          // attention_bias adds biases to q, k, v and o
  bool qkv_bias = false;
  bool qk_norm = false;
  bool window_by_number = false;         // sliding_window alone turns the window on
  bool tied = false;                     // default of tie_word_embeddings
  std::optional<std::int64_t> head_dim;  // default of head_dim; nullopt: hidden_size / num_attention_heads
  ExpertKeys experts = {};
  bool post_norms = false;
  const char* activation = "silu";  // default of hidden_act
};

// From transformers (src/transformers/models/<type>/modeling_<type>.py). Phi-3 merges Q, K and V, and also gate and up.
inline constexpr std::array kFamilies{
    Family{.type = "llama", .architecture = "LlamaForCausalLM", .may_have_bias = true},
    Family{.type = "mistral", .architecture = "MistralForCausalLM", .window_by_number = true},
    Family{.type = "qwen2", .architecture = "Qwen2ForCausalLM", .qkv_bias = true},
    Family{
        .type = "qwen3", .architecture = "Qwen3ForCausalLM", .may_have_bias = true, .qk_norm = true, .head_dim = 128},
    Family{.type = "mixtral",
           .window_by_number = true,
           .experts = {.count = "num_local_experts", .size = "intermediate_size"}},
    Family{.type = "qwen2_moe",
           .qkv_bias = true,
           .experts = {.count = "num_experts", .shared_size = "shared_expert_intermediate_size"}},
    Family{.type = "qwen3_moe", .may_have_bias = true, .qk_norm = true, .experts = {.count = "num_experts"}},
    Family{.type = "phi3", .window_by_number = true},
    Family{.type = "gemma", .may_have_bias = true, .tied = true, .head_dim = 256, .activation = "gelu_pytorch_tanh"},
    Family{.type = "gemma2",
           .may_have_bias = true,
           .window_by_number = true,
           .tied = true,
           .head_dim = 256,
           .post_norms = true,
           .activation = "gelu_pytorch_tanh"},
    Family{.type = "gemma3_text",
           .may_have_bias = true,
           .qk_norm = true,
           .window_by_number = true,
           .tied = true,
           .head_dim = 256,
           .post_norms = true,
           .activation = "gelu_pytorch_tanh"},
};

const Family* find_family(std::string_view type);
// The family whose config.json describes `config`, which the step can run.
const Family& family_of(const Config& config);

// Reads lengths, biases and norms, but not RoPE.
Config read_shape(ConfigFields& fields, const Family& family);

}  // namespace headroom::llama
