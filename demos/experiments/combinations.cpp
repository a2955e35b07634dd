// The table of conflicts.
#include "demos/experiments/combinations.h"

#include <array>

#include <fmt/format.h>

#include "demos/predict/allocator/placed.h"

namespace headroom::experiments {

namespace {

constexpr std::array kConflicts{
    Conflict{"fused.keep", "on", "checkpointing", "selective", "one keeps what the other recomputes"},

    Conflict{"gemm", "fp8", "precision", "!bf16|bf16_mixed", "its GEMMs write outputs and gradients in bf16"},
    Conflict{"gemm", "fp8", "adapters", "lora|qlora",
             "adapters read their inputs in bf16, and a frozen weight keeps no input that fp8 could shrink"},
    Conflict{"gemm", "tf32", "precision", "!fp32",
             "tf32 GEMMs take fp32 operands, and 16-bit operands are not widened"},

    Conflict{"offload.parameters", "on", "checkpointing", "off|selective",
             "unless whole layers are recomputed, autograd keeps every layer's weights on the device"},
    Conflict{"offload.parameters", "on", "offload.optimizer", "off",
             "a layer's gradients leave the device with its weights, so the optimizer must run on the host"},
    Conflict{"offload.parameters", "on", "adapters", "lora|qlora",
             "frozen weights have no gradients to move, and adapters are small enough to stay on the device"},
    Conflict{"offload.checkpoints", "on", "checkpointing", "off|selective", "there are no checkpoints to move"},
    Conflict{"offload.optimizer", "host|file", "optimizer", "!adamw", "the host runs AdamW only"},
    Conflict{"offload.optimizer", "host|file", "fused.adamw", "off", "the host uses PyTorch's fused AdamW in any case"},
    Conflict{"offload.optimizer", "host|file", "rounding", "stochastic", "the host's AdamW rounds to nearest"},
    Conflict{"offload.optimizer", "host|file", "moments", "fp32|bf16",
             "the host's AdamW keeps moments in the format of its weights"},
    Conflict{"offload.optimizer", "host|file", "optimizer_in_backward", "on",
             "the host updates each layer during backward in any case"},

    Conflict{"optimizer_in_backward", "on", "accumulate", "!1",
             "the weights would change between two micro-batches of one step"},

    Conflict{"clip", "!0", "optimizer_in_backward", "on",
             "the first weights are updated before the norm of all gradients is known"},
    Conflict{"clip", "!0", "offload.optimizer", "host|file",
             "gradients leave the device layer by layer, before the norm of all is known"},

    // CUDA graphs repeat one step, on the device alone.
    Conflict{"cuda_graph", "on", "device", "cpu", "only a GPU has CUDA graphs"},
    Conflict{"cuda_graph", "on", "offload.optimizer", "host|file", "a graph cannot wait for the CPU's part of a step"},
    Conflict{"cuda_graph", "on", "offload.parameters", "on", "a graph cannot wait for copies that the CPU starts"},
    Conflict{"cuda_graph", "on", "offload.checkpoints", "on", "a graph cannot wait for copies that the CPU starts"},
    Conflict{"cuda_graph", "on", "optimizer", "galore",
             "a graph repeats one step, but projections are recomputed in some steps only"},
    Conflict{"cuda_graph", "on", "schedule", "linear|cosine", "a graph repeats the learning rate of the recorded step"},
    Conflict{"cuda_graph", "on", "warmup_steps", "!0", "a graph repeats the learning rate of the recorded step"},
    Conflict{"cuda_graph", "on", "eval_every", "!0",
             "memory that a graph frees stays in its pool, so an evaluation would allocate more"},
    Conflict{"cuda_graph", "on", "fused.adamw", "off", "only the fused kernel counts its steps on the device"},
    Conflict{"cuda_graph", "on", "keep_output", "on",
             "a graph's tensors have fixed addresses, so each step overwrites the previous output"},

    Conflict{"attention", "cudnn", "device", "cpu", "cuDNN runs on GPUs only"},
    Conflict{predict::kExpandableSegments, "on", "device", "cpu", "only a GPU's allocator has segments"},

    Conflict{"save", "!", "offload.parameters", "on", "streamed weights cannot be saved"},
    Conflict{"resume", "!", "offload.parameters", "on", "streamed weights cannot be resumed"},
    Conflict{"save_state", "on", "save", "", "the state is saved in that folder"},
    Conflict{"save_state", "on", "offload.optimizer", "file", "a state in a file cannot be saved"},
    Conflict{"save_state", "on", "save_merged", "on", "a merged model has no adapters to resume"},
    Conflict{"resume", "!", "offload.optimizer", "file", "a state in a file cannot be resumed"},

    Conflict{"zero", "!off", "optimizer", "galore", "GaLore projects whole matrices, and each rank has slices"},
    Conflict{"zero", "!off", "offload.optimizer", "file", "each rank's slices would need a file of their own"},
    Conflict{"zero", "!off", "histogram", "on", "each rank would count its slices only"},
    Conflict{"zero", "1", "optimizer_in_backward", "on",
             "with ZeRO-1 all gradients wait for the optimizer; zero=2 frees them layer by layer"},
    Conflict{"zero", "3", "offload.parameters", "on", "both decide where a layer's weights are"},
    Conflict{"zero", "3", "cuda_graph", "on", "a graph replays fixed addresses, and gathered weights have new ones"},
    Conflict{"zero", "3", "gemm", "fp8", "fp8 codes of a weight are made from the whole weight"},
    Conflict{"zero", "3", "save_merged", "on", "no rank has whole weights to merge adapters into"},

    Conflict{"optimizer", "galore", "adapters", "lora|qlora", "adapters already have a low rank"},
    Conflict{"optimizer", "adamw_foreach", "precision", "fp16_mixed|bf16_mixed",
             "PyTorch's foreach operators step weights in the format of their gradients"},
    Conflict{"optimizer", "adamw_foreach", "weight_gradient", "fp32",
             "PyTorch's foreach operators take gradients in the format of their weights"},
    Conflict{"optimizer", "adamw_foreach", "rounding", "stochastic", "PyTorch's operators round to nearest"},
    Conflict{"optimizer", "adamw_foreach", "cuda_graph", "on", "only the fused kernel counts its steps on the device"},
    Conflict{"optimizer", "adamw_8bit|paged_adamw_8bit|galore", "fused.adamw", "off",
             "only AdamW with full-size moments offers this choice"},
    Conflict{"optimizer", "galore", "precision", "fp16_mixed", "GaLore cannot project a gradient that overflowed"},
    Conflict{"optimizer", "galore", "rounding", "stochastic", "its updates come from GEMMs, which round to nearest"},
    Conflict{"precision", "fp16_mixed", "fused.adamw", "off",
             "only the fused kernels skip a step after an overflow without a host synchronization"},
    Conflict{"moments", "fp32|bf16", "fused.adamw", "off",
             "PyTorch's operators keep moments in the format of the "
             "weights"},
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
  return fmt::format("{}={} cannot be combined with {}={}: {}.", conflict->key, params.as_text(conflict->key),
                     conflict->other, params.as_text(conflict->other), conflict->reason);
}

std::optional<std::string> refused_combination(record::Params params, record::DeviceKind device) {
  if (params.has("device") && device == record::DeviceKind::kCpu) (void)params.set("device", "cpu");
  return refused_combination(params);
}

}  // namespace headroom::experiments
