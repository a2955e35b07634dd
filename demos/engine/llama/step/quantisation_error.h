// What block-wise quantization to 8 bits does to real numbers, by their magnitude.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <ATen/ATen.h>

#include "demos/record/histogram.h"

namespace headroom::llama {

enum class QuantisationMap : std::uint8_t {
  kLinear,   // 255 (signed) or 256 even steps
  kDynamic,  // Dettmers et al. 2022, arXiv:2110.02861, section 2.2: steps grow with the number, over seven decades
};

// The map's values between −1 (unsigned: 0) and 1, rising; fp32 on the device.
at::Tensor map_values(QuantisationMap map, bool is_signed, at::Device device);

// x, fp32, contiguous, as it comes back: each `block` of elements divided by its largest magnitude, the nearest value of
// the map, multiplied again. As in the optimizer's kernel, a number above zero never becomes zero in an unsigned map.
at::Tensor quantised_and_back(const at::Tensor& x, const at::Tensor& values, std::int64_t block);

// All numbers of these tensors by magnitude, with |x' − x| / |x| on average as errors. Waits for the device.
record::Histogram quantisation_error(std::string name, std::span<const at::Tensor> tensors, QuantisationMap map,
                                     bool is_signed, std::int64_t block);

}  // namespace headroom::llama
