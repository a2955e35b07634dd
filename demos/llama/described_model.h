// A model as its config.json describes it, where the step here may lack a part of it: for the closed form.
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
  // One sentence: "mixtral is a mixture of 8 experts, which the step here does not have." Empty: the step has all of it.
  std::string beyond_step;
  std::vector<std::string> assumed, left_out;  // by the closed form, a short phrase each
};

// Of a folder or a config.json alone: what read_hugging_face_config() takes, and its relatives with experts, sliding
// windows, other gates or other positions. Refused by the key that differs: an encoder, several parts, attention through
// a latent, and model types that are not known.
record::Result<DescribedModel> read_described_model(const std::filesystem::path& weights);

}  // namespace headroom::llama
