// Resolves attention=auto for a device.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::experiments {

// Replaces attention=auto by the faster kernel: cuDNN's in 16 bits on compute capability 9.0 and later, if it supports
// the head width; otherwise, and on an unknown GPU, flash. Forward and backward pass on an H200 with batch 16, T =
// 1,024 and 32 heads of 64 take 0.93 ms with cuDNN and 1.51 ms with PyTorch's flash.
record::Params with_attention_taken(record::Params settings, record::DeviceKind device,
                                    std::optional<double> capability);

std::optional<double> capability_in(const std::map<std::string, std::string>& facts);

}  // namespace headroom::experiments
