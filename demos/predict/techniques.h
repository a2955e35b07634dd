// Declares each technique once, with key, label and meaning, for the schema, StepSettings, the engine and the closed
// forms. No torch.
#pragma once

#include <array>
#include <cstdint>

#include "demos/record/schema.h"

namespace headroom::predict {

template <class Enum>
struct Meant {
  record::Choice choice;  // "flce", "a chunk of logits at a time"
  Enum meaning;
};
template <const auto& kValues>
inline constexpr auto kChoicesOf = [] {
  std::array<record::Choice, kValues.size()> choices{};
  for (std::size_t i = 0; i < kValues.size(); ++i) choices[i] = kValues[i].choice;
  return choices;
}();

enum class Precision : std::uint8_t {
  kFp32,
  kBf16,
  kFp16Mixed,
  kBf16Mixed,
};
inline constexpr std::array kPrecisions{
    Meant<Precision>{{"fp32", "fp32"}, Precision::kFp32},
    Meant<Precision>{{"bf16", "bf16"}, Precision::kBf16},
    Meant<Precision>{{"fp16_mixed", "fp16, fp32 masters"}, Precision::kFp16Mixed},
    Meant<Precision>{{"bf16_mixed", "bf16, fp32 masters"}, Precision::kBf16Mixed},
};
constexpr bool has_masters(Precision precision) {
  return precision == Precision::kFp16Mixed || precision == Precision::kBf16Mixed;
}
constexpr bool has_loss_scale(Precision precision) { return precision == Precision::kFp16Mixed; }

// Format of the linear layers' GEMMs.
enum class Gemm : std::uint8_t {
  kAsStored,  // format of weights and activations
  kTf32,      // fp32 operands rounded to 10 bits of fraction, including the head's
  kFp8,       // 8-bit codes: e4m3 for inputs and weights, e5m2 for gradients
};
inline constexpr std::array kGemms{
    Meant<Gemm>{{"as_stored", "as stored"}, Gemm::kAsStored},
    Meant<Gemm>{{"tf32", "tf32"}, Gemm::kTf32},
    Meant<Gemm>{{"fp8", "fp8"}, Gemm::kFp8},
};

// Source of an fp8 operand's scale.
enum class Fp8Scaling : std::uint8_t {
  kCurrent,  // its largest magnitude, which takes another pass
  kDelayed,  // the largest magnitude of the last steps
};
inline constexpr std::array kFp8Scalings{
    Meant<Fp8Scaling>{{"current", "this tensor"}, Fp8Scaling::kCurrent},
    Meant<Fp8Scaling>{{"delayed", "the last 16 steps"}, Fp8Scaling::kDelayed},
};

enum class Checkpointing : std::uint8_t {
  kOff,
  kSelective,  // layers keep the results of GEMMs and attention
  kLayer,      // every `checkpoint_every`-th layer keeps its input; the backward pass recomputes from there
};
inline constexpr std::array kCheckpointings{
    Meant<Checkpointing>{{"off", "off"}, Checkpointing::kOff},
    Meant<Checkpointing>{{"layer", "each layer"}, Checkpointing::kLayer},
    Meant<Checkpointing>{{"every", "each k-th layer"}, Checkpointing::kLayer},
    Meant<Checkpointing>{{"selective", "only what is cheap"}, Checkpointing::kSelective},
};

enum class Attention : std::uint8_t {
  kEager,  // scores T × T
  kFlash,
  kCudnn,  // cuDNN's flash attention on GPUs in 16 bits, otherwise kFlash
  kAuto,   // the faster of kFlash and kCudnn; kFlash until experiments::with_attention_taken() decides
};
inline constexpr std::array kAttentions{
    Meant<Attention>{{"flash", "flash"}, Attention::kFlash},
    Meant<Attention>{{"cudnn", "flash, by cuDNN"}, Attention::kCudnn},
    Meant<Attention>{{"auto", "flash, the faster one"}, Attention::kAuto},
    Meant<Attention>{{"eager", "eager"}, Attention::kEager},
};

// Steps that run before a CUDA graph is recorded.
inline constexpr int kGraphWarmUpSteps = 3;

// True: one of our kernels replaces PyTorch's operators.
struct FusedKernels {
  bool rms_norm = false;
  bool rope = false;
  bool swiglu = false;
  bool keep = false;           // norms and SwiGLU keep their results for the GEMMs
  bool cross_entropy = false;  // for kPlain
  bool embedding = false;      // the embedding's backward pass
  Attention attention = Attention::kFlash;
};

enum class LossPath : std::uint8_t {
  kPlain,   // all logits at once
  kFlce,    // fused linear cross entropy
  kHf2024,  // Hugging Face's Llama until the end of 2024
  kHf2025,  // Hugging Face's Llama since 2025
};
inline constexpr std::array kLossPaths{
    Meant<LossPath>{{"plain", "all logits"}, LossPath::kPlain},
    Meant<LossPath>{{"hf_2024", "Hugging Face, 2024"}, LossPath::kHf2024},
    Meant<LossPath>{{"hf_2025", "Hugging Face, 2025"}, LossPath::kHf2025},
    Meant<LossPath>{{"flce", "a chunk of logits at a time"}, LossPath::kFlce},
};

enum class OptimizerKind : std::uint8_t { kAdamW, kAdamWForeach, kAdamW8bit, kPagedAdamW8bit, kGaLore };
inline constexpr std::array kOptimizers{
    Meant<OptimizerKind>{{"adamw", "AdamW"}, OptimizerKind::kAdamW},
    Meant<OptimizerKind>{{"adamw_foreach", "AdamW, foreach"}, OptimizerKind::kAdamWForeach},
    Meant<OptimizerKind>{{"adamw_8bit", "AdamW, 8-bit moments"}, OptimizerKind::kAdamW8bit},
    Meant<OptimizerKind>{{"paged_adamw_8bit", "AdamW, 8-bit moments, paged"}, OptimizerKind::kPagedAdamW8bit},
    Meant<OptimizerKind>{{"galore", "GaLore"}, OptimizerKind::kGaLore},
};

// The learning rate after warm-up.
enum class Schedule : std::uint8_t { kConstant, kLinear, kCosine };
inline constexpr std::array kSchedules{
    Meant<Schedule>{{"constant", "constant"}, Schedule::kConstant},
    Meant<Schedule>{{"linear", "down to 0 in a line"}, Schedule::kLinear},
    Meant<Schedule>{{"cosine", "down to 0 by half a cosine"}, Schedule::kCosine},
};

// kModel: the weights' format or, with masters, fp32.
enum class Moments : std::uint8_t { kModel, kFp32, kBf16 };
inline constexpr std::array kMoments{
    Meant<Moments>{{"model", "like the weights"}, Moments::kModel},
    Meant<Moments>{{"fp32", "fp32"}, Moments::kFp32},
    Meant<Moments>{{"bf16", "bf16"}, Moments::kBf16},
};

enum class AdapterKind : std::uint8_t {
  kOff,    // trains all weights
  kLora,   // freezes the weights, in the model's type
  kQlora,  // freezes the projections in NF4, the rest in the model's type
};
inline constexpr std::array kAdapters{
    Meant<AdapterKind>{{"off", "off"}, AdapterKind::kOff},
    Meant<AdapterKind>{{"lora", "LoRA"}, AdapterKind::kLora},
    Meant<AdapterKind>{{"qlora", "QLoRA, 4-bit weights"}, AdapterKind::kQlora},
};

enum class AdapterTargets : std::uint8_t { kAll, kAttention, kMlp };
inline constexpr std::array kAdapterTargets{
    Meant<AdapterTargets>{{"all", "all projections"}, AdapterTargets::kAll},
    Meant<AdapterTargets>{{"attention", "attention"}, AdapterTargets::kAttention},
    Meant<AdapterTargets>{{"mlp", "MLP"}, AdapterTargets::kMlp},
};

// Distribution of A, as in PEFT's init_lora_weights. B starts at 0.
enum class AdapterStart : std::uint8_t {
  kKaiming,   // uniform in ±1/√I for I inputs: PEFT's default, kaiming_uniform_ with a = √5
  kGaussian,  // N(0, 1/r²)
};
inline constexpr std::array kAdapterStarts{
    Meant<AdapterStart>{{"kaiming", "Kaiming's, uniform"}, AdapterStart::kKaiming},
    Meant<AdapterStart>{{"gaussian", "gaussian"}, AdapterStart::kGaussian},
};

struct AdapterOptions {
  AdapterKind kind = AdapterKind::kOff;
  std::int64_t rank = 16;
  double alpha = 32;
  AdapterTargets targets = AdapterTargets::kAll;
  AdapterStart start = AdapterStart::kKaiming;
  bool fp32 = false;  // adapters in fp32 with 16-bit weights; false: in the weights' type

