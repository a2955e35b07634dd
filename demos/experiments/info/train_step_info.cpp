// Parameters of `train_step`: several real training steps of a Llama.
#include <array>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/train_step_model.h"
#include "demos/experiments/schema_parts.h"
#include "demos/predict/allocator/placed.h"
#include "demos/predict/optimizers.h"
#include "demos/tokens/id_file.h"

namespace headroom::experiments {

namespace {

using predict::kChoicesOf;
using record::Choice;
using record::FileUse;
using record::ParamRole;
using record::ParamSpec;

constexpr std::array kRoundings{Choice{"nearest", "to nearest"}, Choice{"stochastic", "stochastic"}};
constexpr std::array kWeightGradients{Choice{"model", "like the weights"}, Choice{"fp32", "fp32"}};

constexpr std::array kDataTypes = [] {
  std::array<Choice, tokens::kIdTypes.size() + 1> choices{Choice{tokens::kAnyIdType, "from the file"}};
  for (std::size_t i = 0; i < tokens::kIdTypes.size(); ++i)
    choices[i + 1] = {tokens::kIdTypes[i].name, tokens::kIdTypes[i].name};
  return choices;
}();

constexpr std::array kSumFormats{Choice{"model", "like the gradients"}, Choice{"fp32", "fp32"}};
constexpr std::array kAdapterFormats{Choice{"model", "like the weights"}, Choice{"fp32", "fp32"}};

constexpr std::string_view kRun = "Run", kPrecision = "Precision", kMemory = "Memory for compute",
                           kOptimizer = kOptimizerGroup, kRanks = kRanksGroup, kAdapter = "Adapters",
                           kOffload = "Offload", kKernels = "Kernels", kShape = "Model's shape";

constexpr ParamSpec run(ParamSpec spec) { return in(kRun, ParamRole::kRun, spec); }
constexpr ParamSpec size(ParamSpec spec) { return in(kRun, ParamRole::kShape, spec); }
// A technique, listed under "More".
constexpr ParamSpec folded(std::string_view group, ParamSpec spec) {
  return advanced(in(group, ParamRole::kTechnique, spec));
}

// An optimizer setting that changes no allocation.
constexpr ParamSpec rule(ParamSpec spec) { return advanced(in(kOptimizer, ParamRole::kRun, spec)); }

constexpr ParamSpec fused(std::string_view key, std::string_view label, std::string_view help, bool on = false) {
  return folded(kKernels, composed(on_off(key, label, help, on), "on", "off"));
}

constexpr ParamSpec share(std::string_view key, std::string_view label, std::string_view help, double maximum,
                          double default_number) {
  return linear(real(key, label, help, 0, maximum, default_number));
}

constexpr ParamSpec in_steps(std::string_view key, std::string_view label, std::string_view help) {
  return linear(number(key, label, "steps", help, 0, 1'000'000, 0));
}

// A dimension of a custom model, unless `weights` supplies it.
constexpr ParamSpec length(std::string_view key, std::string_view label, std::string_view help, double maximum,
                           double default_number) {
  ParamSpec spec = advanced(in(kShape, ParamRole::kShape,
                               needs(number(key, label, "", help, 1, maximum, default_number), "model", "custom")));
  spec.unless_key = "weights";
  return spec;
}

constexpr std::array kTrainStepSchema{
    size(choice("model", "Model", "Llama to train; custom takes its shape from `weights` if that is set", kModels)),
    size(number("batch", "Batch", "sequences", "Sequences per step", 1, 256, 4)),
    size(number("seq", "Sequence", "tokens", "Tokens per sequence", 8, 131072, 256)),
    in(kPrecision, ParamRole::kTechnique,
       own(choice("precision", "Precision",
                  "Number format of weights, gradients and activations; mixed also keeps fp32 master weights",
                  kChoicesOf<predict::kPrecisions>),
           "fp16_mixed", "bf16_mixed")),  // loss scaling needs our kernels
    folded(kPrecision, own(choice("gemm", "Products", "Number format of the operands of the linear layers' GEMMs",
                                  kChoicesOf<predict::kGemms>),
                           "fp8", "as_stored")),
    folded(kPrecision,
           needs(choice("fp8_scaling", "fp8 scale by", "Tensors whose largest magnitude sets an operand's scale",
                        kChoicesOf<predict::kFp8Scalings>),
                 "gemm", "fp8")),
    in(kMemory, ParamRole::kTechnique,
       choice("checkpointing", "Checkpointing",
              "Keep only the input of each layer, and recompute the layer in backward",
              kChoicesOf<predict::kCheckpointings>)),
    folded(kMemory, needs(number("checkpoint_every", "Keep every", "layers",
                                 "k: keep only the input of every k-th layer", 1, 512, 2),
                          "checkpointing", "every")),
    run(device_choice("Device to train on; auto: the GPU if there is one")),
    run(unset("none", size_in_bytes("cap", "Memory limit",
                                    "Memory limit, to imitate a smaller card; 0: all memory of the device", 0,
                                    1024.0 * 1024 * 1024 * 1024, 0))),
    run(advanced(number("steps", "Steps", "steps", "Training steps per run", 1, 10000, 3))),
    run(advanced(unset("never", in_steps("eval_every", "Evaluate every",
                                         "Compute the loss of one held-out batch every so many steps; the last tenth "
                                         "of the data is then held out from training; 0: never")))),
    folded(kMemory,
           composed(choice("loss", "Loss", "Cross entropy from all logits at once, or fused with the output layer",
                           kChoicesOf<predict::kLossPaths>),
                    "flce", "plain")),
    folded(kMemory,
           needs(on_off("keep_output", "Output kept",
                        "Keep the logits until the next step, as in a training loop that holds the output", true),
                 "loss", "hf_2024|hf_2025")),
    folded(kMemory, needs(choice("loss_mode", "Logits split", "How the fused loss splits the logits",
                                 kChoicesOf<predict::kLossModes>),
                          "loss", "flce")),
    folded(kMemory,
           needs(unset("automatic",
                       linear(number("loss_chunk", "Chunk", "tokens",
                                     "Tokens per chunk (lean: columns of the vocabulary per slice); 0: suited to the "
                                     "device",
                                     0, 131072, 0))),
                 "loss", "flce")),
    folded(kMemory,
           needs(choice("weight_gradient", "Head gradient sum",
                        "Number format in which the output layer's gradient accumulates over chunks", kWeightGradients),
                 "loss", "flce")),
    folded(kMemory, on_off(predict::kExpandableSegments, "Expandable segments",
                           "PyTorch's allocator maps pages into address ranges instead of allocating segments, which "
                           "leaves fewer gaps")),
    folded(kMemory,
           choice("attention", "Attention",
                  "Flash attention never writes the T × T scores (cuDNN's needs a GPU and 16 bits; automatic takes "
                  "the faster one); eager keeps them",
                  kChoicesOf<predict::kAttentions>)),
    folded(kMemory, number("accumulate", "Micro-batches", "per step",
                           "Micro-batches whose gradients accumulate before the optimizer step", 1, 256, 1)),
    folded(kPrecision, needs(own(choice("rounding", "Rounding", "How updates of bf16 weights are rounded", kRoundings),
                                 "stochastic", "nearest"),
                             "precision", "bf16")),
    folded(kOptimizer,
           own(choice("optimizer", "Optimizer", "Optimizer; it decides which state each weight has, and its bits",
                      kChoicesOf<predict::kOptimizers>),
               "adamw_8bit|paged_adamw_8bit|galore", "adamw")),
    folded(kPrecision, needs(own(choice("moments", "Moments", "Number format of AdamW's two moments",
                                        kChoicesOf<predict::kMoments>),
                                 "fp32|bf16", "model"),
                             "optimizer", "adamw")),
    folded(kPrecision,
           needs(number("loss_scale", "Loss scale", "",
                        "Initial factor of the loss, which keeps fp16 gradients from underflow", 1, 16777216, 65536),
                 "precision", "fp16_mixed")),
    folded(kPrecision, needs(number("loss_scale_window", "Scale window", "steps",
                                    "Steps without overflow after which the loss scale doubles", 1, 100000, 1000),
                             "precision", "fp16_mixed")),
    folded(kOptimizer,
           unset("a quarter of H",
                 needs(number("galore_rank", "Rank", "",
                              "Rows of the projected gradients; 0: a quarter of the hidden size", 0, 65536, 0),
                       "optimizer", "galore"))),
    folded(kOptimizer, needs(number("galore_interval", "Refresh", "steps",
                                    "Steps after which the projections are recomputed", 1, 100000, 200),
                             "optimizer", "galore")),
    folded(kOptimizer, needs(real("galore_scale", "Scale", "α: factor of the projected update", 0.001, 100, 0.25),
                             "optimizer", "galore")),
    rule(real("learning_rate", "Learning rate", "η: AdamW's step size", 1e-7, 1, 1e-3)),
    rule(choice("schedule", "Schedule", "Learning rate after the warm-up", kChoicesOf<predict::kSchedules>)),
    rule(in_steps("warmup_steps", "Warm-up", "W: steps over which the learning rate rises linearly from 0")),
    rule(needs(unset("the run's last step", in_steps("schedule_steps", "Ends at step",
                                                     "N: step at which the learning rate reaches 0, counting the "
                                                     "steps before a resume; 0: this run's last step")),
               "schedule", "linear|cosine")),
    rule(share("beta1", "Beta 1", "β₁: share of the first moment that each step keeps", 0.9999, 0.9)),
    rule(share("beta2", "Beta 2", "β₂: share of the second moment that each step keeps", 0.99999, 0.95)),
    rule(real("epsilon", "Epsilon", "ε: added to the root of the second moment, which divides the update", 1e-15, 1,
              1e-8)),
    rule(share("weight_decay", "Weight decay",
               "λ: each step shrinks matrices by the share η λ; norms and biases do not decay", 1, 0.1)),
    folded(
        kOptimizer,
        unset("not clipped",
              own(share("clip", "Clip to norm",
                        "Largest norm of a step's gradients; above it, all are scaled down together; 0: never", 100, 0),
                  "1", "0"))),
    folded(kOptimizer, on_off("optimizer_in_backward", "Step in backward",
                              "Update each layer as soon as its gradients are complete, and free them")),
    advanced(in(kRanks, ParamRole::kShape,
                number("ranks", "GPUs", "ranks",
                       "N: processes that train together, one per GPU, or on one CPU; each takes `batch` sequences", 1,
                       1024, 1))),
    folded(kRanks, choice("zero", "ZeRO", "What the ranks share instead of copying it; one rank has nothing to share",
                          kChoicesOf<predict::kZeros>)),
    folded(kRanks,
           needs(unset("all ranks",
                       number("zero_group", "Shared by", "ranks",
                              "Ranks that share one copy of the states; it divides `ranks`; 0: all ranks", 0, 1024, 0)),
                 "zero", "1|2|3")),
    folded(kRanks, needs(linear(number("prefetch", "Gather ahead", "layers",
                                       "Layers whose weights are gathered before they are used", 0, 2, 1)),
                         "zero", "3")),
    folded(kRanks, choice("reduce", "Sums in", "Number format in which the ranks' gradients are summed", kSumFormats)),
    folded(kRanks, unset("one layer", size_in_bytes("bucket", "Bucket",
                                                    "Least size of gradients that are summed together; 0: one layer's",
                                                    1024, 64.0 * 1024 * 1024 * 1024, 0))),
    folded(kRanks,
           linear(number("gather_blocks", "Gather with", "blocks",
                         "Thread blocks of NCCL's gathers, at most; each takes a multiprocessor and about 20 MiB", 1,
                         32, 24))),
    folded(kRanks, linear(number("sum_blocks", "Sum with", "blocks",
                                 "Thread blocks of NCCL's sums, at most; each takes a multiprocessor and about 20 MiB",
                                 1, 32, 24))),
    folded(kRanks, unset("never", linear(number("deadline", "Deadline", "s",
                                                "Several ranks are stopped after this long without progress; 0: never",
                                                0, 86400, 600)))),
    folded(kAdapter,
           own(choice("adapters", "Adapters", "Train two thin matrices per frozen weight instead of the weight",
                      kChoicesOf<predict::kAdapters>),
               "qlora", "lora")),
    folded(kAdapter,
           needs(number("lora_rank", "Rank", "", "r: rank of the adapters", 1, 1024, 16), "adapters", "lora|qlora")),
    folded(kAdapter,
           needs(number("lora_alpha", "Alpha", "", "α: the adapters' output is multiplied by α / r", 1, 4096, 32),
                 "adapters", "lora|qlora")),
    folded(kAdapter, needs(choice("lora_targets", "Adapters on", "Which projections have adapters",
                                  kChoicesOf<predict::kAdapterTargets>),
                           "adapters", "lora|qlora")),
    advanced(in(
        kAdapter, ParamRole::kRun,
        needs(choice("lora_start", "Start of A", "Initial values of A, as in PEFT's init_lora_weights; B starts at 0",
                     kChoicesOf<predict::kAdapterStarts>),
              "adapters", "lora|qlora"))),
    folded(kAdapter, needs(choice("lora_precision", "Adapter format",
                                  "Number format of the adapters, their gradients and moments. fp32 with 16-bit "
                                  "weights is PEFT's default (autocast_adapter_dtype); PEFT needs more memory for it, "
                                  "because it also keeps each projection's input in fp32",
                                  kAdapterFormats),
                           "adapters", "lora|qlora")),
    // Our kernels check the gradients for non-finite values.
    folded(kOffload, own(choice("offload.optimizer", "Optimizer state in",
                                "Place of masters and moments; if not on the device, the CPU runs the optimizer",
                                kChoicesOf<predict::kStateOffloads>),
                         "host|file", "off")),
    in(kOffload, ParamRole::kRun,
       needs(unset("a temporary file",
                   file("offload_file", "State's file",
                        "File for the optimizer's state; empty: one in the folder for temporary files",
                        FileUse::kWritten)),
             "offload.optimizer", "file")),
    folded(kOffload, on_off("offload.parameters", "Stream weights",
                            "Keep weights on the host, and only the current and the next layer's on the device")),
    folded(kOffload, on_off("offload.checkpoints", "Stream checkpoints",
                            "Move the kept inputs of layers to the host until backward needs them")),
    // Our AdamW counts its steps on the device.
    folded(kKernels, own(on_off("cuda_graph", "CUDA graph",
                                "Record the step once and replay it, with one launch instead of up to two thousand"),
                         "on", "off")),
    fused("fused.rms_norm", "Fused RMSNorm", "RMSNorm, with the residual addition before it, as one kernel"),
    fused("fused.rope", "Fused RoPE", "Rotate queries and keys in place, in one kernel"),
    fused("fused.swiglu", "Fused SwiGLU",
          "SwiGLU as one kernel, which recomputes its product in backward instead of "
          "keeping it"),
    folded(kKernels, needs(on_off("fused.keep", "Fused kernels keep",
                                  "Keep the product of fused SwiGLU and the outputs of fused norms instead of "
                                  "recomputing them"),
                           "fused.swiglu", "on")),
    needs(fused("fused.cross_entropy", "Fused cross entropy",
                "Loss and gradient in one pass over the logits; the gradient overwrites them"),
          "loss", "plain"),
    fused("fused.embedding", "Fused embedding", "Accumulate the embedding's gradient without a second table"),
    fused("fused.adamw", "Fused AdamW", "The optimizer as one kernel over all weights", true),
    run(advanced(own(on_off("histogram", "Gradient histogram",
                            "Count gradients and updates by exponent for the first 1,000 steps; takes time and memory"),
                     "on", "off"))),
    run(trace_switch("Record every kernel and launch, in a separate engine; this slows the run")),
    run(seed("Seed for the initial weights and the order of the text")),
    run(unset("none",
              file("weights", "Your model",
                   "Folder of a Hugging Face Llama checkpoint in safetensors, or a config.json alone for its shape; "
                   "empty draws random weights",
                   FileUse::kCheckpoint))),
    run(unset(
        "the text of this course",
        file("data", "Text",
             "Training data: UTF-8 text, tokenized by the tokenizer.json in the folder `weights`, or else by bytes; "
             "or token ids as .npy or .bin; empty: the text that ships with Headroom",
             FileUse::kText))),
    run(advanced(choice("data_type", "Type of ids",
                        "Number format of the ids in `data`, as numpy names it; needed only for a .bin whose header "
                        "and ids do not determine it",
                        kDataTypes))),
    run(unset("nowhere",
              file("save", "Save to",
                   "New folder for the trained model in Hugging Face's layout, or for the adapters in PEFT's",
                   FileUse::kNewFolder))),
    run(advanced(
        on_off("save_state", "Save the state",
               "Also save the optimizer's state and the position in the data, so that another run can resume"))),
    run(advanced(
        needs(on_off("save_merged", "Save merged", "Save the whole model, with the adapters added to its weights"),
              "adapters", "lora|qlora"))),
    run(unset("from the start",
              file("resume", "Resume from", "Folder that a run with the same settings and save_state=on wrote",
                   FileUse::kSaved))),
    length("hidden_size", "Hidden size", "H: width of the residual stream", 65536, 256),
    length("num_layers", "Layers", "L: transformer layers", 512, 4),
    length("num_heads", "Query heads", "A: attention heads", 512, 8),
    length("num_kv_heads", "Key/value heads", "K: must divide the number of query heads", 512, 4),
    length("head_dim", "Head width", "D: a multiple of 8 up to 256", 256, 32),
    length("intermediate_size", "MLP size", "F: width inside the MLP", 262144, 704),
    length("vocab_size", "Vocabulary", "V: 256 or more, because without a tokenizer each byte is a token", 1048576,
           4096),
};

// 0 for an unreadable checkpoint, whose error the run reports.
record::Bytes state_bytes(const record::Params& params) {
  predict::StepSettings step = predict::step_settings(params);
  const auto model = train_step_model(step);
  if (!model) return 0;
  step.model = model.value().config;
  return predict::optimizer_state_bytes(step);
}

std::int64_t ranks_of(const record::Params& params) { return params.integer("ranks"); }

// One rank waits for nobody.
std::int64_t patience_of(const record::Params& params) { return ranks_of(params) > 1 ? params.integer("deadline") : 0; }

}  // namespace

extern const DemoInfo kTrainStep;
constinit const DemoInfo kTrainStep = {
    .id = "train_step",
    .title = "One training step",
    .summary = "Train a Llama on real text for a few steps and record every allocation.",
    .schema = kTrainStepSchema,
    .trains = true,
    .written_bytes = &state_bytes,
    .traced = &trace_is_on,
    .patience = &patience_of,
    .ranks = &ranks_of,
};

const DemoInfo& training_step() { return kTrainStep; }

}  // namespace headroom::experiments
