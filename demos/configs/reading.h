// Reads the sections of a configuration by tables of keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "demos/configs/config.h"

namespace headroom::configs {

class Reading;

// Keys of settings that several tables name.
inline constexpr char kOffloadOptimizer[] = "offload.optimizer", kOffloadParameters[] = "offload.parameters";

// A value, and its place in the file.
struct Item {
  std::string path;
  const Json& value;
};

// A rule reads a key, reads the section below it, or gives the reason to ignore it.
struct Rule {
  std::string_view key;
  void (*read)(Reading& reading, const Item& item) = nullptr;
  std::string_view automatic = {};     // for "auto": who decides, and what is taken
  std::span<const Rule> section = {};  // keys of the object
  std::string_view because = {};       // why it has no counterpart
};

// Collects what a file says. Remembers the first unusable value; readers of values then return nothing.
class Reading {
 public:
  explicit Reading(std::filesystem::path file);

  // `prefix`: what keys may begin with, such as "fsdp_".
  void section(const Json& object, const std::string& path, std::span<const Rule> rules, std::string_view prefix = {});

  std::optional<std::int64_t> whole(const Item& item, std::int64_t low, std::int64_t high);
  std::optional<double> real(const Item& item, double low, double high);
  std::optional<bool> flag(const Item& item);
  std::optional<std::string> word(const Item& item);

  // The key decides this setting.
  void means(const Item& item, std::string_view setting, std::string words = {});
  void ignore(const Item& item, std::string_view because);
  void automatic(const Item& item, std::string_view words);
  void unknown(const Item& item);
  // `suits` describes usable values.
  void wrong(const Item& item, const std::string& suits);
  void fail(std::string message);

  // Adds a setting whose value the file gives directly.
  void set(std::string_view key, std::string value, std::string_view from);

  const std::filesystem::path& file() const { return file_; }
  const std::optional<record::Error>& error() const { return error_; }

  Config config;
  // Values that only together have a meaning.
  std::optional<std::int64_t> global_batch, batch, accumulate, machines;
  std::optional<bool> fp16, bf16;
  bool auto_precision = false;  // "auto": taken from Accelerate, else bf16
  bool overlaps = false;
  std::optional<double> loss_scale;

 private:
  void add(const Item& item, Fate fate, std::string_view setting, std::string words);

  std::filesystem::path file_;
  std::optional<record::Error> error_;
};

// DeepSpeed's JSON: of a file, or of the file that Accelerate's configuration names.
std::span<const Rule> deepspeed_rules();
// The file of `accelerate config`.
std::span<const Rule> accelerate_rules();
// The section fsdp_config, whose keys may begin with "fsdp_".
std::span<const Rule> fsdp_rules();

}  // namespace headroom::configs
