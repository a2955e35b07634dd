// How a training step is computed: each technique with its key, its label and its meaning, declared once. The schema
// offers these, StepSettings decodes them, the engine and the closed forms switch on the meaning. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "demos/record/schema.h"

namespace headroom::predict {

// A value of a choice, and what it means.
template <class Enum>
struct Meant {
  record::Choice choice;  // "flce", "a chunk of logits at a time"
  Enum meaning;
};
// The choices alone, as a schema takes them.
template <const auto& kValues>
inline constexpr auto kChoicesOf = [] {
  std::array<record::Choice, kValues.size()> choices{};
  for (std::size_t i = 0; i < kValues.size(); ++i) choices[i] = kValues[i].choice;
  return choices;
}();

enum class Precision : std::uint8_t {
  kFp32,
  kBf16,
  kFp16Mixed,  // fp16, with fp32 masters and a loss scale
  kBf16Mixed,  // bf16, with fp32 masters
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

// How the linear layers' matrix products are computed.
enum class Gemm : std::uint8_t {
  kAsStored,  // in the format of weights and activations
  kTf32,      // of fp32 operands with 10 bits of fraction; the head's, too
  kFp8,       // of codes in eight bits: e4m3 of inputs and weights, e5m2 of gradients
};
inline constexpr std::array kGemms{
    Meant<Gemm>{{"as_stored", "as stored"}, Gemm::kAsStored},
    Meant<Gemm>{{"tf32", "tf32"}, Gemm::kTf32},
    Meant<Gemm>{{"fp8", "fp8"}, Gemm::kFp8},
};

// What the scale of an fp8 operand follows from.
enum class Fp8Scaling : std::uint8_t {
  kCurrent,  // its own largest magnitude, which takes another pass
  kDelayed,  // the largest of the last steps
};
inline constexpr std::array kFp8Scalings{
    Meant<Fp8Scaling>{{"current", "this tensor"}, Fp8Scaling::kCurrent},
    Meant<Fp8Scaling>{{"delayed", "the last 16 steps"}, Fp8Scaling::kDelayed},
};

enum class Checkpointing : std::uint8_t {
  kOff,        // every layer keeps what its backward needs
  kSelective,  // layers keep the results of products and what attention's kernel keeps, and rebuild the rest
  kLayer,  // one input in `checkpoint_every` layers is kept, and the layers behind it are computed again in backward
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
  kCudnn,  // flash by cuDNN where a GPU computes in 16 bits, else as kFlash
  kAuto,  // the faster of these two on the run's device; as kFlash, until experiments::with_attention_taken() says which
};
inline constexpr std::array kAttentions{
    Meant<Attention>{{"flash", "flash"}, Attention::kFlash},
    Meant<Attention>{{"cudnn", "flash, by cuDNN"}, Attention::kCudnn},
    Meant<Attention>{{"auto", "flash, the faster one"}, Attention::kAuto},
    Meant<Attention>{{"eager", "eager"}, Attention::kEager},
};

// So many steps run before one is recorded as a CUDA graph.
inline constexpr int kGraphWarmUpSteps = 3;

// Operations of the step as one kernel each, instead of compositions of PyTorch's operators.
struct FusedKernels {
  bool rms_norm = false;
  bool rope = false;
  bool swiglu = false;
  bool keep = false;           // norms and SwiGLU keep what they give, for the products' gradients
  bool cross_entropy = false;  // of loss path kPlain
  bool embedding = false;      // its gradient
  Attention attention = Attention::kFlash;
};

enum class LossPath : std::uint8_t {
  kPlain,   // all logits at once
  kFlce,    // fused linear cross entropy: never more than a chunk of them
  kHf2024,  // as Hugging Face's Llama until the end of 2024
  kHf2025,  // as it has been since 2025
};
inline constexpr std::array kLossPaths{
    Meant<LossPath>{{"plain", "all logits"}, LossPath::kPlain},
    Meant<LossPath>{{"hf_2024", "Hugging Face, 2024"}, LossPath::kHf2024},
    Meant<LossPath>{{"hf_2025", "Hugging Face, 2025"}, LossPath::kHf2025},
    Meant<LossPath>{{"flce", "a chunk of logits at a time"}, LossPath::kFlce},
};

enum class OptimizerKind : std::uint8_t { kAdamW, kAdamW8bit, kGaLore };
inline constexpr std::array kOptimizers{
    Meant<OptimizerKind>{{"adamw", "AdamW"}, OptimizerKind::kAdamW},
    Meant<OptimizerKind>{{"adamw_8bit", "AdamW, 8-bit moments"}, OptimizerKind::kAdamW8bit},
    Meant<OptimizerKind>{{"galore", "GaLore"}, OptimizerKind::kGaLore},
};
// Whether each step after the first does the same: GaLore's projections are worked out in some only.
constexpr bool steps_alike(OptimizerKind optimizer) { return optimizer != OptimizerKind::kGaLore; }

// How the learning rate goes on behind its warm-up.
enum class Schedule : std::uint8_t { kConstant, kLinear, kCosine };
inline constexpr std::array kSchedules{
    Meant<Schedule>{{"constant", "constant"}, Schedule::kConstant},
    Meant<Schedule>{{"linear", "down to 0 in a line"}, Schedule::kLinear},
    Meant<Schedule>{{"cosine", "down to 0 by half a cosine"}, Schedule::kCosine},
};

// Number format of AdamW's moments. kModel: as the weights, beside masters fp32.
enum class Moments : std::uint8_t { kModel, kFp32, kBf16 };
inline constexpr std::array kMoments{
    Meant<Moments>{{"model", "as the weights"}, Moments::kModel},
    Meant<Moments>{{"fp32", "fp32"}, Moments::kFp32},
    Meant<Moments>{{"bf16", "bf16"}, Moments::kBf16},
};

enum class AdapterKind : std::uint8_t {
  kOff,    // all weights are trained
  kLora,   // the weights are frozen, in the model's type
  kQlora,  // the projections' weights are frozen in NF4; the embedding, the head and the norms in the model's type
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

// What A is drawn from; B begins as 0. As PEFT's init_lora_weights.
enum class AdapterStart : std::uint8_t {
  kKaiming,   // uniform within ±1/√I, for I inputs: PEFT's default, kaiming_uniform_ with a = √5
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
  bool fp32 = false;  // beside 16-bit weights; else in their type

