// Builds the block from its settings.
#include "demos/experiments/block_model.h"

#include <fmt/format.h>

namespace headroom::experiments {

namespace {

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

}  // namespace headroom::experiments
