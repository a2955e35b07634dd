// Reads a page's task and checks settings against its goal.
#include "lessons/pages/blocks/task.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "demos/record/file/split.h"
#include "lessons/card_limit.h"
#include "lessons/pages/entries.h"
#include "lessons/shown_unit.h"
#include "lessons/wording.h"

namespace headroom::lessons {

namespace {

using record::ParamKind;
using record::Params;

struct Condition {
  std::string key, sign, value;
};
Condition parted(const std::string& word) {
  const std::size_t at = std::min(word.find_first_of("<>="), word.size());
  const std::size_t end = std::min(word.find_first_not_of("<>=", at), word.size());
  return {word.substr(0, at), word.substr(at, end - at), word.substr(end)};
}

bool is_number(const record::ParamSpec& spec) {
  return spec.kind == ParamKind::kInteger || spec.kind == ParamKind::kReal || spec.kind == ParamKind::kBytes;
}

double number_of(const Params& params, const record::ParamSpec& spec) {
  return spec.kind == ParamKind::kReal ? params.real(spec.key) : static_cast<double>(params.integer(spec.key));
}

// A card by its name, or a size that limits the allocator.
std::optional<TaskCard> task_card(const std::string& name, Entries& entries) {
  if (const auto size = record::parse_bytes(name)) return TaskCard{short_bytes(size.value()), size.value(), {}};
  if (const predict::Card* const card = lessons::card_named(name))
    return TaskCard{card->name, *card->memory, predict::process_bytes(card->name), card->compute_capability};
  entries.complain(unknown_card(name));
  return std::nullopt;
}

class GoalReader {
 public:
  GoalReader(record::Schema schema, Entries& entries) : schema_(schema), entries_(entries) {}

  TaskGoal read(const std::vector<std::string>& words) {
    for (const std::string& word : words) read_condition(parted(word));
    if (!goal_.largest.empty() && !goal_.fits)
      entries_.complain(fmt::format("largest={} needs a card: fits=24GiB.", goal_.largest));
    return std::move(goal_);
  }

 private:
  void read_condition(const Condition& condition) {
    const auto& [key, sign, value] = condition;
    if (key == "fits" && sign == "=") {
      goal_.fits = task_card(value, entries_);
    } else if (key == "peak" && sign == "<=") {
      const auto bytes = record::parse_bytes(value);
      if (!bytes) return entries_.complain(bytes.error().message);
      goal_.peak = bytes.value();
    } else if (key == "largest" && sign == "=") {
      const record::ParamSpec* const spec = find_spec(schema_, value);
      if (spec == nullptr || spec->kind != ParamKind::kInteger)
        return entries_.complain(fmt::format("largest=… takes a whole-number setting, such as batch, not {}.", value));
      goal_.largest = value;
    } else {
      read_setting(condition);
    }
  }

  void read_setting(const Condition& condition) {
    const auto& [key, sign, value] = condition;
    const record::ParamSpec* const spec = find_spec(schema_, key);
    if (spec == nullptr) {
      std::vector<std::string_view> known{"fits", "largest", "peak"};
      for (const record::ParamSpec& each : schema_) known.push_back(each.key);
      return entries_.complain(unknown("condition", key, known));
    }
    TaskSetting wanted{.key = key, .is = TaskSetting::Is::kOneOf, .values = {value}};
    if (sign == "=") {
      wanted.values = record::split(value, ',');
    } else if (is_number(*spec) && (sign == ">=" || sign == "<=")) {
      wanted.is = sign == ">=" ? TaskSetting::Is::kAtLeast : TaskSetting::Is::kAtMost;
    } else {
      return entries_.complain(
          fmt::format("A goal is KEY=VALUE or, for numbers, KEY>=VALUE or KEY<=VALUE, not {}{}{}.", key, sign, value));
    }
    for (const std::string& each : wanted.values)
      if (const auto set = Params(schema_).set(key, std::string_view(each)); !set)
        return entries_.complain(set.error().message);
    goal_.settings.push_back(std::move(wanted));
  }

  record::Schema schema_;
  Entries& entries_;
  TaskGoal goal_;
};

// The words of `done` are checked like all others.
std::any parse_task(BlockSource& source) {
  const Page& page = source.page;
  const bool step = experiments::trains(page.demo) || page.schema == experiments::shape_schema().id;
  if (!step) source.complain("A task needs a page whose demo or schema is a training step.");
  if (!source.after_answer) source.complain("A task must come after <!--more-->: until then the question is open.");
  if (task_of(page) != nullptr) source.complain("A page has one task.");
  if (!step) return {};
  for (const Entry& entry : source.part.entries)
    if (entry.key == "done")
      check_words(source.document, {.kind = "task", .text = entry.value, .line = entry.line}, page, source.context,
                  source.problems);
  Entries& entries = source.entries;
  TaskBlock task{.words = source.part.text, .done = entries.need("done"), .written = entries.need("goal"), .goal = {}};
  task.goal = GoalReader(demo_or_schema(page)->schema, entries).read(words_of(task.written));
  if (task.words.empty()) source.complain("The task has no text.");
  return task;
}

std::string words_of_task(const std::any& content) { return std::any_cast<const TaskBlock&>(content).words; }

std::string printed_task(const std::any& content) {
  const auto& task = std::any_cast<const TaskBlock&>(content);
  return fmt::format("Task: {}\n\nDone when: {}", task.words, task.written);
}

}  // namespace

constinit const BlockType kTaskBlock{
    .name = "task", .parse = parse_task, .words = words_of_task, .printed = printed_task};

const TaskBlock* task_of(const Page& page) {
  for (const TourStep& step : page.more)
    for (const Block& block : step.blocks)
      if (const auto* task = block.as<TaskBlock>()) return task;
  return nullptr;
}

bool holds(const TaskSetting& wanted, const Params& params) {
  const record::ParamSpec* const spec = find_spec(params.schema(), wanted.key);
  if (spec == nullptr) return false;
  return std::ranges::any_of(wanted.values, [&](const std::string& value) {
    Params there = params;
    if (!there.set(wanted.key, std::string_view(value))) return false;
    if (wanted.is == TaskSetting::Is::kOneOf) return there.as_text(wanted.key) == params.as_text(wanted.key);
    const double is = number_of(params, *spec), bound = number_of(there, *spec);
    return wanted.is == TaskSetting::Is::kAtLeast ? is >= bound : is <= bound;
  });
}

std::string words_of(const TaskSetting& wanted, record::Schema schema) {
  const record::ParamSpec* const spec = find_spec(schema, wanted.key);
  if (spec == nullptr) return wanted.key;
  std::vector<std::string> values;
  for (const std::string& value : wanted.values) {
    Params there(schema);
    const bool counts = spec->kind == ParamKind::kInteger && there.set(wanted.key, std::string_view(value)).ok();
    values.emplace_back(counts ? record::format_count(there.integer(wanted.key)) : label_of(*spec, value));
  }
  const std::string_view bound = wanted.is == TaskSetting::Is::kAtLeast  ? "at least "
                                 : wanted.is == TaskSetting::Is::kAtMost ? "at most "
                                                                         : "";
  return fmt::format("{}: {}{}", spec->label, bound, fmt::join(values, " or "));
}

}  // namespace headroom::lessons
