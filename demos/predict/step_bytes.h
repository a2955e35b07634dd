// What a training step takes, in closed form: bytes that a person can work out from the settings. Plain arithmetic;
// every worked number below is tested.
#pragma once

#include <array>
#include <cstdint>

#include "demos/llama/config.h"
#include "demos/predict/step_settings.h"
#include "demos/record/units.h"
#include "kernels/adamw_8bit/adamw_8bit.h"

namespace headroom::predict {

// --- parameters

// Embedding, final norm and head: what belongs to no layer. 1B: 262,670,336.
std::int64_t outer_parameters(const llama::Config& config);
// Of one layer; of layers that differ, their average. 1B: 60,821,504.
std::int64_t layer_parameters(const llama::Config& config, const llama::Extension& extension = {});
// The layers' matrices of attention and MLPs; routers are none of these. 1B: 973,078,528.
std::int64_t projection_parameters(const llama::Config& config, const llama::Extension& extension = {});
// W + s B A beside each target matrix [out, in]: r (in + out) more weights. r = 16 beside 2048 × 2048: 65,536.
std::int64_t lora_parameters(const llama::Config& config, std::int64_t rank, AdapterTargets targets,
                             const llama::Extension& extension = {});
std::int64_t adapter_parameters(const StepSettings& step);  // 0 without adapters
// What the optimizer steps: the adapters where there are any, else all weights.
std::int64_t trained_parameters(const StepSettings& step);

// --- what the techniques take, in bytes

// 4-bit codes of the layers' projections, a byte of absmax for each 64 of them, 4 bytes for each 256 of those, and 4 per
// matrix: 4.127 bits per weight (Dettmers et al. 2023, arXiv:2305.14314 §3). Whole blocks.
record::Bytes nf4_bytes(const llama::Config& config, const llama::Extension& extension = {});
// A byte for each of two moments, and of each block of either a 4-byte absmax; the last block may be short. Blocks of
// 256: 2.031 B per parameter.
record::Bytes moments_8bit_bytes(std::int64_t parameters, std::int64_t block = kernels::kQuantisedBlock);
bool has_8bit_moments(const StepSettings& step);
bool has_low_rank_moments(const StepSettings& step);
// Of one matrix m × n, the smaller side projected to r: two moments r × max(m, n) and the projection r × min(m, n), in
// elements. 2048 × 8192 at r = 512: 9,437,184 of 2 × 16,777,216.
std::int64_t galore_elements(std::int64_t rows, std::int64_t columns, std::int64_t rank);
// Of all layers' projections at the step's rank.
std::int64_t galore_elements(const StepSettings& step);
// Masters, moments and projections of all trained weights, wherever they are kept. 1B in bf16_mixed: 12 P.
record::Bytes optimizer_state_bytes(const StepSettings& step);
// B·T·H·s for each input that is kept: L of them, or ⌈L / k⌉. 4 · 1,024 · 2,048 · 2 · 16 = 268,435,456.
record::Bytes checkpoint_bytes(const StepSettings& step);
// One of them.
record::Bytes layer_input_bytes(const StepSettings& step);
// What the last layer and the final norm add to these after forward: the norm's input and output; by PyTorch's operators
// the input in fp32, and the normed rows for the norm's own gradient. bf16: 4 · 1,024 · 2,048 · (4 + 2 + 2) = 67,108,864.
record::Bytes final_norm_bytes(const StepSettings& step);
// Whether backward reads what an MLP's projections took: their weights are trained, or have adapters beside them.
bool mlp_is_read(const StepSettings& step);
// What a layer keeps for its own backward, without its input, by the operation that keeps it. Products keep what they
// read, in fp8 a byte per number, where their weights are trained or have adapters beside them, and each adapter keeps its r numbers per token.
// Selective checkpointing keeps the inputs of norms, SwiGLU and eager attention, and not their results; nor do fused
// kernels, unless they are to.
struct LayerBytes {
  record::Bytes attention_norm = 0;
  record::Bytes attention = 0;  // queries, keys, values, the output and its log-sum-exp; eager: the scores
  record::Bytes mlp_norm = 0;
  record::Bytes mlp = 0;
  record::Bytes routing = 0;  // of experts: the router's numbers, rows gathered for experts, and their results

