// Tables of other code and of the report.
#include "demos/experiments/strategies.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "demos/predict/step_settings.h"

namespace headroom::experiments {

namespace {

// Measured in docs/results/prediction-h200.md; for adapters docs/results/peft-cpu.md.
constexpr std::string_view kHfSeen =
    "ours took up to 0.3 % less, measured for Llama 3.2 1B with 1,024 tokens on an H200";
constexpr std::string_view kPeftSeen =
    "ours took 2 % more without checkpointing and as much with it, measured for a Llama of 4 layers on a CPU";
constexpr std::string_view kLigerSeen =
    "ours took from 0.3 % less to 0.3 % more, measured for Llama 3.2 1B with 1,024 tokens on an H200";

// These codes use SDPA and PyTorch's fused AdamW. Their training loops keep nothing but the loss between steps.
constexpr std::array kOtherCodes{
    OtherCode{"hf",
              "Hugging Face Transformers 5.17",
              {"loss=hf_2025", "keep_output=off"},
              {Compared{{"precision=bf16"}, kHfSeen}, Compared{{"precision=bf16", "checkpointing=layer"}, kHfSeen},
               Compared{{"precision=bf16", "adapters=lora"}, kPeftSeen},
               Compared{{"precision=bf16", "adapters=lora", "checkpointing=layer"}, kPeftSeen}}},
    OtherCode{
        "liger",
        "Liger-Kernel 0.8.5",
        {"loss=flce", "loss_mode=report", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.keep=on"},
        {Compared{{"precision=bf16"}, kLigerSeen}, Compared{{"precision=bf16", "checkpointing=layer"}, kLigerSeen}}}};

// Without keep_output the first two peaks would be smaller than the report's.
constexpr std::array kStrategies{
    ReportStrategy{"hf", {"loss=hf_2024", "keep_output=on"}},
    ReportStrategy{"liger_without_flce",
                   {"loss=hf_2024", "keep_output=on", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on"}},
    ReportStrategy{"liger_all",
                   {"loss=flce", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.embedding=on"}},
};

// The report's card has 24,564 MiB; the CUDA context and the driver take the rest.
constexpr Settings kFull{"model=llama-3.2-1b",     "precision=fp16_mixed",  "loss_scale=128", "checkpointing=layer",
                         "offload.optimizer=host", "offload.parameters=on", "cap=23.2GiB",    "steps=4"};
// bf16 instead of fp16, whose GEMMs are slow on CPUs.
constexpr Settings kQuick{"model=tiny",
                          "precision=bf16_mixed",
                          "checkpointing=layer",
                          "offload.optimizer=host",
                          "offload.parameters=on",
                          "cap=96MiB",
                          "steps=3",
                          "device=cpu"};

}  // namespace

void apply_one(record::Params& params, std::string_view setting) {
  if (auto set = params.set_assignment(setting); !set) throw std::logic_error(set.error().message);
}

void apply(record::Params& params, const Settings& settings) {
  for (const std::string_view setting : settings)
    if (!setting.empty()) apply_one(params, setting);
}

std::span<const OtherCode> other_codes() { return kOtherCodes; }

namespace {

// Techniques that differ from those of a measurement, e.g. "adapters=lora".
std::vector<std::string> differences(const record::Params& params, const record::Params& measured) {
  std::vector<std::string> all;
  for (const record::ParamSpec& spec : params.schema()) {
    if (spec.role != record::ParamRole::kTechnique || !params.in_use(spec.key)) continue;
    const std::string value = params.as_text(spec.key);
    if (value != measured.as_text(spec.key)) all.push_back(std::string(spec.key) + "=" + value);
  }
  return all;
}

}  // namespace

std::string nearness(const OtherCode& code, const record::Params& train_step) {
  std::vector<std::string> fewest;
  for (const Compared& compared : code.compared) {
    if (compared.seen.empty()) break;
    record::Params measured(train_step.schema());
    apply(measured, code.settings);
    apply(measured, compared.settings);
    std::vector<std::string> different = differences(train_step, measured);
    if (different.empty()) return std::string(compared.seen);
    if (fewest.empty() || different.size() < fewest.size()) fewest = std::move(different);
  }
  std::string settings;
  for (const std::string& each : fewest) settings += " " + each;
  return "the difference is not known, because nothing was compared with" + settings;
}

std::string peft_takes_more(const record::Params& train_step) {
  const predict::StepSettings step = predict::step_settings(train_step);
  if (step.adapters.kind == predict::AdapterKind::kOff || !step.adapters.fp32) return {};
  return "PEFT needs more memory: with adapters in fp32, PEFT also keeps the input of each projection in fp32, which "
         "our step does not. A Llama with 4 layers and 4 × 512 tokens took 157 MiB with PEFT 0.21 and 107 MiB here; "
         "with checkpointing=layer it took 64 and 44 MiB.";
}

std::span<const ReportStrategy> report_strategies() { return kStrategies; }

const Settings& report_settings(bool quick) { return quick ? kQuick : kFull; }

}  // namespace headroom::experiments