  bool quantised() const { return kind == AdapterKind::kQlora; }
};

// Where masters and moments are kept. Away from the device, the CPU steps.
enum class StateOffload : std::uint8_t { kOff, kHost, kFile };
inline constexpr std::array kStateOffloads{
    Meant<StateOffload>{{"off", "off"}, StateOffload::kOff},
    Meant<StateOffload>{{"host", "host memory"}, StateOffload::kHost},
    Meant<StateOffload>{{"file", "a file"}, StateOffload::kFile},
};

// What can be turned on so that a step takes less, and what it gives up.
struct MemorySwitch {
  std::string_view id, label;    // "checkpointing", "checkpointing each layer"
  std::string_view short_label;  // on a button: "checkpointing"
  // "checkpointing=layer"; {batch/2} is half of the step's own batch. Empty behind the last.
  std::array<std::string_view, 4> settings{};
  bool costs_speed = false;
  bool costs_exactness = false;  // other numbers are trained than without it
  std::string_view reason;       // why it takes less: a sentence
  std::string_view recording;    // shipped, of Llama 3.2 1B on an H200; empty: none measured it
  double times = 0;              // so many times as long as without it a step takes in that recording; 0: not measured
  std::string_view place;        // in the order that the report recommends; empty: not in it
  std::string_view rounding = {};  // a loss of exactness too small to choose by; empty: none
  double seconds = 0;  // that it adds to a step there, whatever the batch; 0: what it adds grows with the batch

  std::string_view gives_up() const;  // "speed, exactness"
  std::string time() const;           // "1.22 times", "0.33 s more"; empty: not measured
};
// Cheap ones first, and what others build on before them.
std::span<const MemorySwitch> memory_switches();
// Steps of the report's order that need several GPUs.
std::span<const std::string_view> report_steps_left_out();

}  // namespace headroom::predict
