// A model described by its config.json, for the closed form.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "demos/llama/config.h"
#include "demos/llama/extension.h"
#include "demos/record/result.h"

namespace headroom::llama {

struct DescribedModel {
  Config config;
  Extension extension;
  // "mixtral is a mixture of 8 experts, which our training step does not support."; empty: supported.
  std::string beyond_step;
  std::vector<std::string> assumed, left_out;
};

// Also accepts relatives with experts, sliding windows, other activations or other positions. Refuses encoders,
// multimodal models, latent attention and unknown model types; the error names the key.
record::Result<DescribedModel> read_described_model(const std::filesystem::path& weights);

}  // namespace headroom::llama
