// Groups of settings.
#include "demos/experiments/setting_groups.h"

#include <array>

namespace headroom::experiments {

namespace {

using Key = std::string_view;

constexpr std::array kRun{Key("model"),   Key("batch"), Key("seq"),           Key("device"),
                          Key("cap"),     Key("steps"), Key("learning_rate"), Key("seed"),
                          Key("weights"), Key("data"),  Key("trace"),         Key("histogram")};
constexpr std::array kPrecision{Key("precision"), Key("rounding"), Key("moments"), Key("loss_scale"),
                                Key("loss_scale_window")};
constexpr std::array kMemory{Key("checkpointing"),  Key("checkpoint_every"), Key("accumulate"), Key("attention"),
                             Key("loss"),           Key("keep_output"),      Key("loss_mode"),  Key("loss_chunk"),
                             Key("weight_gradient")};
constexpr std::array kOptimizer{Key("optimizer"), Key("optimizer_in_backward"), Key("galore_rank"),
                                Key("galore_interval"), Key("galore_scale")};
constexpr std::array kAdapters{Key("adapters"), Key("lora_rank"), Key("lora_alpha"), Key("lora_targets")};
constexpr std::array kOffload{Key("offload.optimizer"), Key("offload_file"), Key("offload.parameters"),
                              Key("offload.checkpoints")};
constexpr std::array kKernels{Key("fused.rms_norm"),      Key("fused.rope"),      Key("fused.swiglu"),
                              Key("fused.cross_entropy"), Key("fused.embedding"), Key("fused.adamw"),
                              Key("cuda_graph")};
constexpr std::array kShape{Key("hidden_size"), Key("num_layers"),        Key("num_heads"), Key("num_kv_heads"),
                            Key("head_dim"),    Key("intermediate_size"), Key("vocab_size")};

constexpr std::array kGroups{
    SettingGroup{"Run", kRun},
    SettingGroup{"Model's shape", kShape},
    SettingGroup{"Precision", kPrecision},
    SettingGroup{"Memory for compute", kMemory},
    SettingGroup{"Optimizer", kOptimizer},
    SettingGroup{"Adapters", kAdapters},
    SettingGroup{"Offload", kOffload},
    SettingGroup{"Kernels", kKernels},
};

}  // namespace

std::span<const SettingGroup> setting_groups(std::string_view demo) {
  if (demo == "train_step") return kGroups;
  return {};
}

}  // namespace headroom::experiments
