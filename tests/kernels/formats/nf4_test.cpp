// NF4 on CPU and meta, and its levels.
#include <bit>
#include <cstdint>

#include "kernels/kernel.h"
#include "kernels/nf4/nf4_ops.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("the levels of NF4 equal the published ones bit for bit") {
  // The table in appendix E, derived independently of our constants.
  constexpr std::uint32_t kBits[16] = {0xbf800000, 0xbf3239b1, 0xbf066b30, 0xbeca32a0, 0xbe91a24d, 0xbe3d353f,
                                       0xbdba7871, 0x00000000, 0x3da2faff, 0x3e24cae3, 0x3e7c04dd, 0x3ead033a,
                                       0x3ee1a4b8, 0x3f1007ab, 0x3f3913b3, 0x3f800000};
  for (int i = 0; i < 16; ++i) CHECK(std::bit_cast<std::uint32_t>(kernels::kNf4Levels[i]) == kBits[i]);
}

TEST_CASE("NF4 takes 4.127 bits per weight") {
  CHECK(kernels::nf4_bytes(1) == 1 + 1 + 4 + 4);
  CHECK(kernels::nf4_bytes(64 * 256) == 8192 + 256 + 4 + 4);
  CHECK(8.0 * static_cast<double>(kernels::nf4_bytes(1 << 24)) / (1 << 24) == Approx(4.127).epsilon(1e-4));
  const kernels::KernelInfo* info = kernels::find_kernel("nf4");
  REQUIRE(info != nullptr);
  CHECK(info->bytes({.rows = 16, .width = 1024}, kernels::Pass::kForward, 2) == 2 * 16384 + kernels::nf4_bytes(16384));
}

TEST_CASE("NF4 allocates the same on meta as on other devices") {
  const at::Tensor weight = at::zeros({100, 30}, at::TensorOptions(at::kBFloat16).device(at::kMeta));
  const kernels::Nf4Matrix matrix = kernels::nf4_quantise(weight);
  const std::size_t bytes =
      matrix.codes.nbytes() + matrix.absmax_codes.nbytes() + matrix.absmax_scale.nbytes() + matrix.absmax_mean.nbytes();
  CHECK(static_cast<std::int64_t>(bytes) == kernels::nf4_bytes(3000));
  const at::Tensor back = kernels::nf4_dequantise(matrix, at::kHalf);
  CHECK(back.is_meta());
  CHECK(back.sizes() == weight.sizes());
}

TEST_CASE("NF4 refuses tensors that do not fit") {
  CHECK_THROWS(kernels::nf4_quantise(at::Tensor()));
  CHECK_THROWS(kernels::nf4_quantise(at::zeros({4}, at::kDouble)));
  CHECK_THROWS(kernels::nf4_quantise(at::zeros({0})));
  CHECK_THROWS(kernels::nf4_quantise(at::zeros({4, 4}).t().narrow(0, 0, 3)));
  const kernels::Nf4Matrix good = kernels::nf4_quantise(at::zeros({1000}));
  CHECK_NOTHROW(kernels::nf4_dequantise(good, at::kFloat));
  CHECK_THROWS(kernels::nf4_dequantise(good, at::kDouble));
  const auto refused = [&](const auto& change) {
    kernels::Nf4Matrix bad = good;
    change(bad);
    CHECK_THROWS(kernels::nf4_dequantise(bad, at::kFloat));
  };
  refused([](auto& m) { m.shape = {1002}; });
  refused([](auto& m) { m.codes = at::Tensor(); });
  refused([](auto& m) { m.codes = m.codes.to(at::kInt); });
  refused([](auto& m) { m.absmax_codes = m.absmax_codes.narrow(0, 0, 3); });
  refused([](auto& m) { m.absmax_scale = m.absmax_scale.to(at::kHalf); });
  refused([](auto& m) { m.absmax_mean = at::Tensor(); });
}
