// The reader's model: what the folder that the settings name has.
#pragma once

#include <optional>
#include <string>

#include "demos/llama/config.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::app::page {

struct OwnModel {
  llama::Config config;
  int files = 0;  // of weights; 0: a config.json alone
  record::Bytes bytes = 0;
  std::string trouble;  // why it is no model of a step, one sentence; empty: it is one

  // "4,212,864 weights in 4 layers; 16.07 MiB in 1 file."
  std::string words() const;
};

// Reads config.json and the files' headers. Nothing: the settings name none.
std::optional<OwnModel> read_own_model(const record::Params& train_step);

}  // namespace headroom::app::page
