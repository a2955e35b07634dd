// How a training step is computed, as the engine and the closed forms both name it. No torch.
#pragma once

#include <cstdint>

namespace headroom::predict {

enum class Precision : std::uint8_t {
  kFp32,
  kBf16,
  kFp16Mixed,  // fp16, with fp32 masters and a loss scale
  kBf16Mixed,  // bf16, with fp32 masters
};

enum class Checkpointing : std::uint8_t {
  kOff,        // every layer keeps what its backward needs
  kSelective,  // layers keep the results of products and what attention's kernel keeps, and rebuild the rest
  kLayer,  // one input in `checkpoint_every` layers is kept, and the layers behind it are computed again in backward
};

enum class Attention : std::uint8_t {
  kEager,  // scores T × T
  kFlash,
  kCudnn,  // flash by cuDNN where a GPU computes in 16 bits, else as kFlash
};

// Operations of the step as one kernel each, instead of compositions of PyTorch's operators.
struct FusedKernels {
  bool rms_norm = false;
  bool rope = false;
  bool swiglu = false;
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

enum class OptimizerKind : std::uint8_t { kAdamW, kAdamW8bit, kGaLore };

// Number format of AdamW's moments. kModel: as the weights, beside masters fp32.
enum class Moments : std::uint8_t { kModel, kFp32, kBf16 };

enum class AdapterKind : std::uint8_t {
  kOff,    // all weights are trained
  kLora,   // the weights are frozen, in the model's type
  kQlora,  // the projections' weights are frozen in NF4; the embedding, the head and the norms in the model's type
};

enum class AdapterTargets : std::uint8_t { kAll, kAttention, kMlp };

struct AdapterOptions {
  AdapterKind kind = AdapterKind::kOff;
  std::int64_t rank = 16;
  double alpha = 32;
  AdapterTargets targets = AdapterTargets::kAll;
};

// Where masters and moments are kept. Away from the device, the CPU steps.
enum class StateOffload : std::uint8_t { kOff, kHost, kFile };

}  // namespace headroom::predict
