// The table of techniques: settings, costs, recording and rung of each. Advisor, ladder, chips, figures, tests and the
// scripts that make recordings read it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/schema.h"

namespace headroom::experiments {

struct Cost {
  bool speed = false;
  bool exactness = false;     // trains different numbers
  std::string rounding = {};  // negligible inexactness; empty: none
  double times = 0;           // relative step time in the technique's recording; 0: not measured
  double seconds = 0;         // added per step at any batch; 0: grows with the batch

  std::string_view given_up() const;  // "speed, exactness"
  std::string time() const;           // "1.22 times", "0.33 s more"; empty: not measured
};

// A setting that the ladder resets for a later rung.
struct Dropped {
  std::string_view key, value;  // before: "optimizer", "adamw_8bit"
  std::string_view instead;     // "adamw"
  std::string_view words;       // "8-bit moments"
};

// A technique's place in the ladder: first free techniques, then those that cost time or accuracy, then offloading.
struct RungPlace {
  int number = 0;                   // from 1; 0: no rung
  bool by_default = true;           // false: only on request
  std::vector<Dropped> drops = {};  // for conflicts with earlier rungs
};

struct Technique {
  std::string id = {};  // "flce", as in --order
  std::string label = {};
  std::string short_label = {};            // on a button; empty: the label
  std::vector<std::string> settings = {};  // "loss=flce"
  std::string needs = {};                  // set first by a chip, not by a rung: "precision=fp32"
  int micro_batches = 1;                   // splits the batch into so many; 1: does not
  bool saves_memory = true;
  bool several_ranks = false;  // changes nothing on one rank
  bool kernel = false;         // chooses between our kernel and PyTorch's operators
  std::string reason = {};     // a sentence
  Cost cost = {};
  std::string recording = {};  // shipped, with the suffix _h200 or _cpu; empty: none
  std::string report_place = {};
  RungPlace rung = {};

  const std::string& button() const { return short_label.empty() ? label : short_label; }
  std::vector<std::string_view> keys() const;
};

// Techniques that save memory come first: cheap ones before others, each after those that it builds on. Then on/off
// techniques of the schema that are off by default.
std::span<const Technique> techniques();
std::span<const Technique> memory_techniques();
const Technique* find_technique(std::string_view id);
// In the order of rungs.
std::vector<const Technique*> ladder_techniques();
// The id itself if no technique has it ("naive").
std::string ladder_label(std::string_view id);
// The report's steps that need several GPUs, if the settings have one.
std::vector<std::string_view> report_steps_left_out(const record::Params& params);

// A technique that splits the batch is on for its own number of micro-batches only.
bool is_on(const Technique& what, const record::Params& params);
// Returns nullopt if the technique changes nothing or cannot be turned on.
std::optional<record::Params> turned_on(const Technique& what, const record::Params& params);
// Restores the defaults, and one batch instead of micro-batches.
std::optional<record::Params> turned_off(const Technique& what, const record::Params& params);
// `params` without what the rung drops, then with its settings.
record::Params on_rung(const Technique& what, record::Params params);

}  // namespace headroom::experiments
