// Bytes and operations of the catalogue's kernels, counted by hand.
#include "kernels/kernel.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using kernels::Pass;

const kernels::KernelInfo& catalogued(const char* kernel) {
  const kernels::KernelInfo* info = kernels::find_kernel(kernel);
  REQUIRE(info != nullptr);
  return *info;
}

std::int64_t catalogued_bytes(const char* kernel, const kernels::Shape& shape, Pass pass = Pass::kForward) {
  return catalogued(kernel).bytes(shape, pass, 2);
}

}  // namespace

TEST_CASE("the catalogue's AdamW moves seven times the tensor") {
  CHECK(catalogued_bytes("adamw", {.width = 1000}) == 14'000);
  CHECK(kernels::find_kernel("adamx") == nullptr);
}

TEST_CASE("the catalogue's cross entropy moves the logits twice") {
  CHECK(catalogued_bytes("cross_entropy", {.rows = 8192, .width = 128256}) == 4'202'692'608);
}

TEST_CASE("the catalogue's embedding gradient reads the tokens and writes the table") {
  constexpr kernels::Shape kShape{.rows = 10, .width = 100, .vocab = 50};
  CHECK(catalogued_bytes("embedding_backward", kShape, Pass::kBackward) == 12'080);
  CHECK(catalogued_bytes("embedding_backward", kShape) == 0);
}

TEST_CASE("the catalogue's counts read the numbers once") {
  CHECK(catalogued_bytes("exponent_counts", {.width = 1000}) == 2000);
}

TEST_CASE("the catalogue's fused linear cross entropy has three GEMMs") {
  const kernels::KernelInfo& info = catalogued("fused_linear_cross_entropy");
  CHECK(info.flops({.rows = 8192, .width = 4096, .vocab = 128256}, Pass::kForward) == 25'821'343'383'552);
}

TEST_CASE("the catalogue's cast reads an element and writes a byte") {
  CHECK(catalogued_bytes("fp8_cast", {.rows = 1, .width = 1000}) == 3000);
}

TEST_CASE("the catalogue's SwiGLU and GeGLU move three and five times the tensor") {
  for (const char* const kernel : {"swiglu", "geglu"}) {
    CHECK(catalogued_bytes(kernel, {.rows = 10, .width = 100}) == 6'000);
    CHECK(catalogued_bytes(kernel, {.rows = 10, .width = 100}, Pass::kBackward) == 10'000);
  }
}

TEST_CASE("the catalogue's gradient check reads the gradients once") {
  CHECK(catalogued_bytes("gradient_check", {.width = 1000}) == 2000);
}

TEST_CASE("the catalogue's norms move each tensor once") {
  constexpr kernels::Shape kShape{.rows = 10, .width = 100};
  CHECK(catalogued_bytes("rms_norm", kShape) == 4'000 + 200 + 40);
  CHECK(catalogued_bytes("rms_norm", kShape, Pass::kBackward) == 6'000 + 400 + 40);
  CHECK(catalogued_bytes("add_rms_norm", kShape) == 8'000 + 200 + 40);
  CHECK(catalogued_bytes("add_rms_norm", kShape, Pass::kBackward) == 8'000 + 400 + 40);
  CHECK(catalogued_bytes("layer_norm", kShape) == 4'000 + 400 + 80);
  CHECK(catalogued_bytes("layer_norm", kShape, Pass::kBackward) == 6'000 + 600 + 80);
}

TEST_CASE("the catalogue's RoPE reads and writes queries and keys") {
  CHECK(catalogued_bytes("rope", {.rows = 10, .width = 100}, Pass::kBackward) == 4'000);
}