  record::Bytes sum() const { return attention_norm + attention + mlp_norm + mlp + routing; }
};
// 1B in bf16, 4,096 tokens: 445,153,280.
LayerBytes layer_bytes(const StepSettings& step);
// What a router keeps per token and layer of experts: a logit and, in fp32, a probability of each; of the k that are
// taken an index, a probability in fp32 and a weight. Mixtral in bf16: 8 · (2 + 4) + 2 · (8 + 4 + 2) = 76.
record::Bytes router_bytes(const StepSettings& step);
// Eager attention's A scores per token and key: the softmax in fp32, and in 16 bits its rounding for the product with
// the values. 1B in bf16, 4 sequences of 1,024: 4 · 32 · 1,024² · (4 + 2) = 805,306,368.
record::Bytes score_bytes(const StepSettings& step);
// Where a GPU's attention in fp32 adds up dQ: for each head of each sequence, in tiles of a block's queries and 64 columns,
// with 16 bytes of lock and counter (PyTorch, mem_eff_attention/kernel_backward.h, workspace_elements_gq()). 28 · 64 heads,
// 138 tokens of 128: 234,995,712.
record::Bytes fp32_attention_tiles(std::int64_t heads, std::int64_t sequence, std::int64_t head_dim);
// The input of each layer but the first of its segment, where backward reads it: 0 for norms by PyTorch's operators
// in 16 bits, which keep it in fp32 among layer_bytes().
record::Bytes between_layers_bytes(const StepSettings& step);
// What activations take at most, but for the gradients of the layer that is in backward and what is rebuilt for them:
// all layers and the final norm; with checkpoints the kept inputs and the k layers that are computed again, n/k · a_input +
// k · a_layer. 1B as above: 7,189,561,344; with k = 4: 1,847,721,984.
record::Bytes activation_bytes(const StepSettings& step);
// The scales of fp8: of each projection three, with the largest magnitudes of 16 steps. 1B: 26,884; 0 without fp8.
record::Bytes fp8_scale_bytes(const StepSettings& step);
// Of so many rows, with fused SwiGLU in fp8: how many of the gradient of its product are there at a time. An eighth, but as
// many as fill a GPU with a product's tiles: 98,304 rows: 12,288; 16,384: 4,096.
std::int64_t rows_at_once_in_fp8(std::int64_t rows);
// Tokens (kLean: columns of the vocabulary) whose logits the fused loss computes at a time, as the kernel cuts them. 1B,
// 8,192 tokens: 1,024; by Liger's rule 256.
std::int64_t loss_chunk(const StepSettings& step);
// Whether the output layer is multiplied chunk by chunk, with its loss.
bool loss_in_chunks(const StepSettings& step);
// The most that the loss holds at a time. kHf2024 keeps two tensors of T rows and two of T − 1 rows per sequence, all
// fp32; without the kept output one of T rows less. kFlce: a chunk's logits, as the kernel lays them out.
record::Bytes loss_bytes(const StepSettings& step);
// What the code of a loss does with logits, for a list of its tensors.
struct LossCode {
  bool in_chunks = false;       // a part of them at a time
  bool in_place = false;        // all of them once, and their gradient over them
  bool shifts_logits = false;   // they are copied without the last positions
  bool returns_fp32 = false;    // the output is fp32, else as the model has them
  bool returns_output = false;  // a loop can keep it; labels are shifted
};
LossCode loss_code(const StepSettings& step);
// Whether the two gradients of a tied table are added up in a third table, which autograd takes on Hugging Face's paths.
bool sums_tied_apart(const StepSettings& step);
// The logits that the loop holds from one step to the next, with the kept output: kHf2024 has widened them to fp32.
record::Bytes kept_output_bytes(const StepSettings& step);

// --- the model state of any number of parameters, by kind: what no batch size changes

// What an optimizer keeps for each parameter, beside the master copy.
enum class KeptState : std::uint8_t { kSgd, kMomentum, kAdamW, kAdamW8bit };
inline constexpr std::array kKeptStates{
    Meant<KeptState>{{"adamw", "AdamW"}, KeptState::kAdamW},
    Meant<KeptState>{{"adamw_8bit", "AdamW, 8-bit moments"}, KeptState::kAdamW8bit},
    Meant<KeptState>{{"momentum", "SGD, momentum"}, KeptState::kMomentum},
    Meant<KeptState>{{"sgd", "SGD"}, KeptState::kSgd},
};

struct StaticMemory {
  record::Bytes weights = 0, gradients = 0, master = 0, moments = 0;

  record::Bytes sum() const { return weights + gradients + master + moments; }
};

// Mixed precision keeps an fp32 master of each 16-bit weight, and moments in fp32; otherwise moments have the weights'
// format. 1.5·10⁹ parameters, bf16_mixed, AdamW: 24.0·10⁹ B (Rajbhandari et al. 2020, arXiv:1910.02054 §3.1).
StaticMemory static_memory(std::int64_t parameters, Precision precision, KeptState state);

}  // namespace headroom::predict
