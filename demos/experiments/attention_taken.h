// What attention=auto is on a device.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::experiments {

// Settings of a training step, with the kernel that attention=auto takes there in its place: cuDNN's where it was measured to
// be faster, on GPUs of compute capability 9.0 and later, in 16 bits and at the widths of heads that it computes; else flash
// (batch 16, T 1,024, 32 heads of 64 on an H200, with backward: 0.93 ms by cuDNN, 1.51 ms by PyTorch's flash). `capability`
// nothing: the GPU is not known, and then it is flash. Settings without `attention`, or with another value, are as they were.
record::Params with_attention_taken(record::Params settings, record::DeviceKind device,
                                    std::optional<double> capability);

// Of a GPU, in an engine's facts or a run's provenance.
std::optional<double> capability_in(const std::map<std::string, std::string>& facts);

}  // namespace headroom::experiments
