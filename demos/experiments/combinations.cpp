// The table of conflicts.
#include "demos/experiments/combinations.h"

#include <array>

#include <fmt/format.h>

#include "demos/predict/placed.h"

namespace headroom::experiments {

namespace {

constexpr std::array kConflicts{
    // Recomputation.
    Conflict{"fused.keep", "on", "checkpointing", "selective", "one keeps what the other builds again"},

    // GEMM formats.
    Conflict{"gemm", "fp8", "precision", "!bf16|bf16_mixed", "results and gradients of its products are bf16"},
    Conflict{"gemm", "fp8", "adapters", "lora|qlora",
             "adapters read their inputs in bf16, and a frozen weight has no input to keep in fp8"},
    Conflict{"gemm", "tf32", "precision", "!fp32", "tf32 is fp32 with fewer bits, and 16 bits are not widened to it"},

    // Offload.
    Conflict{"offload.parameters", "on", "checkpointing", "off|selective",
             "without whole layers that are run again, autograd keeps every layer's weights on the device"},
    Conflict{"offload.parameters", "on", "offload.optimizer", "off",
             "the gradients of a layer leave the device with its weights, so the weights are stepped on the host"},
    Conflict{"offload.parameters", "on", "adapters", "lora|qlora",
             "frozen weights take no gradients back, and the adapters are small enough to stay"},
    Conflict{"offload.checkpoints", "on", "checkpointing", "off|selective", "there are no checkpoints to move"},
    Conflict{"offload.optimizer", "host|file", "optimizer", "adamw_8bit|galore", "the CPU steps with AdamW only"},
    Conflict{"offload.optimizer", "host|file", "fused.adamw", "off",
             "on the CPU PyTorch's fused AdamW steps, whichever the device would take"},
    Conflict{"offload.optimizer", "host|file", "rounding", "stochastic", "the CPU's AdamW rounds to nearest"},
    Conflict{"offload.optimizer", "host|file", "moments", "fp32|bf16",
             "the CPU's AdamW keeps moments as it keeps what it steps"},
    Conflict{"offload.optimizer", "host|file", "optimizer_in_backward", "on",
             "the CPU steps each layer during backward in any case"},

    // Time of the weight update.
    Conflict{"optimizer_in_backward", "on", "accumulate", "!1",
             "the weights would change between two batches of one step"},

    Conflict{"clip", "!0", "optimizer_in_backward", "on",
             "the first weights are stepped before the norm of all gradients is known"},
    Conflict{"clip", "!0", "offload.optimizer", "host|file",
             "gradients leave the device layer by layer, before the norm of all is known"},

    // CUDA graphs repeat one step, on the device alone.
    Conflict{"cuda_graph", "on", "device", "cpu", "only a GPU has CUDA graphs"},
    Conflict{"cuda_graph", "on", "offload.optimizer", "host|file",
             "a graph does not wait for the CPU's part of a step"},
    Conflict{"cuda_graph", "on", "offload.parameters", "on", "a graph does not wait for copies that the CPU starts"},
    Conflict{"cuda_graph", "on", "offload.checkpoints", "on", "a graph does not wait for copies that the CPU starts"},
    Conflict{"cuda_graph", "on", "optimizer", "galore",
             "a graph repeats one step, and the projections are worked out anew in some steps only"},
    Conflict{"cuda_graph", "on", "schedule", "linear|cosine", "a graph repeats the learning rate of the recorded step"},
    Conflict{"cuda_graph", "on", "warmup_steps", "!0", "a graph repeats the learning rate of the recorded step"},
    Conflict{"cuda_graph", "on", "eval_every", "!0",
             "what a graph frees stays in its pool, and an evaluation would take its memory beside it"},
    Conflict{"cuda_graph", "on", "fused.adamw", "off", "only the fused kernel counts its steps on the device"},
    Conflict{"cuda_graph", "on", "keep_output", "on",
             "a graph's tensors are in one place, where the next step's output overwrites the last one's"},

    // Other features that only GPUs have.
    Conflict{"attention", "cudnn", "device", "cpu", "cuDNN runs on GPUs only"},
    Conflict{predict::kExpandableSegments, "on", "device", "cpu", "only the allocator of a GPU has segments"},

    // Saving and resuming.
    Conflict{"save", "!", "offload.parameters", "on", "weights that are streamed are not written"},
    Conflict{"resume", "!", "offload.parameters", "on", "weights that are streamed are not read again"},
    Conflict{"save_state", "on", "save", "", "the state is written into that folder"},
    Conflict{"save_state", "on", "offload.optimizer", "file", "a state in a file is not written"},
    Conflict{"save_state", "on", "save_merged", "on", "a merged model has no adapters to go on with"},
    Conflict{"resume", "!", "offload.optimizer", "file", "a state in a file is not read again"},

    // Limits of the optimizers.
    Conflict{"optimizer", "galore", "adapters", "lora|qlora", "adapters are of low rank already"},
    Conflict{"optimizer", "adamw_8bit|galore", "fused.adamw", "off",
             "it is a choice of AdamW's with its moments whole"},
    Conflict{"optimizer", "galore", "precision", "fp16_mixed", "a gradient that overflowed has no eigenvectors"},
    Conflict{"optimizer", "galore", "rounding", "stochastic",
             "its updates are matrix products, which round to nearest"},
    Conflict{"precision", "fp16_mixed", "fused.adamw", "off",
             "only the fused kernels leave the weights alone after an overflow without reporting to the host"},
    Conflict{"moments", "fp32|bf16", "fused.adamw", "off", "PyTorch's operators keep moments as the weights are kept"},
    Conflict{"rounding", "stochastic", "fused.adamw", "off", "PyTorch's operators round to nearest"},
};

bool matches(std::string_view value, std::string_view pattern) {
  return pattern.starts_with('!') ? !record::is_one_of(value, pattern.substr(1)) : record::is_one_of(value, pattern);
}

bool set_to(const record::Params& params, std::string_view key, std::string_view pattern) {
  return params.has(key) && params.in_use(key) && matches(params.as_text(key), pattern);
}

}  // namespace

std::span<const Conflict> train_step_conflicts() { return kConflicts; }

const Conflict* conflict_in(const record::Params& params) {
  for (const Conflict& conflict : kConflicts)
    if (set_to(params, conflict.key, conflict.value) && set_to(params, conflict.other, conflict.other_value))
      return &conflict;
  return nullptr;
}

std::optional<std::string> refused_combination(const record::Params& params) {
  const Conflict* conflict = conflict_in(params);
  if (conflict == nullptr) return std::nullopt;
  return fmt::format("{}={} does not go with {}={}: {}.", conflict->key, params.as_text(conflict->key), conflict->other,
                     params.as_text(conflict->other), conflict->reason);
}

std::optional<std::string> refused_combination(record::Params params, record::DeviceKind device) {
  if (params.has("device") && device == record::DeviceKind::kCpu) (void)params.set("device", "cpu");
  return refused_combination(params);
}

}  // namespace headroom::experiments
