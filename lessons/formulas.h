// What a training step takes, in closed form: the bytes that a person can work out from the settings, each with the
// numbers put in. Plain arithmetic; every worked number below is tested.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "demos/llama/config.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::lessons {

// The settings of a run of `train_step` as numbers.
struct StepNumbers {
  llama::Config config;
  std::int64_t parameters = 0;           // P; 1B: 1,235,814,400
  std::int64_t layer_parameters = 0;     // of one layer
  std::int64_t outer_parameters = 0;     // embedding, final norm, head
  std::int64_t batch = 0, sequence = 0;  // B, T
  std::int64_t micro_batches = 1;
  std::int64_t element = 4;  // s: bytes of a working weight, gradient or activation
  bool masters = false;      // the optimizer keeps the weights in fp32 as well
  std::int64_t moment = 4;   // bytes of one of AdamW's moments

  std::int64_t tokens() const { return batch * sequence; }
};
StepNumbers step_numbers(const record::Params& train_step);

// Whose numbers a formula can be shown with where no run decides it.
inline constexpr std::array<record::Choice, 4> kFormulaModels{{{"llama-3.2-1b", "Llama 3.2 1B"},
                                                               {"llama-3.2-3b", "Llama 3.2 3B"},
                                                               {"llama-3-8b", "Llama 3 8B"},
                                                               {"tiny", "Tiny, 4 M"}}};

// --- what the techniques take, in bytes

// W + s B A beside each target matrix [out, in]: r (in + out) more weights. r = 16 beside 2048 × 2048: 65,536.
std::int64_t lora_parameters(const llama::Config& config, std::int64_t rank, std::string_view targets);
// 4-bit codes of the layers' projections, a byte of absmax for each 64 of them, and 4 bytes for each 256 of those:
// 4.127 bits a weight (Dettmers et al. 2023, arXiv:2305.14314 §3). Whole blocks.
record::Bytes nf4_bytes(std::int64_t weights);
// A byte for each moment and a 4-byte absmax for each 256 of them: 2.031 B a parameter.
record::Bytes moments_8bit_bytes(std::int64_t parameters);
// Of one matrix m × n, the smaller side projected to r: two moments r × max(m, n) and the projection r × min(m, n), in
// elements. 2048 × 8192 at r = 512: 9,437,184 of 2 × 16,777,216.
std::int64_t galore_elements(std::int64_t rows, std::int64_t columns, std::int64_t rank);
// B·T·H·s for each input that is kept: L of them, or ⌈L / k⌉. 4 · 1,024 · 2,048 · 2 · 16 = 268,435,456.
record::Bytes checkpoint_bytes(const StepNumbers& step, std::int64_t every);
// The most that the loss holds at a time. hf_2024 keeps two tensors of T rows and two of T − 1 rows a sequence, all fp32;
// without the kept output one of T rows less.
record::Bytes loss_bytes(const StepNumbers& step, std::string_view path, bool keep_output, bool fused_cross_entropy);
// C tokens at a time, by Liger-Kernel's rule: the smallest power of two from ⌈B·T / ⌈V / H⌉⌉ on. 1B, 8,192 tokens: 256.
std::int64_t report_chunk(std::int64_t tokens, const llama::Config& config);

// --- the same as rows of a table

// What of a run a row is compared with.
enum class Measured : std::uint8_t {
  kNothing,       // a run does not tell it
  kStanding,      // the category's bytes at the end of the step
  kHighest,       // the most of the category at any moment of the step
  kAfterForward,  // the category's bytes where the forward pass ends
};

struct FormulaTerm {
  record::Category category = record::Category::kOther;
  std::string name;     // "Optimizer state"
  std::string symbols;  // "(4 + 4 + 4) · P"
  std::string numbers;  // "12 × 1,235,814,400"
  record::Bytes bytes = 0;
  Measured measured = Measured::kNothing;
  bool on_host = false;  // lies in host memory, not on the device
};

// The terms that these settings have, the standing ones first. What has no short closed form (the inside of layers
// without checkpointing) is left out.
std::vector<FormulaTerm> step_formulas(const record::Params& train_step);

}  // namespace headroom::lessons
