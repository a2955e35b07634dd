// Times the GEMMs of Llama 3.2 1B's linear layers in bf16, with LibTorch's algorithm and cuBLASLt's fastest in turns.
// Prints medians with a cold L2 as a Markdown table. Exits with 77 without a GPU.
//
//   product_times [--table FILE] N…
//
// N: tokens per micro-batch. FILE: a table for assets/data/products, so that runs with this GPU, driver and cuBLASLt
// need not time algorithms. The table keeps LibTorch's choice unless another is faster.
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>

#include "demos/engine/experiments/bench_clock.h"
#include "demos/engine/llama/step/product_choice.h"
#include "demos/llama/config.h"
#include "kernels/narrow_product/narrow_product_ops.h"
#include "kernels/narrow_product/product_table.h"

namespace {

using namespace headroom;
using kernels::LinearPass;
using kernels::LinearProduct;

constexpr double kMostBytes = 8.0 * (1 << 30);  // per matrix; larger logits are skipped
constexpr experiments::BenchPatience kPatience{.least = 10, .most = 60, .seconds = 1};

const char* name_of(LinearPass pass) {
  if (pass == LinearPass::kOutput) return "y = x Wᵀ";
  return pass == LinearPass::kInputGradient ? "dx = dy W" : "dW = dyᵀ x";
}

constexpr double kFaster = 0.99;  // another algorithm may take at most this share of LibTorch's time

struct Operands {
  at::Tensor left, right, result;
};
Operands operands_of(const LinearProduct& p) {
  const auto make = [](std::int64_t rows, std::int64_t columns) {
    return at::empty({rows, columns}, at::TensorOptions(at::kCUDA).dtype(at::kBFloat16)).normal_(0, 0.02);
  };
  const at::Tensor x_NI = make(p.rows, p.inputs), w_OI = make(p.outputs, p.inputs), dy_NO = make(p.rows, p.outputs);
  if (p.pass == LinearPass::kOutput) return {x_NI, w_OI.t(), dy_NO};
  if (p.pass == LinearPass::kInputGradient) return {dy_NO, w_OI, x_NI};
  return {dy_NO.t(), x_NI, w_OI};
}

std::vector<LinearProduct> products_of(std::int64_t tokens) {
  predict::StepSettings step;
  step.model = *llama::find_config("llama-3.2-1b");
  step.batch = 1;
  step.sequence = tokens;
  step.precision = predict::Precision::kBf16;
  return llama::linear_products(step);
}

// False if no algorithm was found.
bool compare(const LinearProduct& product, kernels::ProductTable& table) {
  kernels::ProductTimer timer;
  const int error = timer.find(product, llama::product_workspace(product.format));
  const auto found = kernels::found_algorithm(kernels::product_of(product));
  if (error != 0 || !found) {
    std::printf("| %lld | %s | %lld × %lld | error %d |\n", static_cast<long long>(product.rows), name_of(product.pass),
                static_cast<long long>(product.outputs), static_cast<long long>(product.inputs), error);
    return false;
  }
  Operands by = operands_of(product);
  experiments::BenchClock clock(by.result.device());
  const std::array samplers{
      clock.cold([by]() mutable { at::mm_out(by.result, by.left, by.right); }),
      clock.cold([by]() mutable { kernels::product(by.result, by.left, by.right); }),
  };
  const auto times = *experiments::time_in_turns(samplers, kPatience, [] { return false; });
  if (times[1].median <= kFaster * times[0].median)
    table.algorithms[product] = *found;
  else
    table.algorithms[product] = std::nullopt;
  const double flops = 2.0 * static_cast<double>(product.rows) * static_cast<double>(product.outputs) *
                       static_cast<double>(product.inputs);
  std::printf("| %lld | %s | %lld × %lld | %.1f | %.1f | %.0f | %.1f %% |\n", static_cast<long long>(product.rows),
              name_of(product.pass), static_cast<long long>(product.outputs), static_cast<long long>(product.inputs),
              times[0].median / 1e3, times[1].median / 1e3, flops / times[1].median / 1e3,
              100 * (1 - times[1].median / times[0].median));
  std::fflush(stdout);
  return true;
}

struct Asked {
  std::optional<std::string> table;
  std::vector<std::int64_t> tokens;
};
std::optional<Asked> asked_by(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--table" && i + 1 < argc) {
      asked.table = argv[++i];
      continue;
    }
    std::int64_t tokens = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), tokens);
    if (error != std::errc() || end != word.data() + word.size() || tokens < 1) return std::nullopt;
    asked.tokens.push_back(tokens);
  }
  if (asked.tokens.empty()) return std::nullopt;
  return asked;
}

}  // namespace

int main(int argc, char** argv) {
  const auto asked = asked_by(argc, argv);
  if (!asked) {
    std::puts("product_times [--table FILE] N…: the tokens of a micro-batch, such as 1024 4096 16384 98304");
    return 2;
  }
  if (c10::cuda::device_count() == 0) {
    std::puts("no CUDA device: skipped");
    return 77;
  }
  const at::InferenceMode without_graph;
  at::zeros({1}, at::TensorOptions(at::kCUDA));  // creates the context
  kernels::ProductTable table{.place = llama::product_place(), .algorithms = {}};
  std::printf("%s, driver %s, cuBLASLt %s\n\n| N | product | O × I | LibTorch, µs | found, µs | TFLOP/s | less |\n",
              table.place.gpu.c_str(), table.place.driver.c_str(), table.place.cublaslt.c_str());
  std::puts("|---|---|---|---|---|---|---|");
  bool all = true;
  for (const std::int64_t tokens : asked->tokens)
    for (const LinearProduct& product : products_of(tokens)) {
      const double largest = 2.0 * static_cast<double>(product.rows) * static_cast<double>(product.outputs);
      if (largest <= kMostBytes) all = compare(product, table) && all;
    }
  if (asked->table) {
    std::ofstream file(*asked->table);
    file << text_of(table);
    if (!file.flush()) {
      std::printf("%s cannot be written.\n", asked->table->c_str());
      return 6;
    }
  }
  return all ? 0 : 1;
}
