// Reads a table, or times algorithms.
#include "demos/engine/llama/step/product_choice.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <ATen/cuda/CUDAContextLight.h>

#include "demos/nvml/nvml.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/time/step_bound.h"
#include "kernels/narrow_product/narrow_product_ops.h"

namespace headroom::llama {

namespace {

using kernels::LinearFormat;
using kernels::LinearPass;
using kernels::LinearProduct;
using kernels::ProductTable;
using predict::ProductKind;

constexpr const char* kByLibTorch = "LibTorch's choice";

LinearPass pass_of(ProductKind kind) {
  if (kind == ProductKind::kOutput) return LinearPass::kOutput;
  return kind == ProductKind::kInputGradient ? LinearPass::kInputGradient : LinearPass::kWeightGradient;
}

// Empty in fp32.
std::optional<LinearFormat> format_of(const predict::StepSettings& step, bool head) {
  if (step.precision == predict::Precision::kFp32) return std::nullopt;
  if (step.fp8() && !head) return LinearFormat::kFp8Codes;
  return predict::has_loss_scale(step.precision) ? LinearFormat::kFp16 : LinearFormat::kBf16;
}

std::vector<std::pair<std::string, ProductTable>> tables_in(const std::filesystem::path& folder) {
  std::vector<std::pair<std::string, ProductTable>> all;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
    std::ifstream stream(file.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (auto table = kernels::parse_product_table(text))
      all.emplace_back(file.path().stem().string(), *std::move(table));
  }
  std::ranges::sort(all, {}, [](const auto& named) { return named.first; });
  return all;
}

// Keeps the table's algorithms, and returns the number of their GEMMs.
std::size_t take_from(const ProductTable& table, const std::vector<LinearProduct>& products) {
  std::size_t kept = 0;
  for (const LinearProduct& product : products) {
    const auto found = table.algorithms.find(product);
    if (found == table.algorithms.end()) continue;
    const std::optional<kernels::ProductAlgorithm>& algorithm = found->second;
    kept += !algorithm ||
            kernels::keep_algorithm(kernels::product_of(product), *algorithm, product_workspace(product.format)) == 0;
  }
  return kept;
}

std::string count_of(std::size_t some, std::size_t all) { return std::to_string(some) + " of " + std::to_string(all); }

struct Timing {
  std::size_t failed = 0;
  int error = 0;  // code of the first failure
};
Timing time_rest(const std::vector<LinearProduct>& products, const std::atomic<bool>* cancel) {
  Timing timing;
  kernels::ProductTimer timer;
  for (const LinearProduct& product : products) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) return timing;
    const int error = timer.find(product, product_workspace(product.format));
    if (error == 0) continue;
    ++timing.failed;
    if (timing.error == 0) timing.error = error;
  }
  return timing;
}

std::string words_of(const Timing& timing, std::size_t all) {
  if (timing.failed == 0) return {};
  const bool of_cublas = timing.error >= kernels::kCublasError;
  return "; " + count_of(timing.failed, all) + " are " + kByLibTorch + ", as " +
         (of_cublas ? "cuBLASLt returned status " : "CUDA returned error ") +
         std::to_string(of_cublas ? timing.error - kernels::kCublasError : timing.error);
}

// Empty if the device supports the step's format.
std::string emulation(const predict::StepSettings& step, const kernels::ProductPlace& place) {
  const bool fp8 = step.fp8();
  if (!fp8 && step.gemm != predict::Gemm::kTf32) return {};
  if (!kernels::products_emulated(fp8 ? kernels::NarrowFormat::kFp8 : kernels::NarrowFormat::kTf32)) return {};
  return std::string(fp8 ? "in fp8" : "in tf32") +
         " emulated in fp32 without tensor cores: the same numbers, but slower; " + place.gpu +
         " cannot multiply them, or " + kProductsVariable + " says so";
}

}  // namespace

std::vector<LinearProduct> linear_products(const predict::StepSettings& step) {
  std::set<LinearProduct> all;
  for (const predict::StepProduct& each : predict::step_bound(step).products) {
    const bool head = each.layer == predict::kHeadProduct;
    const auto format = format_of(step, head);
    if (!format || (head && predict::loss_in_chunks(step))) continue;  // chunked losses search by themselves
    if (each.kind == ProductKind::kWeightGradient && step.adapters.kind != predict::AdapterKind::kOff) continue;
    all.insert({.pass = pass_of(each.kind),
                .format = *format,
                .rows = each.tokens,
                .outputs = each.outputs,
                .inputs = each.inputs});
  }
  return {all.begin(), all.end()};
}

kernels::ProductPlace product_place() {
  const cudaDeviceProp* const device = at::cuda::getCurrentDeviceProperties();
  const auto driver = nvml::Driver::open();
  return {.gpu = device->name,
          .driver = driver ? driver->version() : std::string("unknown"),
          .cublaslt = std::to_string(kernels::cublaslt_version())};
}

std::int64_t product_workspace(LinearFormat format) {
  return static_cast<std::int64_t>(format == LinearFormat::kFp8Codes ? at::cuda::getCUDABlasLtWorkspaceSize()
                                                                     : at::cuda::getChosenWorkspaceSize());
}

record::Result<std::string> choose_products(const predict::StepSettings& step, const std::filesystem::path& tables,
                                            const std::atomic<bool>* cancel) {
  const char* const said = std::getenv(kProductsVariable);
  const std::string_view by = said == nullptr ? "timed" : said;
  if (by != "timed" && by != "libtorch" && by != "emulated")
    return record::Error{std::string(kProductsVariable) + "=" + std::string(by) + ": use timed, libtorch or emulated.",
                         record::ErrorKind::kRefused};
  kernels::emulate_narrow_products(by == "emulated");
  const kernels::ProductPlace place = product_place();
  std::vector<LinearProduct> products = linear_products(step);
  const std::string emulated = emulation(step, place);
  if (!emulated.empty())
    std::erase_if(products, [](const LinearProduct& p) { return p.format == LinearFormat::kFp8Codes; });
  const std::string behind = emulated.empty() ? "" : "; " + emulated;
  if (by == "libtorch") {
    for (const LinearProduct& product : products) kernels::forget_algorithm(kernels::product_of(product));
    return std::string(kByLibTorch) + ", as " + kProductsVariable + " says" + behind;
  }
  if (products.empty()) return emulated.empty() ? std::string(kByLibTorch) + " in fp32" : emulated;
  const auto all = tables_in(tables);
  const auto ours = std::ranges::find(all, place, [](const auto& named) { return named.second.place; });
  const std::size_t kept = ours == all.end() ? 0 : take_from(ours->second, products);
  const Timing timing = kept == products.size() ? Timing{} : time_rest(products, cancel);
  std::string words = kept == 0 ? "timed here" : "table " + ours->first;
  if (kept > 0 && kept < products.size())
    words += "; " + count_of(products.size() - kept, products.size()) + " timed here";
  if (ours == all.end() && !all.empty())
    words += "; no table is for this GPU, driver " + place.driver + " and cuBLASLt " + place.cublaslt;
  return words + words_of(timing, products.size()) + behind;
}

}  // namespace headroom::llama
