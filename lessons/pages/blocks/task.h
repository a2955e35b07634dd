// A page's task: a goal to reach with the page's controls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/predict/fits.h"
#include "demos/record/schema.h"

namespace headroom::lessons {

struct Page;

struct TaskSetting {
  enum class Is : std::uint8_t { kOneOf, kAtLeast, kAtMost };

  std::string key;
  Is is = Is::kOneOf;
  std::vector<std::string> values;  // one value unless kOneOf; valid in the schema
};
bool holds(const TaskSetting& wanted, const record::Params& params);
std::string words_of(const TaskSetting& wanted, record::Schema schema);

struct TaskCard {
  std::string name;
  record::Bytes memory = 0;  // as the driver reports it
  predict::ProcessBytes process;
  std::optional<double> compute_capability = {};  // empty: unknown
};

// All conditions must hold at once.
struct TaskGoal {
  std::vector<TaskSetting> settings;
  std::optional<TaskCard> fits;
  std::optional<record::Bytes> peak;  // the highest peak allowed
  std::string largest;                // "batch": a value larger by one must not fit on the card; may be empty
};

struct TaskBlock {
  std::string words;    // Markdown
  std::string done;     // Markdown shown once the goal is reached, with live numbers
  std::string written;  // the goal as written
  TaskGoal goal;
};

// The task of the page's tour, or null.
const TaskBlock* task_of(const Page& page);

}  // namespace headroom::lessons
