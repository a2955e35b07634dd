// The model state of mixed-precision training, by kind: what is taken before the first activation, and depends on neither
// batch size nor sequence length. Closed form.
#pragma once

#include <cstdint>

#include "demos/predict/techniques.h"
#include "demos/record/units.h"

namespace headroom::predict {

// What an optimizer keeps for each parameter, beside the master copy.
enum class KeptState : std::uint8_t { kSgd, kMomentum, kAdamW, kAdamW8bit };

struct StaticMemory {
  record::Bytes weights = 0, gradients = 0, master = 0, moments = 0;

  record::Bytes sum() const { return weights + gradients + master + moments; }
};

// Mixed precision keeps an fp32 master of each 16-bit weight, and moments in fp32; otherwise moments have the weights'
// format. 8-bit moments: one byte and 4/256 of a scale each. 1.5·10⁹ parameters, bf16_mixed, AdamW: 24.0·10⁹ B
// (Rajbhandari et al. 2020, arXiv:1910.02054 §3.1).
StaticMemory static_memory(std::int64_t parameters, Precision precision, KeptState state);

}  // namespace headroom::predict