  bool quantised() const { return kind == AdapterKind::kQlora; }
};

// States that ranks share instead of copying them; each stage includes those before it. Rajbhandari et al. 2020,
// arXiv:1910.02054, section 5.
enum class Zero : std::uint8_t {
  kOff,        // every rank has all states: data parallelism
  kOptimizer,  // each rank updates its share of the weights
  kGradients,  // and keeps the gradients of that share only
  kWeights,    // and stores that share only; a layer's weights are gathered while they are used
};
inline constexpr std::array kZeros{
    Meant<Zero>{{"off", "off"}, Zero::kOff},
    Meant<Zero>{{"1", "1: optimizer state"}, Zero::kOptimizer},
    Meant<Zero>{{"2", "2: and gradients"}, Zero::kGradients},
    Meant<Zero>{{"3", "3: and weights"}, Zero::kWeights},
};

// Location of masters and moments; if it is not the device, the CPU updates the weights.
enum class StateOffload : std::uint8_t { kOff, kHost, kFile };
inline constexpr std::array kStateOffloads{
    Meant<StateOffload>{{"off", "off"}, StateOffload::kOff},
    Meant<StateOffload>{{"host", "host memory"}, StateOffload::kHost},
    Meant<StateOffload>{{"file", "a file"}, StateOffload::kFile},
};

}  // namespace headroom::predict
