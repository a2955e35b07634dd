// Parameters and model of `block`: one decoder block. Five settings, and a small sixth, turn GPT-2's block into
// Llama's.
#include <array>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/block_model.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

using record::Choice;

constexpr std::array kPositions{Choice{"learned", "learned positions"}, Choice{"rope", "RoPE"}};
constexpr std::array kNorms{Choice{"layer_norm", "LayerNorm"}, Choice{"rms_norm", "RMSNorm"}};
constexpr std::array kMlps{Choice{"gelu", "GELU"}, Choice{"swiglu", "SwiGLU"}};

constexpr std::array kBlockSchema{
    shape(choice("positions", "Positions",
                 "A learned table, added once, or rotating queries and keys by their position", kPositions)),
    shape(choice("norm", "Norm", "By mean and variance, with weight and bias, or by root mean square, with weight only",
                 kNorms)),
    shape(choice("mlp", "MLP", "Two matrices, or three of the same size with the third as the gate", kMlps)),
    shape(on_off("dropout", "Dropout", "Set a tenth of the outputs of attention and of the MLP to zero", true)),
    shape(unset("all", number("num_kv_heads", "Key/value heads", "", "K: must divide the number of query heads, H / 64",
                              0, 128, 0))),
    shape(number("hidden_size", "Hidden size", "", "H: a multiple of 64, the width of a head; the MLP has 4 H", 64,
                 8192, 1024)),
    shape(number("batch", "Batch", "sequences", "Sequences per pass", 1, 256, 4)),
    shape(number("seq", "Sequence", "tokens", "Tokens per sequence", 8, 131072, 1024)),
    advanced(shape(on_off("biases", "Biases", "Give the projections biases, as in GPT-2", true))),
    technique(storage_choice("Number format of weights, activations and gradients")),
    device_choice("Device to run on; auto: the GPU if there is one"),
    seed("Seed for the weights, the input and dropout"),
};

constexpr std::int64_t kHeadDim = 64, kMlpPerHidden = 4;

record::Error refused(std::string why) { return {std::move(why), record::ErrorKind::kRefused}; }

}  // namespace

record::Result<llama::Architecture> block_model(const record::Params& params) {
  const std::int64_t hidden = params.integer("hidden_size"), heads = hidden / kHeadDim;
  if (hidden % kHeadDim != 0)
    return refused(fmt::format("hidden_size={} is not a multiple of {}, the width of a head.", hidden, kHeadDim));
  const std::int64_t asked = params.integer("num_kv_heads"), kv_heads = asked == 0 ? heads : asked;
  if (heads % kv_heads != 0)
    return refused(
        fmt::format("num_kv_heads={} does not divide the {} query heads of hidden_size={}.", kv_heads, heads, hidden));
  return llama::Architecture{.name = "One block",
                             .shape = {.id = "block",
                                       .hidden_size = hidden,
                                       .intermediate_size = kMlpPerHidden * hidden,
                                       .num_layers = 1,
                                       .num_heads = heads,
                                       .num_kv_heads = kv_heads,
                                       .head_dim = kHeadDim},
                             .context = params.integer("seq"),
                             .learned_positions = params.text("positions") == "learned",
                             .layer_norm = params.text("norm") == "layer_norm",
                             .gelu = params.text("mlp") == "gelu",
                             .dropout = params.on("dropout"),
                             .biases = params.on("biases")};
}

extern const DemoInfo kBlock;
constinit const DemoInfo kBlock = {
    .id = "block",
    .title = "One decoder block",
    .summary =
        "Run the forward and backward pass of one block, anywhere between GPT-2's and Llama's, and record every "
        "allocation.",
    .schema = kBlockSchema,
};

}  // namespace headroom::experiments
