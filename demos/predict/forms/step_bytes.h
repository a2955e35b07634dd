// Closed form of a training step's memory, computable by hand. Every worked number is tested.
#pragma once

#include <array>
#include <cstdint>

#include "demos/llama/config.h"
#include "demos/llama/layer_weights.h"
#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

// Embedding, final norm and head. 1B: 262,670,336.
std::int64_t outer_parameters(const llama::Config& config);
// The average if layers differ. 1B: 60,821,504.
std::int64_t layer_parameters(const llama::Config& config, const llama::Extension& extension = {});
// Matrices of attention and MLPs, without routers. 1B: 973,078,528.
std::int64_t projection_parameters(const llama::Config& config, const llama::Extension& extension = {});
// W + s B A: r (in + out) weights per target matrix [out, in]. r = 16, 2048 × 2048: 65,536.
std::int64_t lora_parameters(const llama::Config& config, std::int64_t rank, AdapterTargets targets,
                             const llama::Extension& extension = {});
std::int64_t adapter_parameters(const StepSettings& step);
// Matrices that can have adapters and that NF4 stores: one entry per kind, with its count.
std::vector<llama::LayerWeight> projections(const llama::Config& config, const llama::Extension& extension);
bool has_adapter(const llama::LayerWeight& matrix, AdapterTargets targets);
std::int64_t trained_parameters(const StepSettings& step);

// NF4 of the layers' projections: 4-bit codes, a 1-byte absmax per 64 weights, 4 bytes per 256 absmaxes, and 4 bytes
// per matrix; blocks are rounded up. 4.127 bits per weight (Dettmers et al. 2023, arXiv:2305.14314 §3).
record::Bytes nf4_bytes(const llama::Config& config, const llama::Extension& extension = {});
// B·T·H·s for each of L or ⌈L / k⌉ kept inputs. 4 · 1,024 · 2,048 · 2 · 16 = 268,435,456.
record::Bytes checkpoint_bytes(const StepSettings& step);
record::Bytes layer_input_bytes(const StepSettings& step);
// Bytes that the final norm keeps: input and output. PyTorch's operators keep the input in fp32, and also the normed
// rows for the norm's gradient. bf16: 4 · 1,024 · 2,048 · (4 + 2 + 2) = 67,108,864.
record::Bytes final_norm_bytes(const StepSettings& step);
// True if the backward pass reads the inputs of the MLP's projections, because these are trained or have adapters.
bool mlp_is_read(const StepSettings& step);
// Bytes that a layer keeps for its backward pass, excluding its input, by operation. GEMMs whose weights are trained or
// have adapters keep their inputs (fp8: one byte per number); adapters keep r numbers per token. Selective
// checkpointing keeps the inputs of norms, SwiGLU and eager attention, but not their results; the same holds for fused
// kernels without `keep`.
struct LayerBytes {
  record::Bytes attention_norm = 0;
  record::Bytes attention = 0;  // Q, K, V, output, log-sum-exp; eager: scores
  record::Bytes mlp_norm = 0;
  record::Bytes mlp = 0;
  record::Bytes routing = 0;  // the router's numbers, gathered rows, experts' results

