// Recordings made by hand, with numbers that a person can check.
#pragma once

#include <cstdint>
#include <string>

#include "demos/record/recording.h"

namespace headroom::tests {

// Two steps on a CPU. Standing: 4 MiB of weights and 8 MiB of optimizer state. Each step: 2 MiB of activations in
// each of two layers, 16 MiB of logits, then 4 MiB of gradients; all freed at its end. Peak: 4 + 8 + 2·2 + 16 = 32 MiB
// in the loss phase. Speeds: 100 and 200 tokens/s; losses: 5.5 and 5.25.
record::Recording small_recording();
inline constexpr record::Bytes kSmallPeak = 32 * record::kMiB;

// A run that did not fit: as above until the loss, where 16 MiB were asked for under a cap of 24 MiB.
record::Recording out_of_memory_recording();

// At least `events` events in one step of many layers, for speed.
record::Recording large_recording(std::uint64_t events);

}  // namespace headroom::tests
