// Parameters of `train_step`: several real training steps of a Llama.
#include <array>

#include "demos/experiments/demo.h"
#include "demos/experiments/schema_parts.h"
#include "demos/experiments/train_step_model.h"
#include "demos/predict/placed.h"
#include "demos/predict/step_bytes.h"
#include "demos/tokens/id_file.h"

namespace headroom::experiments {

namespace {

using predict::kChoicesOf;
using record::Choice;
using record::FileUse;
using record::ParamKind;
using record::ParamRole;
using record::ParamSpec;

constexpr std::array kRoundings{Choice{"nearest", "to nearest"}, Choice{"stochastic", "stochastic"}};
constexpr std::array kWeightGradients{Choice{"model", "as the weights"}, Choice{"fp32", "fp32"}};

// Named after the id types.
constexpr std::array kDataTypes = [] {
  std::array<Choice, tokens::kIdTypes.size() + 1> choices{Choice{tokens::kAnyIdType, "as the file says"}};
  for (std::size_t i = 0; i < tokens::kIdTypes.size(); ++i)
    choices[i + 1] = {tokens::kIdTypes[i].name, tokens::kIdTypes[i].name};
  return choices;
}();

constexpr std::array kAdapterFormats{Choice{"model", "as the weights"}, Choice{"fp32", "fp32"}};

// --- headings of the groups, in order of first use

constexpr std::string_view kRun = "Run", kPrecision = "Precision", kMemory = "Memory for compute",
                           kOptimizer = kOptimizerGroup, kAdapter = "Adapters", kOffload = "Offload",
                           kKernels = "Kernels", kShape = "Model's shape";

constexpr ParamSpec run(ParamSpec spec) { return in(kRun, ParamRole::kRun, spec); }
constexpr ParamSpec size(ParamSpec spec) { return in(kRun, ParamRole::kShape, spec); }
// A technique, listed under "More".
constexpr ParamSpec folded(std::string_view group, ParamSpec spec) {
  return advanced(in(group, ParamRole::kTechnique, spec));
}

// An optimizer setting that changes no allocation.
constexpr ParamSpec rule(ParamSpec spec) { return advanced(in(kOptimizer, ParamRole::kRun, spec)); }

// An operation that our kernel or PyTorch's operators compute.
constexpr ParamSpec fused(std::string_view key, std::string_view label, std::string_view help, bool on = false) {
  return folded(kKernels, composed(on_off(key, label, help, on), "on", "off"));
}

constexpr ParamSpec real(std::string_view key, std::string_view label, std::string_view help, double minimum,
                         double maximum, double default_number) {
  return {.key = key,
          .label = label,
          .help = help,
          .kind = ParamKind::kReal,
          .minimum = minimum,
          .maximum = maximum,
          .default_number = default_number,
          .logarithmic = true};
}

// real() on a linear scale.
constexpr ParamSpec share(std::string_view key, std::string_view label, std::string_view help, double maximum,
                          double default_number) {
  ParamSpec spec = real(key, label, help, 0, maximum, default_number);
  spec.logarithmic = false;
  return spec;
}

constexpr ParamSpec in_steps(std::string_view key, std::string_view label, std::string_view help) {
  ParamSpec spec = number(key, label, "steps", help, 0, 1'000'000, 0);
  spec.logarithmic = false;
  return spec;
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
    size(choice("model", "Model", "Which Llama is trained; custom takes its shape from `weights` where that is set",
                kModels)),
    size(number("batch", "Batch", "sequences", "Sequences in one step", 1, 256, 4)),
    size(number("seq", "Sequence", "tokens", "Tokens in a sequence", 8, 131072, 256)),
    in(kPrecision, ParamRole::kTechnique,
       own(choice("precision", "Precision",
                  "Number format of weights, gradients and activations; mixed keeps the weights in fp32 as well",
                  kChoicesOf<predict::kPrecisions>),
           "fp16_mixed", "bf16_mixed")),  // loss scaling needs our kernels
    folded(kPrecision, own(choice("gemm", "Products",
                                  "Number format in which the linear layers' matrix products read their operands",
                                  kChoicesOf<predict::kGemms>),
                           "fp8", "as_stored")),
    folded(kPrecision,
           needs(choice("fp8_scaling", "fp8 scale by", "Whose largest number an operand's scale is worked out from",
                        kChoicesOf<predict::kFp8Scalings>),
                 "gemm", "fp8")),
    in(kMemory, ParamRole::kTechnique,
       choice("checkpointing", "Checkpointing",
              "Keep only the input of each layer, and compute the layer again in backward",
              kChoicesOf<predict::kCheckpointings>)),
    folded(kMemory, needs(number("checkpoint_every", "Keep each", "layers",
                                 "k: only the input of each k-th layer is kept", 1, 512, 2),
                          "checkpointing", "every")),
    run(device_choice("The device that trains; auto takes the GPU where there is one")),
    run({.key = "cap",
         .label = "Memory limit",
         .unit = "bytes",
         .help = "Memory that the run may take, as a smaller card would have; 0 takes all there is",
         .kind = ParamKind::kBytes,
         .minimum = 0,
         .maximum = 1024.0 * 1024 * 1024 * 1024,
         .default_number = 0,
         .unset = "none",
         .logarithmic = true}),
    run(advanced(number("steps", "Steps", "steps", "Training steps in one run", 1, 10000, 3))),
    run(advanced(unset("never", in_steps("eval_every", "Evaluate each",
                                         "Steps after which the loss on held-out text is worked out, on as many "
                                         "sequences as a step has; the last tenth of the data is held out then, and "
                                         "not trained on; 0: never, and all of it is trained on")))),
    folded(kMemory,
           composed(choice("loss", "Loss",
                           "How cross entropy is computed: from all logits at once, or fused with the output layer",
                           kChoicesOf<predict::kLossPaths>),
                    "flce", "plain")),
    folded(kMemory,
           needs(on_off("keep_output", "Output kept",
                        "Whether the logits stay until the next step, as in a loop that holds the output", true),
                 "loss", "hf_2024|hf_2025")),
    folded(kMemory, needs(choice("loss_mode", "Logits by", "What the fused loss takes at a time",
                                 kChoicesOf<predict::kLossModes>),
                          "loss", "flce")),
    folded(
        kMemory,
        needs(
            {.key = "loss_chunk",
             .label = "Chunk",
             .unit = "tokens",
             .help =
                 "Tokens (lean: columns of the vocabulary) whose logits exist at a time; 0 takes what suits the device",
             .kind = ParamKind::kInteger,
             .minimum = 0,
             .maximum = 131072,
             .default_number = 0,
             .unset = "automatic"},
            "loss", "flce")),
    folded(kMemory,
           needs(choice("weight_gradient", "Head's gradient",
                        "Number format in which the chunks' gradients of the output layer add up", kWeightGradients),
                 "loss", "flce")),
    folded(kMemory, on_off(predict::kExpandableSegments, "Expandable segments",
                           "PyTorch's allocator maps pages into ranges of addresses instead of taking segments, which "
                           "leaves fewer gaps")),
    folded(kMemory,
           choice("attention", "Attention",
                  "Flash never writes the T × T scores (cuDNN's is for GPUs in 16 bits, and automatic takes the "
                  "faster one); eager keeps them",
                  kChoicesOf<predict::kAttentions>)),
    folded(kMemory, number("accumulate", "Micro-batches", "per step",
                           "Batches whose gradients add up before the optimizer steps", 1, 256, 1)),
    folded(kPrecision,
           needs(own(choice("rounding", "Rounding", "How an update is rounded into bf16 weights", kRoundings),
                     "stochastic", "nearest"),
                 "precision", "bf16")),
    folded(kOptimizer,
           own(choice("optimizer", "Optimizer", "What is kept for each weight between steps, and in how many bits",
                      kChoicesOf<predict::kOptimizers>),
               "adamw_8bit|galore", "adamw")),
    folded(kPrecision, needs(own(choice("moments", "Moments", "Number format of AdamW's two moments",
                                        kChoicesOf<predict::kMoments>),
                                 "fp32|bf16", "model"),
                             "optimizer", "adamw")),
    folded(kPrecision, needs(number("loss_scale", "Loss scale", "",
                                    "What the loss is multiplied by at first, so that fp16 gradients do not vanish", 1,
                                    16777216, 65536),
                             "precision", "fp16_mixed")),
    folded(kPrecision, needs(number("loss_scale_window", "Scale window", "steps",
                                    "Steps without overflow after which the loss scale doubles", 1, 100000, 1000),
                             "precision", "fp16_mixed")),
    folded(kOptimizer, unset("a quarter of H",
                             needs(number("galore_rank", "Rank", "",
                                          "Rows that a gradient is projected to; 0 takes a quarter of the hidden size",
                                          0, 65536, 0),
                                   "optimizer", "galore"))),
    folded(kOptimizer, needs(number("galore_interval", "Refresh", "steps",
                                    "Steps after which the projections are worked out anew", 1, 100000, 200),
                             "optimizer", "galore")),
    folded(kOptimizer,
           needs(real("galore_scale", "Scale", "α: what the projected update is multiplied by", 0.001, 100, 0.25),
                 "optimizer", "galore")),
    rule(real("learning_rate", "Learning rate", "η: AdamW's step size", 1e-7, 1, 1e-3)),
    rule(choice("schedule", "Schedule", "How the learning rate goes on behind its warm-up",
                kChoicesOf<predict::kSchedules>)),
    rule(in_steps("warmup_steps", "Warm-up", "W: over so many steps the learning rate rises from 0 in a line")),
    rule(needs(unset("up to the run's last", in_steps("schedule_steps", "Until step",
                                                      "N: where the learning rate comes to 0, counted with the steps "
                                                      "that a resumed run goes on from; 0 takes this run's last step")),
               "schedule", "linear|cosine")),
    rule(share("beta1", "Beta 1", "β₁: how much of the first moment stays in each step", 0.9999, 0.9)),
    rule(share("beta2", "Beta 2", "β₂: how much of the second moment stays in each step", 0.99999, 0.95)),
    rule(real("epsilon", "Epsilon", "ε: added to the root of the second moment that a step is divided by", 1e-15, 1,
              1e-8)),
    rule(share("weight_decay", "Weight decay",
               "λ: matrices lose the share η λ of themselves in each step; norms and biases do not decay", 1, 0.1)),
    folded(kOptimizer,
           unset("not clipped",
                 own(share("clip", "Clip to norm",
                           "The gradients of a step are scaled down together where their norm is larger; 0: never", 100,
                           0),
                     "1", "0"))),
    folded(kOptimizer, on_off("optimizer_in_backward", "Step in backward",
                              "Update each layer as soon as its gradients are there, and drop them")),
    folded(kAdapter,
           own(choice("adapters", "Adapters", "Train two thin matrices beside each frozen weight instead of the weight",
                      kChoicesOf<predict::kAdapters>),
               "qlora", "lora")),
    folded(kAdapter,
           needs(number("lora_rank", "Rank", "", "r: width of the adapters", 1, 1024, 16), "adapters", "lora|qlora")),
    folded(kAdapter,
           needs(number("lora_alpha", "Alpha", "", "α: the adapters' share is multiplied by α / r", 1, 4096, 32),
                 "adapters", "lora|qlora")),
    folded(kAdapter, needs(choice("lora_targets", "Beside", "Which projections have adapters",
                                  kChoicesOf<predict::kAdapterTargets>),
                           "adapters", "lora|qlora")),
    advanced(
        in(kAdapter, ParamRole::kRun,
           needs(choice("lora_start", "A begins", "What A is drawn from, as PEFT's init_lora_weights; B begins as 0",
                        kChoicesOf<predict::kAdapterStarts>),
                 "adapters", "lora|qlora"))),
    folded(kAdapter, needs(choice("lora_precision", "In",
                                  "Number format of the adapters, of their gradients and moments; in "
                                  "fp32 beside 16-bit weights is PEFT's default (autocast_adapter_dtype), which takes "
                                  "more memory there: PEFT also keeps every projection's input in fp32",
                                  kAdapterFormats),
                           "adapters", "lora|qlora")),
    // Our kernels check the gradients for non-finite values.
    folded(kOffload, own(choice("offload.optimizer", "Optimizer state in",
                                "Where masters and moments are; away from the device, the CPU steps",
                                kChoicesOf<predict::kStateOffloads>),
                         "host|file", "off")),
    in(kOffload, ParamRole::kRun,
       needs(unset("a temporary file",
                   file("offload_file", "State's file",
                        "File for the optimizer's state; empty takes one in the folder for temporary files",
                        FileUse::kWritten)),
             "offload.optimizer", "file")),
    folded(kOffload, on_off("offload.parameters", "Stream weights",
                            "Weights are on the host; the current and the next layer's on the device")),
    folded(kOffload, on_off("offload.checkpoints", "Stream checkpoints",
                            "The kept inputs of layers move to the host until backward wants them")),
    // Our AdamW counts its steps on the device.
    folded(kKernels, own(on_off("cuda_graph", "CUDA graph",
                                "Record the step once and replay it: one launch instead of up to two thousand"),
                         "on", "off")),
    fused("fused.rms_norm", "Fused RMSNorm", "RMSNorm, with the residual addition before it, as one kernel"),
    fused("fused.rope", "Fused RoPE", "Turns queries and keys in place, in one kernel"),
    fused("fused.swiglu", "Fused SwiGLU", "SwiGLU as one kernel; its product is built again in backward, not kept"),
    folded(kKernels, needs(on_off("fused.keep", "Fused kernels keep",
                                  "The product of fused SwiGLU and what fused norms give are kept, not built again"),
                           "fused.swiglu", "on")),
    needs(fused("fused.cross_entropy", "Fused cross entropy",
                "Loss and gradient in one pass over the logits, the gradient over them"),
          "loss", "plain"),
    fused("fused.embedding", "Fused embedding", "The embedding's gradient added up without a second table"),
    fused("fused.adamw", "Fused AdamW", "The optimizer as one kernel over all weights", true),
    run(advanced(own(on_off("histogram", "Count by size",
                            "Count gradients and updates by exponent, of the first 1,000 steps; takes time and memory"),
                     "on", "off"))),
    run(trace_switch("Record every kernel and launch, in a separate engine; its speed does not count")),
    run({.key = "seed",
         .label = "Seed",
         .help = "Decides the first weights and which pieces of the text are read",
         .kind = ParamKind::kInteger,
         .minimum = 0,
         .maximum = 1e9,
         .default_number = 0,
         .advanced = true}),
    run(unset("none",
              file("weights", "Your model",
                   "Folder of a Hugging Face Llama checkpoint in safetensors, or a config.json alone for its shape; "
                   "empty draws random weights",
                   FileUse::kCheckpoint))),
    run(unset(
        "the text of this course",
        file("data", "Text",
             "UTF-8 text to train on, by the tokenizer.json in the folder of `weights`, else byte by byte; or its ids "
             "as .npy or .bin; empty takes the text that ships with Headroom",
             FileUse::kText))),
    run(advanced(
        choice("data_type", "Type of ids",
               "Number format of the ids in `data`, as numpy names it; a .npy and most headers say it, and for "
               "a plain .bin the ids themselves usually do",
               kDataTypes))),
    run(unset("nowhere",
              file("save", "Save to",
                   "New folder for the trained model as Hugging Face lays it out, or for the adapters as PEFT does",
                   FileUse::kNewFolder))),
    run(advanced(on_off("save_state", "Save the state",
                        "Keep the optimizer's state and the place in the data as well, so that another run goes on"))),
    run(advanced(needs(on_off("save_merged", "Save merged", "Write the whole model, the adapters added to its weights"),
                       "adapters", "lora|qlora"))),
    run(unset("from the start",
              file("resume", "Go on from", "Folder that a run with the same settings and save_state=on has made",
                   FileUse::kSaved))),
    length("hidden_size", "Hidden size", "H: width of the residual stream", 65536, 256),
    length("num_layers", "Layers", "L: transformer layers", 512, 4),
    length("num_heads", "Query heads", "A: attention heads", 512, 8),
    length("num_kv_heads", "Key/value heads", "K: must divide the query heads", 512, 4),
    length("head_dim", "Head width", "D: a multiple of 8 up to 256", 256, 32),
    length("intermediate_size", "MLP size", "F: width inside the MLP", 262144, 704),
    length("vocab_size", "Vocabulary", "V: 256 or more, since bytes are the tokens of a text without a tokenizer",
           1048576, 4096),
};

// 0 for an unreadable checkpoint, whose error the run reports.
record::Bytes state_bytes(const record::Params& params) {
  predict::StepSettings step = predict::step_settings(params);
  const auto model = train_step_model(step);
  if (!model) return 0;
  step.model = model.value().config;
  return predict::optimizer_state_bytes(step);
}

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
};

const DemoInfo& training_step() { return kTrainStep; }

}  // namespace headroom::experiments
