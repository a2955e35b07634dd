// Which algorithms multiply in the linear layers of a step on a GPU in 16 bits: those that were fastest, timed here or read
// from a table, in place of cuBLAS's guess.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "demos/predict/step_settings.h"
#include "demos/record/result.h"
#include "kernels/narrow_product/product_table.h"

namespace headroom::llama {

// `libtorch` leaves all products to LibTorch, `timed` (the default) does not; `emulated` takes no tensor cores for fp8 and
// tf32, as a GPU that has none for them.
inline constexpr const char* kProductsVariable = "HEADROOM_PRODUCTS";

// The products of a micro-batch by the weights of a layer and, where its logits are there at once, of the head; each once.
// None where products are not in 16 bits or in fp8.
std::vector<kernels::LinearProduct> linear_products(const predict::StepSettings& step);

// The current device, with its driver and cuBLASLt.
kernels::ProductPlace product_place();
// That all products of the format get, as LibTorch allocates it.
std::int64_t product_workspace(kernels::LinearFormat format);

// Finds algorithms for the step's products, before anything of the run is allocated: from the table of this place among the
// files of `tables`, and by timing on the driver's memory, which is given back. The same table gives the same algorithms.
// The answer is the run's provenance: "table NAME", "timed here", "LibTorch's choice" and why, and whether
// the GPU emulates the step's format. Refused: the variable has
// another value.
record::Result<std::string> choose_products(const predict::StepSettings& step, const std::filesystem::path& tables,
                                            const std::atomic<bool>* cancel);

}  // namespace headroom::llama
