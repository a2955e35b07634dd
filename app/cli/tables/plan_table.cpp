// Formats plans as text, CSV and JSON.
#include "app/cli/tables/plan_table.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/planned.h"
#include "app/cli/tables/text_table.h"
#include "app/common/settings_json.h"
#include "demos/experiments/demo.h"
#include "demos/record/file/json_fields.h"
#include "lessons/wording.h"

namespace headroom::app {

using nlohmann::json;
using record::Bytes;
using record::Category;

namespace {

std::string count(const record::Params& params, const char* key) { return record::format_count(params.integer(key)); }

// "backward, layer 3, mlp.down_proj"
std::string place_of_peak(const StepPlan& plan) {
  std::string text(record::label_of(plan.phase));
  if (plan.layer != record::kNoLayer) text += fmt::format(", layer {}", plan.layer);
  if (!plan.op.empty()) text += ", " + plan.op;
  return text;
}

std::string largest_on(const StepPlan& plan, std::string_view key, const std::optional<std::int64_t>& largest) {
  if (!largest) return "not known";
  return *largest > 0 ? largest_text(plan.params, key, *largest) : "none";
}

// Negative if the card has too little memory.
Bytes left_on(const CardPlan& plan) { return usable_bytes(plan.card) - plan.fit.reserved; }

// Both tables use the largest number's unit.
lessons::ShownUnit unit_of(const std::vector<StepPlan>& plans) {
  Bytes most = 0;
  for (const StepPlan& plan : plans) {
    most = std::max({most, plan.allocated, plan.reserved});
    for (const CardPlan& on : plan.cards) most = std::max({most, on.card.memory, on.fit.reserved});
  }
  return table_unit(most);
}

std::vector<std::vector<std::string>> memory_rows(const std::vector<StepPlan>& plans) {
  const auto text = [unit = unit_of(plans)](Bytes bytes) {
    return bytes == 0 ? std::string() : table_bytes(bytes, unit);
  };
  std::vector<std::vector<std::string>> rows{{"peak in", "batch", "sequence", "peak", "reserved"}};
  for (int c = 0; c < record::kNumCategories; ++c)
    rows.front().emplace_back(record::label_of(static_cast<Category>(c)));
  for (const StepPlan& plan : plans) {
    if (!plan.refusal.empty()) continue;
    std::vector<std::string>& row = rows.emplace_back();
    row = {place_of_peak(plan), count(plan.params, "batch"), count(plan.params, "seq"), text(plan.allocated),
           text(plan.reserved)};
    for (const Bytes bytes : plan.by_category) row.push_back(text(bytes));
  }
  return rows;
}

std::vector<std::vector<std::string>> card_rows(const std::vector<StepPlan>& plans) {
  std::vector<std::vector<std::string>> rows{
      {"card", "verdict", "batch", "sequence", "usable", "reserved", "left", "largest batch", "largest sequence"}};
  const lessons::ShownUnit unit = unit_of(plans);
  for (const StepPlan& plan : plans)
    for (const CardPlan& on : plan.cards)
      rows.push_back({on.card.name, std::string(predict::label_of(on.fit.verdict)), count(plan.params, "batch"),
                      count(plan.params, "seq"), table_bytes(usable_bytes(on.card), unit),
                      table_bytes(on.fit.reserved, unit), table_bytes(left_on(on), unit),
                      largest_on(plan, "batch", on.largest_batch), largest_on(plan, "seq", on.largest_sequence)});
  return rows;
}

// "usable: 23.99 GiB on GeForce RTX 4090, less …", one line per card.
std::string usable_text(const std::vector<StepPlan>& plans) {
  const lessons::ShownUnit unit = unit_of(plans);
  std::string text;
  for (const CardPlan& on :
       std::ranges::find_if(plans, [](const StepPlan& plan) { return !plan.cards.empty(); })->cards) {
    const predict::ProcessBytes& process = on.card.process;
    const std::string nccl = process.communicators == 0
                                 ? ""
                                 : fmt::format(", of which NCCL takes {}", table_bytes(process.communicators, unit));
    text += fmt::format(
        "  usable: {} on {}, less {} ± {} for the CUDA context, kernels and libraries{}, as recorded on {}.\n",
        table_bytes(on.card.memory, unit), on.card.name, table_bytes(process.bytes, unit),
        table_bytes(process.margin, unit), nccl, process.source);
  }
  return text;
}

json card_json(const CardPlan& plan) {
  const auto or_null = [](const std::optional<std::int64_t>& value) { return value ? json(*value) : json(nullptr); };
  return {{"card", plan.card.name},
          {"memory_bytes", plan.card.memory},
          {"process_bytes", plan.card.process.bytes},
          {"communicator_bytes", plan.card.process.communicators},
          {"usable_bytes", usable_bytes(plan.card)},
          {"margin_bytes", plan.card.process.margin},
          {"verdict", predict::key_of(plan.fit.verdict)},
          {"reserved_bytes", plan.fit.reserved},
          {"left_bytes", left_on(plan)},
          {"largest_batch", or_null(plan.largest_batch)},
          {"largest_sequence", or_null(plan.largest_sequence)}};
}

json step_json(const StepPlan& plan) {
  json step{{"params", settings_json(experiments::training_step().id, plan.params.to_map(), plan.shape)}};
  if (!plan.refusal.empty()) {
    step["refusal"] = plan.refusal;
    return step;
  }
  step["source"] = record::key_of(plan.why_formula.empty() ? record::Source::kPredicted : record::Source::kFormula);
  if (!plan.why_formula.empty()) step["why_formula"] = plan.why_formula;
  if (!plan.left_out.empty()) step["left_out"] = plan.left_out;
  if (!plan.assumed.empty()) step["assumed"] = plan.assumed;
  if (plan.parameters > 0) step["parameters"] = plan.parameters;
  step["peak_requested_bytes"] = plan.requested;
  step["peak_bytes"] = plan.allocated;
  step["peak_reserved_bytes"] = plan.reserved;
  step["peak_by_category"] = record::to_object(plan.by_category);
  step["peak_phase"] = record::key_of(plan.phase);
  step["peak_layer"] = plan.layer == record::kNoLayer ? json(nullptr) : json(plan.layer);
  step["peak_operator"] = plan.op;
  step["cards"] = json::array();
  for (const CardPlan& on : plan.cards) step["cards"].push_back(card_json(on));
  return step;
}

// All steps share one model.
std::string model_text(const std::vector<StepPlan>& plans) {
  const auto known = std::ranges::find_if(plans, [](const StepPlan& plan) { return plan.parameters > 0; });
  if (known == plans.end()) return "";
  std::string text = fmt::format("  parameters: {}\n", record::format_count(known->parameters));
  for (const std::string& each : known->assumed) text += fmt::format("  assumed: {}\n", each);
  return text;
}

// ", adapters=lora": techniques that settings_line() omits.
std::string more_techniques(const record::Params& params) {
  const record::Params first(params.schema());
  std::string text;
  for (const record::ParamSpec& spec : params.schema()) {
    const std::string value = params.as_text(spec.key);
    if (spec.role == record::ParamRole::kTechnique && !lessons::in_provenance_line(spec) && params.in_use(spec.key) &&
        value != first.as_text(spec.key))
      text += fmt::format(", {}={}", spec.key, value);
  }
  return text;
}

// Common settings: "Llama 3.2 1B, bf16, fp32 masters, checkpointing each layer, adapters=lora".
std::string common_words(const std::vector<StepPlan>& plans) {
  if (plans.empty()) return {};
  const StepPlan& plan = plans.front();
  auto params = plan.params.to_map();
  for (const char* const key : {"batch", "seq"}) params.erase(key);
  const record::RunInfo info{
      .demo = std::string(experiments::training_step().id), .params = std::move(params), .provenance = plan.shape};
  return fmt::format("  {}{}\n\n", lessons::settings_line(info), more_techniques(plan.params));
}

}  // namespace

std::string plan_text(const std::vector<StepPlan>& plans) {
  std::string text = common_words(plans);
  if (const auto rows = memory_rows(plans); rows.size() > 1) text += text_table(rows, 1);
  if (const auto rows = card_rows(plans); rows.size() > 1) {
    text += "\n" + text_table(rows, 2);
    text +=
        "\n" + usable_text(plans) +
        "  left: usable minus reserved. The allocator releases cached memory before it fails, so a step with nothing "
        "left may fit.\n  largest: the most that fits even if the process needs the full ±.\n";
  }
  text += model_text(plans);
  for (const StepPlan& plan : plans) {
    const std::string batch = count(plan.params, "batch");
    for (const std::string& missing : plan.left_out) text += fmt::format("  batch {}: without {}\n", batch, missing);
    if (!plan.refusal.empty()) text += fmt::format("  batch {}: {}\n", batch, plan.refusal);
  }
  return text;
}

std::string plan_csv(const std::vector<StepPlan>& plans) {
  std::string text = "batch,sequence,peak_requested_bytes,peak_bytes,peak_reserved_bytes";
  for (int c = 0; c < record::kNumCategories; ++c)
    text += fmt::format(",{}_bytes", record::key_of(static_cast<Category>(c)));
  text +=
      ",peak_phase,peak_layer,peak_operator,card,memory_bytes,process_bytes,margin_bytes,verdict,left_bytes,"
      "largest_batch,largest_sequence\n";
  for (const StepPlan& plan : plans) {
    if (!plan.refusal.empty()) continue;
    std::string step = fmt::format("{},{},{},{},{}", plan.params.integer("batch"), plan.params.integer("seq"),
                                   plan.requested, plan.allocated, plan.reserved);
    for (const Bytes bytes : plan.by_category) step += fmt::format(",{}", bytes);
    step += fmt::format(",{},{},{}", record::key_of(plan.phase),
                        plan.layer == record::kNoLayer ? "" : std::to_string(plan.layer), plan.op);
    if (plan.cards.empty()) text += step + ",,,,,,,,\n";
    for (const CardPlan& on : plan.cards) {
      const auto or_blank = [](const auto& value) { return value ? std::to_string(*value) : std::string(); };
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", step, on.card.name, on.card.memory, on.card.process.bytes,
                          on.card.process.margin, predict::key_of(on.fit.verdict), left_on(on),
                          or_blank(on.largest_batch), or_blank(on.largest_sequence));
    }
  }
  return text;
}

json plan_json(const std::vector<StepPlan>& plans) {
  json steps = json::array();
  for (const StepPlan& plan : plans) steps.push_back(step_json(plan));
  return {{"steps", std::move(steps)}};
}

}  // namespace headroom::app
