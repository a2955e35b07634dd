// Recordings made by hand, with numbers that are easy to check.
#pragma once

#include <cstdint>
#include <string>

#include "demos/record/recording.h"

namespace headroom::tests {

// Two steps on a CPU. Persistent: 4 MiB of weights, 8 MiB of optimizer state. Per step: 2 MiB of activations in each
// of two layers, 16 MiB of logits, then 4 MiB of gradients, all freed at its end. Peak: 4 + 8 + 2·2 + 16 = 32 MiB in
// the loss phase. Speeds: 100 and 200 tokens/s; losses: 5.5 and 5.25.
record::Recording small_recording();
inline constexpr record::Bytes kSmallPeak = 32 * record::kMiB;

// The same run, ended when the loss requests 16 MiB under a cap of 24 MiB.
record::Recording out_of_memory_recording();

// At least `events` events, in one step.
record::Recording large_recording(std::uint64_t events);

}  // namespace headroom::tests
