// The GEMMs of a step whose algorithms are searched.
#include "demos/engine/llama/step/product_choice.h"

#include <algorithm>
#include <string>
#include <vector>

#include "demos/experiments/demo.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using kernels::LinearFormat;
using kernels::LinearPass;
using kernels::LinearProduct;

std::vector<LinearProduct> products(const std::vector<std::string>& settings) {
  record::Params params(experiments::training_step().schema);
  for (const std::string& setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return llama::linear_products(predict::step_settings(params));
}

const std::vector<std::string> kOneB{"model=llama-3.2-1b", "batch=4", "seq=1024", "accumulate=2"};
std::vector<std::string> one_b(const std::vector<std::string>& more) {
  std::vector<std::string> all = kOneB;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("each GEMM shape of a micro-batch is listed once, and the head's only if its loss is not chunked") {
  // Three GEMMs each for: q and o; k and v; gate and up; down.
  const auto chunked = products(one_b({"precision=bf16", "loss=flce"}));
  CHECK(chunked.size() == 12);
  CHECK(std::ranges::all_of(chunked, [](const LinearProduct& each) {
    return each.rows == 4096 && each.format == LinearFormat::kBf16 && each.outputs <= 8192;
  }));
  const LinearProduct down{.pass = LinearPass::kWeightGradient, .rows = 4096, .outputs = 2048, .inputs = 8192};
  CHECK(std::ranges::count(chunked, down) == 1);
  CHECK(products(one_b({"precision=bf16"})).size() == 15);
}

TEST_CASE("fp32 GEMMs are LibTorch's, and a frozen weight has no gradient GEMM") {
  CHECK(products(one_b({"precision=fp32"})).empty());
  CHECK(products(one_b({"precision=fp32", "gemm=tf32"})).empty());
  const auto frozen = products(one_b({"precision=bf16", "adapters=lora", "loss=flce"}));
  CHECK(frozen.size() == 8);
  CHECK(
      std::ranges::none_of(frozen, [](const LinearProduct& each) { return each.pass == LinearPass::kWeightGradient; }));
}

TEST_CASE("fp8 GEMMs are listed as such, and the head's in 16 bits") {
  const auto all = products(one_b({"precision=bf16", "gemm=fp8"}));
  CHECK(all.size() == 15);
  CHECK(std::ranges::count(all, LinearFormat::kFp8Codes, &LinearProduct::format) == 12);
  const auto fp16 = products(one_b({"precision=fp16_mixed"}));
  CHECK(std::ranges::count(fp16, LinearFormat::kFp16, &LinearProduct::format) == 15);
}
