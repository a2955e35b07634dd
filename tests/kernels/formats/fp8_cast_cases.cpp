// fp8 casts: every code, ties, random numbers, inf and NaN, scales.
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/fp8_cast/fp8_cast_ops.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

using namespace headroom;
using kernels::Fp8Format;

namespace {

struct State {
  at::Tensor scaling = kernels::fp8_scalings(1, at::TensorOptions(tests::tested_device()))[0];
  at::Tensor not_scaled = at::zeros({1}, at::TensorOptions(tests::tested_device()).dtype(at::kInt));

  float number(std::int64_t which) const { return scaling.cpu()[which].item<float>(); }
  float scale() const { return number(kernels::kFp8Scale); }
  int failed() const { return not_scaled.cpu().item<int>(); }
  void set_scale(double scale) const {
    scaling[kernels::kFp8Scale].fill_(scale);
    scaling[kernels::kFp8Inverse].fill_(1 / scale);
  }
};

at::Tensor matrix(const std::vector<float>& values, at::ScalarType type = at::kFloat) {
  const auto rows = (static_cast<std::int64_t>(values.size()) + 255) / 256 * 16;
  at::Tensor x = at::zeros({rows, 16});
  std::copy(values.begin(), values.end(), x.mutable_data_ptr<float>());
  return x.to(type).to(tests::tested_device());
}

at::Tensor codes_of(const at::Tensor& x, const State& state, Fp8Format format) {
  return kernels::fp8_cast(x, state.scaling, format, {.rows = true}).rows.cpu().view(at::kByte);
}

}  // namespace

TEST_CASE("rows cast separately into one matrix have the codes of a single cast") {
  const Fp8Format format = GENERATE(Fp8Format::kE4m3, Fp8Format::kE5m2);
  const at::Tensor x = at::randn({208, 80}).to(at::kBFloat16).to(tests::tested_device());
  const State state;
  kernels::fp8_measure_(x, state.scaling, format, /*keeps=*/false, state.not_scaled);
  const at::Tensor whole = kernels::fp8_cast(x, state.scaling, format, {.transposed = true}).transposed;
  at::Tensor codes = at::zeros_like(whole);
  for (const auto& [first, count] : {std::pair{0, 96}, std::pair{96, 96}, std::pair{192, 16}}) {
    kernels::fp8_cast_into(x.narrow(0, first, count), state.scaling, format,
                           {.rows = {}, .transposed = codes.narrow(1, first, count)}, /*measures=*/false);
  }
  CHECK(at::equal(codes.view(at::kByte), whole.view(at::kByte)));
  CHECK_THROWS(kernels::fp8_cast_into(x.narrow(0, 0, 16), state.scaling, format,
                                      {.rows = {}, .transposed = codes.narrow(1, 8, 16)}, /*measures=*/false));
}

TEST_CASE("a cast in place has the codes and the largest magnitude of a cast out of place") {
  const Fp8Format format = GENERATE(Fp8Format::kE4m3, Fp8Format::kE5m2);
  const std::int64_t rows = GENERATE(16, 32, 272, 1600);  // no, one and several parts after the first
  const at::Tensor x = at::randn({rows, 80}).to(at::kBFloat16).to(tests::tested_device());
  const State beside, in_place;
  for (const State* state : {&beside, &in_place}) state->set_scale(3);
  const kernels::Fp8Layouts layouts{.rows = true, .measures = true};
  const at::Tensor expected = kernels::fp8_cast(x, beside.scaling, format, layouts).rows.view(at::kByte).clone();
  const at::Tensor codes = kernels::fp8_cast_in_place(x, in_place.scaling, format, /*measures=*/true);
  CHECK(codes.const_data_ptr() == x.const_data_ptr());
  CHECK(at::equal(codes.view(at::kByte), expected));
  CHECK(beside.number(kernels::kFp8Amax) == in_place.number(kernels::kFp8Amax));
  CHECK_THROWS(
      kernels::fp8_cast_in_place(at::ones({16, 16}).to(tests::tested_device()), in_place.scaling, format, false));
}

TEST_CASE("each number has its own code, and ties go to the even one") {
  const Fp8Format format = GENERATE(Fp8Format::kE4m3, Fp8Format::kE5m2);
  std::vector<float> numbers(256);
  for (int code = 0; code < 256; ++code)
    numbers[static_cast<std::size_t>(code)] = kernels::fp8_value(format, static_cast<std::uint8_t>(code));
  const State state;
  state.set_scale(1);
  const at::Tensor own = codes_of(matrix(numbers), state, format).view({-1});
  for (int code = 0; code < 256; ++code) {
    const float number = numbers[static_cast<std::size_t>(code)];
    CAPTURE(code, number);
    if (std::isnan(number)) {
      CHECK((own[code].item<int>() & 0x7f) == 0x7f);
      continue;
    }
    CHECK(own[code].item<int>() == code);
    CHECK(static_cast<double>(number) ==
          kernels::fp8_numbers(at::full({1}, code, at::kByte).view(kernels::type_of(format)))[0].item<double>());
  }
  // Between neighboring codes: the tie, and its fp32 neighbors.
  std::vector<float> between;
  for (std::size_t code = 0; code + 1 < 128; ++code) {
    const float tie = (numbers[code] + numbers[code + 1]) / 2;
    if (!std::isfinite(tie)) continue;
    for (const float sign : {1.0F, -1.0F})
      for (const float each : {std::nextafter(tie, 0.0F), tie, std::nextafter(tie, 1e9F)})
        between.push_back(sign * each);
  }
  const at::Tensor x = matrix(between);
  CHECK(codes_of(x, state, format).equal(kernels::fp8_reference(x, 1, format).view(at::kByte)));
}

