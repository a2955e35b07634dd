// The parameters of `train_step`: one real training step of a Llama, several times.
#include <array>

#include "demos/experiments/demo.h"

namespace headroom::experiments {

namespace {

using record::Choice;
using record::ParamKind;
using record::ParamSpec;

constexpr std::array kModels{
    Choice{"tiny", "Tiny, 4 M"},
    Choice{"llama-3.2-1b", "Llama 3.2 1B"},
    Choice{"llama-3.2-3b", "Llama 3.2 3B"},
    Choice{"llama-3-8b", "Llama 3 8B"},
    Choice{"custom", "Custom"},
};
constexpr std::array kPrecisions{Choice{"fp32", "fp32"}, Choice{"bf16", "bf16"}};
constexpr std::array kCheckpointing{Choice{"off", "off"}, Choice{"layer", "each layer"}};
constexpr std::array kLosses{Choice{"plain", "all logits"}, Choice{"flce", "a chunk of logits at a time"}};
constexpr std::array kLossModes{
    Choice{"chunked", "chunks of tokens"},
    Choice{"lean", "slices of the vocabulary"},
    Choice{"report", "the report's chunk rule"},
};
constexpr std::array kWeightGradients{Choice{"model", "as the weights"}, Choice{"fp32", "fp32"}};
constexpr std::array kOffOn{Choice{"off", "off"}, Choice{"on", "on"}};
constexpr std::array kDevices{Choice{"auto", "best there is"}, Choice{"cpu", "CPU"}, Choice{"cuda", "GPU"}};

// One operation of the step as a kernel of our own, or composed from PyTorch's operators.
constexpr ParamSpec fused(std::string_view key, std::string_view label, std::string_view help,
                          std::string_view default_text = "off") {
  return {.key = key,
          .label = label,
          .help = help,
          .kind = ParamKind::kChoice,
          .default_text = default_text,
          .choices = kOffOn,
          .advanced = true};
}

// A length of a custom model: shown under "More" while model=custom.
constexpr ParamSpec shape(std::string_view key, std::string_view label, std::string_view help, double maximum,
                          double default_number) {
  return {.key = key,
          .label = label,
          .help = help,
          .kind = ParamKind::kInteger,
          .minimum = 1,
          .maximum = maximum,
          .default_number = default_number,
          .logarithmic = true,
          .advanced = true,
          .needs_key = "model",
          .needs_value = "custom"};
}

constexpr std::array kSchema{
    ParamSpec{.key = "model",
              .label = "Model",
              .help = "Which Llama is trained, from random weights",
              .kind = ParamKind::kChoice,
              .default_text = "tiny",
              .choices = kModels},
    ParamSpec{.key = "batch",
              .label = "Batch",
              .unit = "sequences",
              .help = "Sequences in one step",
              .kind = ParamKind::kInteger,
              .minimum = 1,
              .maximum = 256,
              .default_number = 4,
              .logarithmic = true},
    ParamSpec{.key = "seq",
              .label = "Sequence",
              .unit = "tokens",
              .help = "Tokens in a sequence",
              .kind = ParamKind::kInteger,
              .minimum = 8,
              .maximum = 131072,
              .default_number = 256,
              .logarithmic = true},
    ParamSpec{.key = "precision",
              .label = "Precision",
              .help = "Number format of weights, gradients, activations and AdamW's moments alike",
              .kind = ParamKind::kChoice,
              .default_text = "fp32",
              .choices = kPrecisions},
    ParamSpec{.key = "checkpointing",
              .label = "Checkpointing",
              .help = "Keep only the input of each layer, and compute the layer again in backward",
              .kind = ParamKind::kChoice,
              .default_text = "off",
              .choices = kCheckpointing},
    ParamSpec{.key = "device",
              .label = "Run on",
              .help = "The device that trains; auto takes the GPU where there is one",
              .kind = ParamKind::kChoice,
              .default_text = "auto",
              .choices = kDevices},
    ParamSpec{.key = "cap",
              .label = "Card",
              .unit = "bytes",
              .help = "Memory that the run may take, as a smaller card would have; 0 takes all there is",
              .kind = ParamKind::kBytes,
              .minimum = 0,
              .maximum = 1024.0 * 1024 * 1024 * 1024,
              .default_number = 0,
              .logarithmic = true},
    ParamSpec{.key = "steps",
              .label = "Steps",
              .unit = "steps",
              .help = "Training steps in one run",
              .kind = ParamKind::kInteger,
              .minimum = 1,
              .maximum = 10000,
              .default_number = 3,
              .logarithmic = true,
              .advanced = true},
    ParamSpec{.key = "loss",
              .label = "Loss",
              .help = "How cross entropy is computed: from all logits at once, or fused with the output layer",
              .kind = ParamKind::kChoice,
              .default_text = "plain",
              .choices = kLosses,
              .advanced = true},
    ParamSpec{.key = "loss_mode",
              .label = "Logits by",
              .help = "What the fused loss takes at a time",
              .kind = ParamKind::kChoice,
              .default_text = "chunked",
              .choices = kLossModes,
              .advanced = true,
              .needs_key = "loss",
              .needs_value = "flce"},
    ParamSpec{.key = "loss_chunk",
              .label = "Chunk",
              .unit = "tokens",
              .help = "Tokens (lean: columns of the vocabulary) whose logits exist at a time; 0 takes what suits the device",
              .kind = ParamKind::kInteger,
              .minimum = 0,
              .maximum = 131072,
              .default_number = 0,
              .advanced = true,
              .needs_key = "loss",
              .needs_value = "flce"},
    ParamSpec{.key = "weight_gradient",
              .label = "Head's gradient",
              .help = "Number format in which the chunks' gradients of the output layer add up",
              .kind = ParamKind::kChoice,
              .default_text = "model",
              .choices = kWeightGradients,
              .advanced = true,
              .needs_key = "loss",
              .needs_value = "flce"},
    fused("fused.rms_norm", "Fused RMSNorm", "RMSNorm, with the residual addition before it, as one kernel"),
    fused("fused.rope", "Fused RoPE", "Turns queries and keys in place, in one kernel"),
    fused("fused.swiglu", "Fused SwiGLU", "SwiGLU as one kernel; its product is built again in backward, not kept"),
    ParamSpec{.key = "fused.cross_entropy",
              .label = "Fused cross entropy",
              .help = "Loss and gradient in one pass over the logits, the gradient over them",
              .kind = ParamKind::kChoice,
              .default_text = "off",
              .choices = kOffOn,
              .advanced = true,
              .needs_key = "loss",
              .needs_value = "plain"},
    fused("fused.embedding", "Fused embedding", "The embedding's gradient added up without a second table"),
    fused("fused.adamw", "Fused AdamW", "The optimizer as one kernel over all weights", "on"),
    ParamSpec{.key = "trace",
              .label = "Trace kernels",
              .help = "Record every kernel and launch, in an engine of its own; its speed does not count",
              .kind = ParamKind::kChoice,
              .default_text = "off",
              .choices = kOffOn,
              .advanced = true},
    ParamSpec{.key = "learning_rate",
              .label = "Learning rate",
              .help = "AdamW's step size",
              .kind = ParamKind::kReal,
              .minimum = 1e-7,
              .maximum = 1,
              .default_number = 1e-3,
              .logarithmic = true,
              .advanced = true},
    ParamSpec{.key = "seed",
              .label = "Seed",
              .help = "Decides the first weights and which pieces of the text are read",
              .kind = ParamKind::kInteger,
              .minimum = 0,
              .maximum = 1e9,
              .default_number = 0,
              .advanced = true},
    ParamSpec{.key = "data",
              .label = "Text",
              .help = "Any UTF-8 text file to train on, byte by byte; empty takes the pages of this course",
              .kind = ParamKind::kFile,
              .advanced = true},
    shape("hidden_size", "Hidden size", "H: width of the residual stream", 65536, 256),
    shape("num_layers", "Layers", "L: transformer layers", 512, 4),
    shape("num_heads", "Query heads", "A: attention heads", 512, 8),
    shape("num_kv_heads", "Key/value heads", "K: must divide the query heads", 512, 4),
    shape("head_dim", "Head width", "D: a multiple of 8 up to 256", 256, 32),
    shape("intermediate_size", "MLP size", "F: width inside the MLP", 262144, 704),
    shape("vocab_size", "Vocabulary", "V: 256 or more, since bytes are the tokens", 1048576, 4096),
};

}  // namespace

extern const DemoInfo kTrainStep;
constinit const DemoInfo kTrainStep = {
    .id = "train_step",
    .title = "One training step",
    .summary = "Train a Llama on real text for a few steps and record every allocation.",
    .schema = kSchema,
};

}  // namespace headroom::experiments
