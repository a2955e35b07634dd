// 8-bit AdamW and block-wise quantization, on any device.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/optimizer/adamw_tensors.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

// Error allowed for moments that cancel, as a share of a block's absmax: a third of the smallest step between values.
constexpr double kRounding = 1e-7;

at::Tensor decoded(const at::Tensor& codes, const at::Tensor& absmax, bool is_signed) {
  return kernels::dequantise_blockwise(codes, absmax, is_signed, codes.numel());
}

// Largest error of decoded `values` beyond that of the map's nearest value, relative to the block's absmax, less a
// millionth of the value for fp32's rounding. `values` and `exact` are [n].
double beyond_nearest(const at::Tensor& values, const at::Tensor& exact, bool is_signed) {
  const at::Tensor map_tensor = std::get<0>(kernels::dynamic_map_reference(is_signed).sort());
  const std::span<const double> map(map_tensor.const_data_ptr<double>(), 256);
  const at::Tensor v = values.cpu().to(at::kDouble).contiguous(), e = exact.cpu().to(at::kDouble).contiguous();
  const double* const value = v.const_data_ptr<double>();
  const double* const wanted = e.const_data_ptr<double>();
  double most = 0;
  for (std::int64_t first = 0; first < v.numel(); first += kernels::kQuantisedBlock) {
    const std::int64_t end = std::min(first + kernels::kQuantisedBlock, v.numel());
    double absmax = 0;
    for (std::int64_t i = first; i < end; ++i) absmax = std::max(absmax, std::abs(wanted[i]));
    for (std::int64_t i = first; i < end && absmax > 0; ++i) {
      const double x = wanted[i] / absmax;
      const auto above = std::lower_bound(map.begin(), map.end(), x);
      double nearest = 10;
      if (above != map.end()) nearest = std::min(nearest, *above - x);
      if (above != map.begin()) nearest = std::min(nearest, x - *(above - 1));
      if (!is_signed && x > 0 && x < map[1]) nearest = map[1] - x;  // never rounded to 0
      most = std::max(most, std::abs(value[i] / absmax - x) - nearest - 1e-6 * std::abs(x));
    }
  }
  return most;
}

}  // namespace

TEST_CASE("every code decodes to the value of its bits") {
  const bool is_signed = GENERATE(true, false);
  const at::Tensor codes = at::arange(256).to(at::kByte).to(tests::tested_device());
  const at::Tensor one = at::ones({1}, codes.options().dtype(at::kFloat));
  const at::Tensor values = decoded(codes, one, is_signed).cpu(), map = kernels::dynamic_map_reference(is_signed);
  CHECK(values.equal(map.to(at::kFloat)));
  CHECK(std::get<0>(at::_unique(map)).numel() == 256);
  CHECK(map.max().item<double>() == 1);
  // Signed: 10^-6 · (0.1 + 0.9 / 2); unsigned, with one more bit: 10^-6 · (0.1 + 0.9 / 4).
  const double smallest = map.masked_select(map > 0).min().item<double>();
  CHECK(smallest == Approx(is_signed ? 5.5e-7 : 3.25e-7));
  CHECK(map.min().item<double>() == Approx(is_signed ? -0.1 - 0.9 * 63.5 / 64 : 0));
}

TEST_CASE("a map's own values get their own codes") {
  const bool is_signed = GENERATE(true, false);
  const at::Tensor map = kernels::dynamic_map_reference(is_signed).to(at::kFloat).to(tests::tested_device());
  CHECK(kernels::quantise_blockwise(map, is_signed).codes.cpu().equal(at::arange(256).to(at::kByte)));
}

