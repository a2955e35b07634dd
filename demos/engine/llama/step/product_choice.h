// Chooses the fastest algorithms for a step's 16-bit and fp8 GEMMs on a GPU, in place of cuBLAS's guess.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "demos/predict/step_settings.h"
#include "demos/record/result.h"
#include "kernels/narrow_product/product_table.h"

namespace headroom::llama {

// The environment variable's values: `libtorch` leaves GEMMs to LibTorch; `timed` is the default; `emulated` avoids
// tensor cores for fp8 and tf32, like a GPU without them.
inline constexpr const char* kProductsVariable = "HEADROOM_PRODUCTS";

// GEMMs of a micro-batch with the weights of a layer and, unless the loss is chunked, with those of the head; each GEMM
// once. Empty in fp32.
std::vector<kernels::LinearProduct> linear_products(const predict::StepSettings& step);

// The current device, its driver and cuBLASLt.
kernels::ProductPlace product_place();
// Bytes of workspace for all GEMMs of the format, as LibTorch allocates it.
std::int64_t product_workspace(kernels::LinearFormat format);

// Finds algorithms before the run allocates anything: first in this place's table in `tables`, then by timing in
// temporary driver memory. A table always gives the same algorithms. Returns provenance: "table NAME", "timed here" or
// "LibTorch's choice", with reasons, and whether the GPU emulates the format. Fails for an unknown value of
// kProductsVariable.
record::Result<std::string> choose_products(const predict::StepSettings& step, const std::filesystem::path& tables,
                                            const std::atomic<bool>* cancel);

}  // namespace headroom::llama
