// Finds families, and reads their shapes.
#include "demos/llama/families.h"

#include <algorithm>

#include "demos/record/find.h"

namespace headroom::llama {

const Family* find_family(std::string_view type) { return record::find_in(kFamilies, type, &Family::type); }

const Family& family_of(const Config& config) {
  const auto has_its_parts = [&](const Family& family) {
    return family.architecture != nullptr && family.qk_norm == config.qk_norm &&
           (config.o_bias ? family.may_have_bias : family.qkv_bias == config.qkv_bias);
  };
  const auto* const found = std::ranges::find_if(kFamilies, has_its_parts);
  return found == kFamilies.end() ? kFamilies.front() : *found;
}

Config read_shape(ConfigFields& fields, const Family& family) {
  Config config{.id = "custom"};
  config.hidden_size = fields.whole("hidden_size");
  config.intermediate_size = fields.whole("intermediate_size");
  config.num_layers = fields.whole("num_hidden_layers");
  config.num_heads = fields.whole("num_attention_heads");
  config.num_kv_heads = fields.whole("num_key_value_heads", config.num_heads);
  const std::int64_t even_share = config.num_heads > 0 ? config.hidden_size / config.num_heads : 0;
  config.head_dim = fields.whole("head_dim", family.head_dim.value_or(even_share));
  config.vocab_size = fields.whole("vocab_size");
  config.tie_word_embeddings = fields.flag("tie_word_embeddings", family.tied);
  config.rms_norm_eps = fields.real("rms_norm_eps", 1e-6);
  config.o_bias = family.may_have_bias && fields.flag("attention_bias", false);
  config.qkv_bias = family.qkv_bias || config.o_bias;
  config.qk_norm = family.qk_norm;
  return config;
}

}  // namespace headroom::llama
