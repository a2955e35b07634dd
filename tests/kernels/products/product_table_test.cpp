// Tables of algorithms as text, and the linear layers' GEMMs in them.
#include "kernels/narrow_product/product_table.h"

#include <optional>
#include <string>
#include <tuple>

#include "tests/support/catch.h"

using namespace headroom;
using kernels::LinearFormat;
using kernels::LinearPass;
using kernels::LinearProduct;

namespace {

kernels::ProductTable small_table() {
  kernels::ProductTable table{.place = {.gpu = "NVIDIA H200", .driver = "580.159.04", .cublaslt = "130002"}};
  using kernels::ProductAlgorithm;
  table.algorithms[{.rows = 4096, .outputs = 8192, .inputs = 2048}] =
      ProductAlgorithm{0x1234, 0, ~std::uint64_t{0}, 7, 0, 0, 0, 1};
  table.algorithms[{.rows = 1024, .outputs = 512, .inputs = 2048}] = std::nullopt;
  table.algorithms[{.pass = LinearPass::kWeightGradient,
                    .format = LinearFormat::kFp8Codes,
                    .rows = 1024,
                    .outputs = 512,
                    .inputs = 2048}] = ProductAlgorithm{66, 5, 4, 3, 2, 1, 0, 9};
  return table;
}

}  // namespace

TEST_CASE("a table survives a round trip") {
  const kernels::ProductTable table = small_table();
  const std::string text = text_of(table);
  CHECK(text.find("output,bf16,4096,8192,2048,1234 0 ffffffffffffffff 7 0 0 0 1\n") != std::string::npos);
  CHECK(text.find("output,bf16,1024,512,2048,libtorch\n") != std::string::npos);
  const auto read = kernels::parse_product_table(text);
  REQUIRE(read);
  CHECK(read->place == table.place);
  CHECK((read->algorithms == table.algorithms));
  CHECK(text_of(*read) == text);
}

TEST_CASE("a truncated table, or another text, is not a table") {
  const std::string text = text_of(small_table());
  CHECK_FALSE(kernels::parse_product_table(""));
  CHECK_FALSE(kernels::parse_product_table("pass,format,rows,outputs,inputs,algorithm\n"));
  CHECK_FALSE(kernels::parse_product_table(text.substr(0, text.size() - 3)));
  CHECK_FALSE(kernels::parse_product_table(text + "output,bf16,0,1,1,0 0 0 0 0 0 0 0\n"));
  CHECK_FALSE(kernels::parse_product_table(text + "output,bf12,1,1,1,0 0 0 0 0 0 0 0\n"));
  CHECK_FALSE(kernels::parse_product_table(text + "output,bf16,1,1,1,0 0 0 0 0 0 0 0 0\n"));
  CHECK_FALSE(kernels::parse_product_table(text + "output,bf16,1,1,1,torch\n"));
}

TEST_CASE("a linear layer's GEMMs use its matrices in their memory layout") {
  const auto of = [](LinearPass pass, LinearFormat format) {
    return kernels::product_of({.pass = pass, .format = format, .rows = 100, .outputs = 20, .inputs = 3});
  };
  const kernels::Product y = of(LinearPass::kOutput, LinearFormat::kBf16);  // x [100, 3], W [20, 3]
  CHECK(std::tuple(y.rows, y.columns, y.inner) == std::tuple(100, 20, 3));
  CHECK(std::tuple(y.a_transposed, y.b_transposed) == std::tuple(false, true));
  CHECK(std::tuple(y.a_stride, y.b_stride, y.d_stride) == std::tuple(3, 3, 20));
  const kernels::Product dx = of(LinearPass::kInputGradient, LinearFormat::kFp16);  // dy [100, 20], W [20, 3]
  CHECK(std::tuple(dx.rows, dx.columns, dx.inner) == std::tuple(100, 3, 20));
  CHECK(std::tuple(dx.a_transposed, dx.b_transposed) == std::tuple(false, false));
  CHECK(std::tuple(dx.a_stride, dx.b_stride, dx.d_stride) == std::tuple(20, 3, 3));
  CHECK(dx.result == kernels::Storage::kFp16);
  const kernels::Product dw = of(LinearPass::kWeightGradient, LinearFormat::kBf16);  // dy [100, 20], x [100, 3]
  CHECK(std::tuple(dw.rows, dw.columns, dw.inner) == std::tuple(20, 3, 100));
  CHECK(std::tuple(dw.a_transposed, dw.b_transposed) == std::tuple(true, false));
  CHECK(std::tuple(dw.a_stride, dw.b_stride, dw.d_stride) == std::tuple(20, 3, 3));
  // Codes: dyᵀ [20, 100] and xᵀ [3, 100].
  const kernels::Product codes = of(LinearPass::kWeightGradient, LinearFormat::kFp8Codes);
  CHECK(std::tuple(codes.a_transposed, codes.b_transposed) == std::tuple(false, true));
  CHECK(std::tuple(codes.a_stride, codes.b_stride, codes.d_stride) == std::tuple(100, 100, 3));
  CHECK(codes.a_fp8 == kernels::Fp8Format::kE5m2);
  CHECK(codes.b_fp8 == kernels::Fp8Format::kE4m3);
}
