// Bytes and formats of a configuration, by place.
#pragma once

#include <cstdint>

#include "demos/configs/config.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/record/units.h"

namespace headroom::configs {

// Facts that the file does not contain: the format in which the script loads the weights, and Accelerate's version.
// Since 0.30 it converts FSDP's weights to fp32 before it shards them (huggingface/accelerate#2674).
struct Loading {
  Format format = Format::kBf16;
  bool upcasts = true;
};

// The columns of Accelerate's guide on FSDP and DeepSpeed.
struct Places {
  Format loaded, prepared, trained, optimizer;  // prepared, optimizer: of the local share
};
Places places_of(const Config& config, const Loading& loading);

// Bytes per parameter before sharding, with AdamW. FSDP in mixed precision: 4 + 4 + 0 + 8; DeepSpeed: 2 + 2 + 4 + 8.
predict::StaticMemory bytes_per_parameter(const Config& config, const Loading& loading);

struct Held {
  predict::StaticMemory device, elsewhere;   // elsewhere: host memory, or a file
  record::Bytes sent = 0;                    // to other GPUs per step, in a ring
  record::Bytes to_host = 0, from_host = 0;  // per step
};
// One rank's bytes for P parameters, without gathered layers and buffers. Refuses a group that does not divide the
// ranks.
record::Result<Held> held_by_rank(const Config& config, const Loading& loading, std::int64_t parameters,
                                  std::int64_t ranks);

// True for settings that change what held_by_rank() returns.
bool decides_bytes(std::string_view setting);

}  // namespace headroom::configs
