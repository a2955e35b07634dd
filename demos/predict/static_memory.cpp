// Bytes per parameter, by precision and optimizer.
#include "demos/predict/static_memory.h"

#include "demos/predict/step_bytes.h"

namespace headroom::predict {

namespace {

int moments_of(KeptState state) {
  switch (state) {
    case KeptState::kSgd:
      return 0;
    case KeptState::kMomentum:
      return 1;
    case KeptState::kAdamW:
    case KeptState::kAdamW8bit:
      return 2;
  }
  return 0;
}

}  // namespace

StaticMemory static_memory(std::int64_t parameters, Precision precision, KeptState state) {
  const bool mixed = precision == Precision::kFp16Mixed || precision == Precision::kBf16Mixed;
  const record::Bytes element = precision == Precision::kFp32 ? 4 : 2;
  StaticMemory memory;
  memory.weights = element * parameters;
  memory.gradients = element * parameters;
  memory.master = mixed ? 4 * parameters : 0;
  memory.moments = state == KeptState::kAdamW8bit ? moments_8bit_bytes(parameters)
                                                  : moments_of(state) * (mixed ? 4 : element) * parameters;
  return memory;
}

}  // namespace headroom::predict