TEST_CASE("quantization takes the nearest value") {
  const bool is_signed = GENERATE(true, false);
  const std::int64_t n = GENERATE(1, 255, 256, 257, 100'003);
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  CAPTURE(is_signed, n, type);
  at::manual_seed(3);
  const at::Tensor small = at::pow(10.0, at::rand({n}, at::kDouble) * -9) * at::randn({n}, at::kDouble).sign();
  for (const at::Tensor& shape : {small, at::randn({n}, at::kDouble)}) {
    const at::Tensor signed_x = (shape * 3).to(type), x = is_signed ? signed_x : signed_x.abs();
    const kernels::BlockQuantised q = kernels::quantise_blockwise(x.to(tests::tested_device()), is_signed);
    CHECK(q.absmax.size(0) == (n + 255) / 256);
    const at::Tensor values = decoded(q.codes, q.absmax, is_signed);
    CHECK(beyond_nearest(values, x, is_signed) <= kRounding);
    if (!is_signed) CHECK((values.cpu() > 0).equal(x > 0));
  }
}

TEST_CASE("zeros stay zeros, and inf or NaN affects only its own block") {
  const at::Tensor x = at::ones({700});
  x.narrow(0, 0, 256).zero_();
  x[300] = GENERATE(std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN());
  const kernels::BlockQuantised q = kernels::quantise_blockwise(x.to(tests::tested_device()), true);
  const at::Tensor y = decoded(q.codes, q.absmax, true).cpu();
  CHECK(y.narrow(0, 0, 256).eq(0).all().item<bool>());
  CHECK_FALSE(y.narrow(0, 256, 256).isfinite().any().item<bool>());
  CHECK(y.narrow(0, 512, 188).eq(1).all().item<bool>());
}

TEST_CASE("8-bit AdamW equals AdamW on the decoded moments, encoded to the nearest code") {
  const tests::Weight8bitTypes types =
      GENERATE(from_range(std::begin(tests::kWeight8bitTypes), std::end(tests::kWeight8bitTypes)));
  const std::int64_t n = GENERATE(1, 255, 256, 257, 100'003);
  const std::int64_t offset = GENERATE(0, 1, 16);  // 1: no 16-byte loads
  const std::int64_t t = GENERATE(1, 20);
  CAPTURE(types.param, types.gradient, types.copy, n, offset, t);
  const kernels::AdamW8bitParameter p = tests::weight_8bit(n, offset, types, tests::tested_device());
  const kernels::AdamWReference exact = tests::reference_8bit(p, t);
  tests::step_8bit(p, t);
  const double place = p.param.scalar_type() == at::kFloat ? 0x1p-22 : types.param == at::kHalf ? 0x1p-11 : 0x1p-8;
  const at::Tensor tolerance = exact.param.abs() * place + 2e-6;
  CHECK(((p.param.to(at::kDouble) - exact.param).abs() <= tolerance).all().item<bool>());
  CHECK(beyond_nearest(decoded(p.m_codes, p.m_absmax, true), exact.first_moment, true) <= kRounding);
  CHECK(beyond_nearest(decoded(p.v_codes, p.v_absmax, false), exact.second_moment, false) <= kRounding);
  if (types.copy) CHECK(tests::same_bits(p.working.cpu(), p.param.to(types.param).cpu()));
}

TEST_CASE("the first step of 8-bit AdamW from zeros is the gradient's sign") {
  const auto options = at::TensorOptions().device(tests::tested_device());
  const at::Tensor drawn = at::randn({300});
  // Gradients are large, so that epsilon has no effect.
  const at::Tensor p = at::zeros({300}, options), g = (drawn + 0.1 * drawn.sign()).to(tests::tested_device());
  const auto codes = [&] { return at::zeros({300}, options.dtype(at::kByte)); };
  const auto absmax = [&] { return at::zeros({2}, options); };
  tests::step_8bit(
      {.param = p, .gradient = g, .m_codes = codes(), .m_absmax = absmax(), .v_codes = codes(), .v_absmax = absmax()},
      1);
  CHECK(at::allclose(p, -1e-2 * g.sign(), 1e-4, 1e-6));
}

TEST_CASE("8-bit AdamW reads its scale, its counter and the overflow flag on the device") {
  const tests::Weight8bitTypes types = GENERATE(tests::kWeight8bitTypes[2], tests::kWeight8bitTypes[6]);
  const std::int64_t n = 10'001;
  const auto fresh = [&] { return tests::weight_8bit(n, 0, types, tests::tested_device()); };
  const kernels::AdamW8bitParameter plain = fresh(), scaled = fresh(), skipped = fresh();
  tests::step_8bit(plain, 77);
  scaled.gradient.mul_(1024);
  tests::step_8bit(scaled, 3, tests::adamw_control(10, false, 77, tests::tested_device()));
  CHECK(tests::same_bits(scaled, plain));
  tests::step_8bit(skipped, 77, tests::adamw_control(10, true, 77, tests::tested_device()));
  CHECK(tests::same_bits(skipped, fresh()));
}

TEST_CASE("8-bit AdamW gives the same bits for many tensors together as for each alone") {
  std::vector<kernels::AdamW8bitParameter> together, alone;
  for (std::int64_t i = 0; i < 800; ++i) {
    const tests::Weight8bitTypes& types = tests::kWeight8bitTypes[i % 3];
    const std::int64_t n = i % 50 == 0 ? 20'000 + i : i % 40;  // some empty, some with several blocks
    for (auto* list : {&together, &alone}) {
      list->push_back(tests::weight_8bit(n, i % 2, types, tests::tested_device()));
      list->back().decays = i % 7 != 0;
    }
    alone.back().number = i;
  }
  const kernels::AdamWStep step = tests::adamw_constants(2);
  const kernels::AdamWControl control{.stochastic_rounding = true, .seed = 4};
  kernels::adamw_8bit(together, step, control);
  bool same = true;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    kernels::adamw_8bit(std::span(&alone[i], 1), step, control);
    same = same && tests::same_bits(together[i], alone[i]);
  }
  CHECK(same);
}

TEST_CASE("8-bit AdamW rounds stochastically like AdamW") {
  const auto options = at::TensorOptions().device(tests::tested_device());
  const std::int64_t n = 5001;
  at::manual_seed(1);
  const at::Tensor start = at::randn({n}).to(at::kBFloat16).to(tests::tested_device());
  const at::Tensor gradient = at::randn({n}).to(tests::tested_device()), p = start.clone(), q = start.clone();
  const auto zeros = [&](std::int64_t count, at::ScalarType type) { return at::zeros({count}, options.dtype(type)); };
  const kernels::AdamWControl control{.stochastic_rounding = true, .seed = 12};
  const kernels::AdamWParameter plain{
      .param = p, .gradient = gradient, .first_moment = zeros(n, at::kFloat), .second_moment = zeros(n, at::kFloat)};
  kernels::adamw(std::span(&plain, 1), tests::adamw_constants(1), control);
  tests::step_8bit({.param = q,
                    .gradient = gradient,
                    .m_codes = zeros(n, at::kByte),
                    .m_absmax = zeros(20, at::kFloat),
                    .v_codes = zeros(n, at::kByte),
                    .v_absmax = zeros(20, at::kFloat)},
                   1, control);
  // The GPU's last bit may differ, which occasionally flips a random rounding.
  CHECK(p.ne(q).sum().item<std::int64_t>() <= n / 500);
  CHECK(at::allclose(p.to(at::kFloat), q.to(at::kFloat), 0x1p-7));
}
