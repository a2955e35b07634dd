// Errors of block-wise 8-bit quantization, by magnitude.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <ATen/ATen.h>

#include "demos/record/rows/histogram.h"

namespace headroom::llama {

enum class QuantisationMap : std::uint8_t {
  kLinear,   // 255 (signed) or 256 evenly spaced values
  kDynamic,  // Dettmers et al. 2022, arXiv:2110.02861, section 2.2: steps grow with the number, over seven decades
};

// The map's values between −1 (unsigned: 0) and 1, rising; fp32 on the device.
at::Tensor map_values(QuantisationMap map, bool is_signed, at::Device device);

// x (fp32, contiguous) after quantization: each block divided by its largest magnitude, rounded to the map and
// multiplied again. As in the optimizer's kernel, unsigned maps never round numbers above zero to zero.
at::Tensor quantised_and_back(const at::Tensor& x, const at::Tensor& values, std::int64_t block);

// Counts of these numbers by magnitude, with the mean |x' − x| / |x| as errors. Waits for the device.
record::Histogram quantisation_error(std::string name, std::span<const at::Tensor> tensors, QuantisationMap map,
                                     bool is_signed, std::int64_t block);

}  // namespace headroom::llama
