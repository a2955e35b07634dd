// Parameters to a model's shape and its checkpoint.
#include "demos/experiments/train_step_model.h"

#include <filesystem>
#include <utility>

namespace headroom::experiments {

namespace {

llama::Config config_of(const record::Params& params) {
  if (const llama::Config* published = llama::find_config(params.text("model"))) return *published;
  return {
      .id = "custom",
      .hidden_size = params.integer("hidden_size"),
      .intermediate_size = params.integer("intermediate_size"),
      .num_layers = params.integer("num_layers"),
      .num_heads = params.integer("num_heads"),
      .num_kv_heads = params.integer("num_kv_heads"),
      .head_dim = params.integer("head_dim"),
      .vocab_size = params.integer("vocab_size"),
  };
}

}  // namespace

record::Result<TrainStepModel> train_step_model(const record::Params& params) {
  TrainStepModel model{.config = config_of(params), .weights = {}};
  const std::filesystem::path folder = params.text("weights");
  if (folder.empty()) {
    if (const record::Status fits = llama::check(model.config); !fits) return fits.error();
    return model;
  }
  const record::Result<llama::Config> stored = llama::read_hugging_face_config(folder);
  if (!stored) return stored.error();
  if (llama::find_config(model.config.id) == nullptr) {
    model.config = stored.value();
  } else if (const record::Status same = llama::check_same(model.config, stored.value(), folder); !same) {
    return same.error();
  }
  record::Result<llama::StoredWeights> weights = llama::find_weights(folder, model.config);
  if (!weights) return weights.error();
  model.weights = std::move(weights).value();
  return model;
}

}  // namespace headroom::experiments