TEST_CASE("random numbers have the nearest code in both layouts") {
  const Fp8Format format = GENERATE(Fp8Format::kE4m3, Fp8Format::kE5m2);
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  at::manual_seed(3);
  for (const auto& [rows, columns] : {std::pair(16, 16), std::pair(48, 208), std::pair(144, 64)}) {
    CAPTURE(rows, columns);
    const at::Tensor spread = at::exp2(at::randn({rows, columns}) * (type == at::kHalf ? 2 : 6));
    const at::Tensor x = (at::randn({rows, columns}) * spread).to(type).to(tests::tested_device());
    const State state;
    kernels::fp8_measure_(x, state.scaling, format, /*keeps=*/false, state.not_scaled);
    const double amax = x.abs().max().to(at::kDouble).item<double>();
    CHECK(state.scale() == static_cast<float>(kernels::fp8_most(format)) / static_cast<float>(amax));
    CHECK(state.number(kernels::kFp8Amax) == 0);
    // The scaled value is first rounded to fp32.
    const at::Tensor scaled = x.to(at::kFloat) * state.scale();
    const at::Tensor exact = kernels::fp8_reference(scaled, 1, format).view(at::kByte);
    const auto both = kernels::fp8_cast(x, state.scaling, format, {.rows = true, .transposed = true, .measures = true});
    CHECK(both.rows.cpu().view(at::kByte).equal(exact));
    CHECK(both.transposed.cpu().view(at::kByte).equal(exact.t().contiguous()));
    CHECK(static_cast<double>(state.number(kernels::kFp8Amax)) == amax);
    const auto turned = kernels::fp8_cast(x, state.scaling, format, {.transposed = true});
    CHECK_FALSE(turned.rows.defined());
    CHECK(turned.transposed.cpu().view(at::kByte).equal(exact.t().contiguous()));
    CHECK(state.failed() == 0);
  }
}

TEST_CASE("too large numbers saturate, and NaN stays NaN") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Fp8Format format = GENERATE(Fp8Format::kE4m3, Fp8Format::kE5m2);
  const State state;
  state.set_scale(2);
  const float most = kernels::fp8_most(format);
  const at::Tensor x =
      matrix({most, -most, 1e38F, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 0.0F, -0.0F});
  const at::Tensor numbers = kernels::fp8_numbers(codes_of(x, state, format).view(kernels::type_of(format))).view({-1});
  CHECK(numbers[0].item<double>() == most);
  CHECK(numbers[1].item<double>() == -most);
  CHECK_FALSE(std::isfinite(numbers[3].item<double>()));
  CHECK_FALSE(std::isfinite(numbers[4].item<double>()));
  CHECK(std::isnan(numbers[5].item<double>()));
  CHECK(numbers[6].item<double>() == 0);
  CHECK(std::signbit(numbers[7].item<double>()));
}

TEST_CASE("an amax without a valid scale keeps the previous scale and is counted") {
  const float bad = GENERATE(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e-42F);
  const State state;
  const auto measure = [&](float value) {
    kernels::fp8_measure_(matrix({value, 0.0F}), state.scaling, Fp8Format::kE4m3, /*keeps=*/false, state.not_scaled);
  };
  measure(bad);
  CHECK(state.scale() == 1);
  CHECK(state.failed() == 1);
  measure(2);
  CHECK(state.scale() == 224);
  measure(bad);
  CHECK(state.scale() == 224);
  CHECK(state.failed() == 2);
  measure(0);
  CHECK(state.scale() == 224);
  CHECK(state.failed() == 2);
}

TEST_CASE("a delayed scale uses the largest magnitude of sixteen steps") {
  const State state;
  const at::Tensor all = state.scaling.view({1, -1});
  const auto step = [&](float value) {
    if (state.scale() == 0)
      kernels::fp8_measure_(matrix({value}), state.scaling, Fp8Format::kE4m3, /*keeps=*/true, state.not_scaled);
    kernels::fp8_cast(matrix({value}), state.scaling, Fp8Format::kE4m3, {.rows = true, .measures = true});
    kernels::fp8_advance_(all, state.not_scaled);
  };
  step(7);  // the first scale is the tensor's own
  CHECK(state.scale() == 64);
  step(14);
  CHECK(state.scale() == 32);
  for (int i = 0; i < kernels::kFp8History - 1; ++i) {
    step(7);
    CHECK(state.scale() == 32);
  }
  step(7);  // the 14 is seventeen steps old
  CHECK(state.scale() == 64);
  step(std::numeric_limits<float>::infinity());
  CHECK(state.scale() == 64);
  CHECK(state.failed() == 1);
}
