// Number formats against published limits and the machine's fp32, and the figure of bits.
#include "lessons/theory/number_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/pages/blocks/table.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

FigureData built_format(std::initializer_list<std::string> settings, View view = {}) {
  const Figure* figure = find_figure("number_format");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const std::string& setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure->build({.params = &params, .view = view});
}

double in(const char* format, double value) { return rounded(number_format(format), value); }

}  // namespace

TEST_CASE("formats have their published limits") {
  const auto limits = [](const char* key) {
    const NumberFormat& format = number_format(key);
    return std::array{format.most, std::ldexp(1.0, format.least_normal()), std::ldexp(1.0, format.least())};
  };
  CHECK(limits("fp32")[0] == Approx(3.4028235e38));
  CHECK(limits("bf16")[0] == Approx(3.3895314e38));
  CHECK(limits("fp32")[1] == limits("bf16")[1]);
  CHECK(limits("fp16")[0] == 65'504);
  CHECK(limits("fp16")[1] == Approx(6.1035e-5));
  CHECK(limits("fp16")[2] == Approx(5.9605e-8));
  CHECK(limits("e4m3")[0] == 448);
  CHECK(limits("e5m2")[0] == 57'344);
  CHECK(limits("int8")[0] == 127);
  for (const NumberFormat& format : kNumberFormats) {
    INFO(format.name);
    CHECK(rounded(format, format.most) == format.most);
    CHECK(number_of_code(format, code_of(format, format.most)) == format.most);
  }
}

TEST_CASE("128 numbers of bf16 are between 1 and 2") {
  const auto from_one = [](const char* key) { return numbers_between(number_format(key), 1, 2); };
  CHECK(from_one("bf16") == 128);
  CHECK(from_one("fp16") == 1'024);
  CHECK(from_one("tf32") == 1'024);
  CHECK(from_one("fp32") == 8'388'608);
  CHECK(from_one("e4m3") == 8);
  CHECK(from_one("e5m2") == 4);
  CHECK(from_one("int8") == 1);
}

TEST_CASE("every code of a format is a number that rounding keeps and that has this code") {
  for (const NumberFormat& format : kNumberFormats) {
    if (format.bits() > 19) continue;
    INFO(format.name);
    int wrong = 0;
    for (std::uint32_t code = 0; code < 1U << format.bits(); ++code) {
      const double number = number_of_code(format, code);
      if (std::isnan(number)) continue;
      wrong += rounded(format, number) != number || code_of(format, number) != code;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("fp32 and bf16 round as the machine does") {
  std::uint32_t state = 1;
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 1'664'525U + 1'013'904'223U;
    const float value = std::bit_cast<float>(state);
    if (!std::isfinite(value)) continue;
    wrong += number_of_code(number_format("fp32"), state) != value || code_of(number_format("fp32"), value) != state;
    const double finer = value * 1.00000003;
    wrong += rounded(number_format("fp32"), finer) != static_cast<double>(static_cast<float>(finer));
    const std::uint32_t even = state >> 16 & 1U;
    const float expected = std::bit_cast<float>((state + 0x7fffU + even) & 0xffff0000U);
    wrong += rounded(number_format("bf16"), value) != static_cast<double>(expected);
  }
  CHECK(wrong == 0);
}

TEST_CASE("what is too large becomes infinite, or the largest number where casts saturate") {
  CHECK(in("fp16", 65'519) == 65'504);
  CHECK(std::isinf(in("fp16", 65'520)));
  CHECK(rounded(number_format("fp16"), 1e6, Rounding::kTowardZero) == 65'504);
  CHECK(in("e4m3", -1e6) == -448);
  CHECK(in("int4", -9) == -8);
  CHECK(in("fp16", 2.9e-8) == 0);
  CHECK(in("fp16", 3.1e-8) == std::ldexp(1.0, -24));
}

TEST_CASE("random rounding goes both ways") {
  const NumberFormat& bf16 = number_format("bf16");
  CHECK(rounded(bf16, 1.001, Rounding::kStochastic, 0.127) == 1.0078125);  // 0.001 / 0.0078125 = 0.128
  CHECK(rounded(bf16, 1.001, Rounding::kStochastic, 0.129) == 1);
}

TEST_CASE("a click on a bit of the figure gives the value with this bit flipped") {
  const FigureData figure = built_format({"format=bf16", "value=1"});
  const Diagram& bits = tests::panel_in<Diagram>(figure);
  CHECK(bits.title == "1 in bf16; largest 3.39·10³⁸, smallest 9.18·10⁻⁴¹, 128 numbers from 1 to 2");
  std::string word;
  for (const DiagramBox& box : bits.boxes)
    if (box.state == BoxState::kOne || box.state == BoxState::kZero) word += box.label;
  CHECK(word == "0011111110000000");
  const auto lowest =
      std::find_if(bits.boxes.begin(), bits.boxes.end(), [](const auto& box) { return box.id == "bit0"; });
  REQUIRE(lowest->action);
  CHECK(lowest->action->value == "1.0078125");
  CHECK(tests::panel_in<Diagram>(built_format({"value=1.1"}, {.hidden = true})).title ==
        "1.1 becomes 1.1015625 in bf16");
}

TEST_CASE("the page's table has the limits that are computed") {
  const TableBlock* table = nullptr;
  for (const auto& part : tests::page("number_formats").more)
    for (const Block& block : part.blocks)
      if (const auto* found = block.as<TableBlock>()) table = found;
  REQUIRE(table != nullptr);
  REQUIRE(table->rows.size() == kNumberFormats.size());
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    const NumberFormat& format = kNumberFormats[i];
    INFO(format.name);
    CHECK(table->rows[i] == std::vector<std::string>{
                                std::string(format.name),
                                format.whole() ? fmt::format("{}", format.bits())
                                               : fmt::format("1 + {} + {}", format.exponent_bits, format.fraction_bits),
                                number_text(format.most), number_text(std::ldexp(1.0, format.least_normal())),
                                number_text(std::ldexp(1.0, format.least())),
                                record::format_count(numbers_between(format, 1, 2))});
  }
}

TEST_CASE("while the question is open the figure shows bits alone") {
  CHECK(built_format({}, {.hidden = true}).panels.size() == 1);
  CHECK(built_format({}).panels.size() == 3);
}
