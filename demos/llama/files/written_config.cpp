// Writes the JSON.
#include "demos/llama/files/written_config.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "demos/llama/families.h"
#include "demos/llama/files/checkpoint_folder.h"

namespace headroom::llama {

using nlohmann::json;

WrittenHeader written_header(std::vector<WrittenTensor> tensors) {
  json object{{"__metadata__", {{"format", "pt"}}}};  // transformers requires the format
  std::uint64_t end = 0;
  for (WrittenTensor& tensor : tensors) {
    std::int64_t bytes = bytes_of(tensor.type);
    for (const std::int64_t length : tensor.shape) bytes *= length;
    tensor.begin = end;
    end += static_cast<std::uint64_t>(bytes);
    object[tensor.name] = {
        {"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, end}}};
  }
  std::string text = object.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns tensors to 8 bytes
  const std::uint64_t length = text.size();
  WrittenHeader header{.bytes = std::string(reinterpret_cast<const char*>(&length), sizeof length) + text};
  for (WrittenTensor& tensor : tensors) tensor.begin += header.bytes.size();
  header.file_bytes = header.bytes.size() + end;
  header.tensors = std::move(tensors);
  return header;
}

namespace {

json object_of(const Config& c) {
  const Family& family = family_of(c);
  json rope = nullptr;
  if (c.rope_scaling)
    rope = {{"rope_type", "llama3"},
            {"factor", c.rope_scaling->factor},
            {"low_freq_factor", c.rope_scaling->low_frequency_factor},
            {"high_freq_factor", c.rope_scaling->high_frequency_factor},
            {"original_max_position_embeddings", static_cast<std::int64_t>(c.rope_scaling->original_length)}};
  json object{{"architectures", {family.architecture}},
              {"model_type", family.type},
              {"hidden_act", "silu"},
              {"tie_word_embeddings", c.tie_word_embeddings},
              {"rms_norm_eps", c.rms_norm_eps},
              {"rope_theta", c.rope_theta},
              {"rope_scaling", rope},
              {"attention_bias", c.o_bias},
              {"attention_dropout", 0.0},
              {"mlp_bias", false},
              {"use_cache", true},
              {"bos_token_id", nullptr},
              {"eos_token_id", nullptr}};
  for (const ConfigLength& length : kConfigLengths) object[std::string(length.in_file)] = c.*length.value;
  return object;
}

const char* torch_name(StoredType type) {
  return type == StoredType::kF32 ? "float32" : type == StoredType::kF16 ? "float16" : "bfloat16";
}

}  // namespace

record::Result<std::string> written_config(const Config& config, StoredType type, const std::filesystem::path& from) {
  json object;
  if (from.empty()) {
    object = object_of(config);
  } else {
    record::Result<json> read = read_config_file(from);
    if (!read) return read.error();
    object = std::move(read).value();
  }
  object.erase("dtype");  // newer files' name of torch_dtype
  object["torch_dtype"] = torch_name(type);
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string written_adapters(const WrittenAdapters& adapters) {
  const json object{
      {"peft_type", "LORA"},
      {"task_type", "CAUSAL_LM"},
      {"base_model_name_or_path", adapters.base_model.empty() ? json(nullptr) : json(adapters.base_model)},
      {"r", adapters.rank},
      {"lora_alpha", adapters.alpha},
      {"lora_dropout", 0.0},
      {"bias", "none"},
      {"fan_in_fan_out", false},
      {"init_lora_weights", adapters.gaussian ? json("gaussian") : json(true)},
      {"inference_mode", true},
      {"target_modules", adapters.targets}};
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace headroom::llama
