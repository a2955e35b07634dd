// Configurations of DeepSpeed and Accelerate: which settings of our training step they mean, and what they do not say.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demos/configs/yaml.h"
#include "demos/predict/parallel.h"
#include "demos/predict/techniques.h"
#include "demos/record/result.h"

namespace headroom::configs {

enum class Framework : std::uint8_t {
  kDeepSpeed,
  kFsdp,
  kDataParallel,  // DistributedDataParallel, or one process
};
std::string_view label_of(Framework framework);  // "DeepSpeed"

enum class Fate : std::uint8_t {
  kRead,       // means a setting
  kAutomatic,  // "auto", or not in the file: another program decides, and `words` say what is taken here
  kIgnored,    // has no counterpart here; `words` say why
  kUnknown,
};

// A value of the file.
struct Key {
  std::string path;   // "zero_optimization.stage"
  std::string value;  // "3"
  Fate fate = Fate::kUnknown;
  std::string setting = {};  // key of the setting that it decides: "zero"
  std::string words = {};
};

struct Setting {
  std::string key, value;
  std::string from;  // the path of its key; empty: a default of the framework

  std::string text() const { return key + "=" + value; }
};

enum class Format : std::uint8_t { kFp32, kBf16, kFp16 };
std::string_view label_of(Format format);  // "bf16"
constexpr std::int64_t bytes_of(Format format) { return format == Format::kFp32 ? 4 : 2; }

struct Config {
  std::string file;
  Framework framework = Framework::kDeepSpeed;
  std::vector<Key> keys;          // in the file's order
  std::vector<Setting> settings;  // of train_step, those with the most bytes first

  std::optional<std::int64_t> ranks;
  predict::Zero zero = predict::Zero::kOff;
  std::int64_t zero_group = 0;  // ranks that share one copy of the states; 0: all
  std::int64_t micro_batches = 1;
  std::optional<Format> mixed;                                // format of the training step; empty: as loaded
  std::optional<Format> accumulated;                          // format of accumulated gradients; empty: the framework's
  bool half_masters = false;                                  // DeepSpeed: masters in the format of the training step
  bool fp32_sums = false;                                     // ranks sum gradients in fp32
  predict::StateOffload state = predict::StateOffload::kOff;  // of optimizer state and gradients
  predict::StateOffload weights = predict::StateOffload::kOff;  // of weights
  std::optional<std::int64_t> bucket_elements;                  // gradients that DeepSpeed sums together

  std::vector<const Key*> with(Fate fate) const;
  // Null if no setting has this key.
  const Setting* find(std::string_view key) const;
};

// A file that ends in .json is JSON, any other YAML. Every error is one sentence with file, line or key, and cure.
record::Result<Json> parse_document(std::string_view text, const std::string& file);
record::Result<Json> read_document(const std::filesystem::path& file);

// Understands DeepSpeed's JSON, the file that `accelerate config` writes, and the Trainer's fsdp_config. A
// deepspeed_config_file is looked for next to `file`.
record::Result<Config> meaning_of(const Json& document, const std::filesystem::path& file);
record::Result<Config> read_config(const std::filesystem::path& file);

// The document without the value at this path.
Json without(Json document, std::string_view path);

}  // namespace headroom::configs
