// The reader's model, in the folder that the settings name.
#pragma once

#include <optional>
#include <string>

#include "demos/llama/config.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::app::page {

struct OwnModel {
  llama::Config config;
  int files = 0;  // 0: only a config.json
  record::Bytes bytes = 0;
  std::string trouble;  // why no step can use it

  // "4,212,864 weights in 4 layers; 16.07 MiB in 1 file."
  std::string words() const;
};

// Reads config.json and the headers of the weight files. Empty: no folder is set.
std::optional<OwnModel> read_own_model(const record::Params& train_step);

// Caches the last folder's model.
class OwnModelReader {
 public:
  const OwnModel* of(const record::Params& train_step);

 private:
  std::string weights_, name_;  // own_ was read for these
  std::optional<OwnModel> own_;
};

}  // namespace headroom::app::page
