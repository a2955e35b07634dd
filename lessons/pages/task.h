// A task of a page: what the reader is to bring about with the page's own controls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/predict/fits.h"
#include "demos/record/schema.h"

namespace headroom::lessons {

// What one setting is to be.
struct TaskSetting {
  enum class Is : std::uint8_t { kOneOf, kAtLeast, kAtMost };

  std::string key;
  Is is = Is::kOneOf;
  std::vector<std::string> values;  // one, but for kOneOf; of the key's schema
};
bool holds(const TaskSetting& wanted, const record::Params& params);
// "Batch: at least 8", "Adapters: off or LoRA".
std::string words_of(const TaskSetting& wanted, record::Schema schema);

// The card that the step is to fit on.
struct TaskCard {
  std::string name;          // "GeForce RTX 4090", "24 GiB"
  record::Bytes memory = 0;  // as the driver reports it
  predict::ProcessBytes process;
  std::optional<double> compute_capability = {};  // nothing: not known
};

// All of it has to hold at a time.
struct TaskGoal {
  std::vector<TaskSetting> settings;
  std::optional<TaskCard> fits;
  std::optional<record::Bytes> peak;  // at most
  std::string largest;                // "batch": on the card, one more does not fit; empty: not asked
};

struct TaskBlock {
  std::string words;    // Markdown
  std::string done;     // Markdown: what is said once it is reached; may have live numbers
  std::string written;  // the goal, as the page has it
  TaskGoal goal;
};

}  // namespace headroom::lessons