  record::Bytes sum() const { return attention_norm + attention + mlp_norm + mlp + routing; }
};
// The sum of kept_tensors(). 1B in bf16, 4,096 tokens: 445,153,280.
LayerBytes layer_bytes(const StepSettings& step);
// Per token in a layer with experts: a logit and an fp32 probability per expert; an index, an fp32 probability and a
// weight for each of the k chosen. Mixtral in bf16: 8 · (2 + 4) + 2 · (8 + 4 + 2) = 76.
record::Bytes router_bytes(const StepSettings& step);
// Eager attention keeps A scores per token and key: the fp32 softmax and, in 16-bit formats, a rounded copy for the
// next GEMM. 1B in bf16, 4 sequences of 1,024: 4 · 32 · 1,024² · (4 + 2) = 805,306,368.
record::Bytes score_bytes(const StepSettings& step);
// Accumulator of dQ in a GPU's fp32 attention: per head and sequence, tiles of a block's queries × 64 columns, each
// with 16 bytes for lock and counter (PyTorch, mem_eff_attention/kernel_backward.h, workspace_elements_gq()). 28 · 64
// heads of width 128, 138 tokens: 234,995,712.
record::Bytes fp32_attention_tiles(std::int64_t heads, std::int64_t sequence, std::int64_t head_dim);
// The input of a layer that is not its segment's first, if the backward pass reads it. 0 for PyTorch's norms in
// 16 bits, which keep it in fp32, counted in layer_bytes().
record::Bytes between_layers_bytes(const StepSettings& step);
// Peak of activations, excluding what a layer's backward pass adds. Without checkpoints: all layers and the final norm.
// With checkpoints: the kept inputs and k recomputed layers, n/k · a_input + k · a_layer. 1B as above: 7,189,561,344;
// with k = 4: 1,847,721,984.
record::Bytes activation_bytes(const StepSettings& step);
// Three fp8 scales per projection, each with the largest magnitudes of 16 steps. Llama 3.2 1B: 26,884 bytes; 0 without
// fp8.
record::Bytes fp8_scale_bytes(const StepSettings& step);
// Rows of the product's gradient that fused SwiGLU computes at a time in fp8: an eighth of `rows`, but at least enough
// tiles to fill a GPU. 98,304 rows: 12,288; 16,384: 4,096.
std::int64_t rows_at_once_in_fp8(std::int64_t rows);
// Tokens (kLean: columns of the vocabulary) per chunk of the fused loss. 1B, 8,192 tokens: 1,024; Liger's rule: 256.
std::int64_t loss_chunk(const StepSettings& step);
bool loss_in_chunks(const StepSettings& step);
// Logits' bytes at the loss's peak. kHf2024: per sequence two fp32 tensors of T rows (one if the output is not kept)
// and two of T − 1 rows. kFlce: a chunk's logits, as the kernel stores them.
record::Bytes loss_bytes(const StepSettings& step);
// How a loss treats the logits.
struct LossCode {
  bool in_chunks = false;
  bool in_place = false;        // the gradient overwrites the logits
  bool shifts_logits = false;   // copies the logits without the last positions
  bool returns_fp32 = false;    // fp32 output, otherwise the model's type
  bool returns_output = false;  // returns the logits, which a loop can keep; labels are shifted
};
LossCode loss_code(const StepSettings& step);
// True if a third table sums the two gradients of a tied table, as autograd does on Hugging Face's paths.
bool sums_tied_apart(const StepSettings& step);
// Logits kept between steps; with kHf2024 in fp32.
record::Bytes kept_output_bytes(const StepSettings& step);

// Scratch of one layer's backward pass. Flash accumulates dQ in fp32, and dK and dV per query head; the fp32 kernel
// accumulates dQ in tiles. Eager: 0.
record::Bytes attention_scratch_bytes(const StepSettings& step);
// Lists and partial sums of our kernel or, on a GPU without it, of PyTorch's operator. 1B, 4,096 tokens: 37,104,856
// with the operator.
record::Bytes embedding_scratch_bytes(const StepSettings& step, record::DeviceKind device);

// An optimizer's state per parameter, without the master.
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

// Mixed precision keeps fp32 masters and moments; otherwise moments have the weights' format. 1.5·10⁹ parameters,
// bf16_mixed, AdamW: 24.0·10⁹ B (Rajbhandari et al. 2020, arXiv:1910.02054 §3.1).
StaticMemory static_memory(std::int64_t parameters, Precision precision, KeptState state);
// A rank's share. 7.5·10⁹ parameters, bf16_mixed, 64 ranks: 120.0, with ZeRO 31.4, 16.6, 1.9 GB (as above, figure 1).
StaticMemory share_of(const StaticMemory& whole, const ParallelSettings& parallel);

}  // namespace headroom::predict
