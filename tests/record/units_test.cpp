// Numbers as readers see and type them.
#include "demos/record/units.h"

#include <limits>

#include "demos/record/text.h"
#include "tests/support/catch.h"

using namespace headroom::record;

TEST_CASE("bytes are written in binary units") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(512) == "512 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(kKiB) == "1.00 KiB");
  CHECK(format_bytes(8 * kMiB + 133 * kKiB) == "8.13 MiB");
  CHECK(format_bytes(28'604'481'536) == "26.64 GiB");
  CHECK(format_bytes(28'604'481'536, 1) == "26.6 GiB");
  CHECK(format_bytes(28'604'481'536, 0) == "27 GiB");
  CHECK(format_bytes(2'000 * kGiB) == "1.95 TiB");
}

TEST_CASE("a size that would round to 1024 of a unit is written in the next unit") {
  CHECK(format_bytes(kMiB - 1) == "1.00 MiB");
  CHECK(format_bytes(kGiB - 1) == "1.00 GiB");
  CHECK(format_bytes(kGiB - 6 * kKiB) == "1,023.99 MiB");
  CHECK(format_bytes(kGiB - 6 * kKiB, 1) == "1.0 GiB");
}

TEST_CASE("a negative difference has a minus sign, not a hyphen") {
  CHECK(format_bytes(-kGiB) == "\u22121.00 GiB");
  CHECK(format_bytes(-5) == "\u22125 B");
  CHECK(format_count(-1'234) == "\u22121,234");
  CHECK(format_duration(-37'700'000) == "\u221237.7 ms");
  CHECK(format_bytes(std::numeric_limits<Bytes>::min()) == "\u22128,388,608.00 TiB");
  CHECK(format_count(std::numeric_limits<std::int64_t>::min()) == "\u22129,223,372,036,854,775,808");
}

TEST_CASE("durations have three digits") {
  CHECK(format_duration(0) == "0 ns");
  CHECK(format_duration(512) == "512 ns");
  CHECK(format_duration(850'000) == "850 µs");
  CHECK(format_duration(37'700'000) == "37.7 ms");
  CHECK(format_duration(1'260'000'000) == "1.26 s");
  CHECK(format_duration(999'600) == "1.00 ms");
  CHECK(format_duration(9'996'000'000) == "10.0 s");
  CHECK(format_duration(1'250'000'000'000) == "1,250 s");
}

TEST_CASE("counts have a comma for thousands") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(128'256) == "128,256");
  CHECK(format_count(1'000'000) == "1,000,000");
}

TEST_CASE("a quantity has its unit, and its spread if measured") {
  CHECK(format({.value = 26.0 * kGiB, .unit = Unit::kBytes}) == "26.00 GiB");
  CHECK(format({.value = 54'321.4, .unit = Unit::kTokensPerSecond}) == "54,321 tokens/s");
  CHECK(format({.value = 5.5452, .unit = Unit::kNone}) == "5.545");
  CHECK(format({.value = -0.5, .unit = Unit::kNone}) == "\u22120.5");
  const Quantity measured{.value = 37.7e6,
                          .unit = Unit::kNanoseconds,
                          .source = Source::kRecorded,
                          .samples = 9,
                          .low = 37.5e6,
                          .high = 38.2e6};
  CHECK(format(measured) == "37.7 ms (37.5 ms to 38.2 ms, n = 9)");
  CHECK(format({.value = std::numeric_limits<double>::quiet_NaN(), .unit = Unit::kBytes}) == "NaN");
  CHECK(format({.value = -std::numeric_limits<double>::infinity(), .unit = Unit::kCount}) == "\u2212∞");
  CHECK(format({.value = 1e300, .unit = Unit::kCount}) == "9,200,000,000,000,000,000");  // the largest number shown
}

TEST_CASE("sizes are parsed with their unit") {
  const auto bytes = [](std::string_view text) { return parse_bytes(text).value(); };
  CHECK(bytes("1024") == 1024);
  CHECK(bytes("0") == 0);
  CHECK(bytes("24GiB") == 24 * kGiB);
  CHECK(bytes("24 GiB") == 24 * kGiB);
  CHECK(bytes("24gib") == 24 * kGiB);
  CHECK(bytes("512MiB") == 512 * kMiB);
  CHECK(bytes("1.5GiB") == 3 * kGiB / 2);
  CHECK(bytes("24GB") == 24'000'000'000);
  CHECK(bytes("3MB") == 3'000'000);
  CHECK(bytes("9223372036854775807") == std::numeric_limits<Bytes>::max());
}

TEST_CASE("a text that is not a size is refused with the cure") {
  for (const char* text : {"", " ", "GiB", "-1", "-1GiB", "1.5", "1e3", "24GX", "24  GiB", "1..5GiB", "0x10", "nan",
                           "inf", "24GiB ", " 24GiB", "1,024", "24G", ".", "24GiB24"}) {
    CAPTURE(text);
    REQUIRE_FALSE(parse_bytes(text).ok());
    CHECK(parse_bytes(text).error().kind == ErrorKind::kBadInput);
  }
  CHECK(parse_bytes("24GX").error().message ==
        "\"24GX\" is not a size; write a number and a unit, such as 24GiB, 512MiB or 1024.");
  CHECK(parse_bytes("-1GiB").error().message == "\"-1GiB\" is negative; a size must be 0 or more.");
  for (const char* text : {"9223372036854775808", "99999999999999999999999", "8589934592GiB", "8589934592.5GiB"}) {
    CAPTURE(text);
    REQUIRE_FALSE(parse_bytes(text).ok());
    CHECK(parse_bytes(text).error().message.find("too large; write") != std::string::npos);
  }
  CHECK(parse_bytes("8589934591GiB").ok());
  CHECK(parse_bytes("--1GiB").error().message.starts_with("\"--1GiB\" is not a size"));
  CHECK_FALSE(parse_bytes(std::string(120'000, '-')).ok());  // must not recurse once per minus
}

TEST_CASE("foreign bytes in a message are made printable") {
  CHECK(parse_bytes("\x1b[31m\xff\n").error().message.starts_with("\"?[31m??\" is not a size"));
  const std::string message = parse_bytes(std::string(5'000, 'x')).error().message;
  CHECK(message.size() < 200);
}

TEST_CASE("keys and labels of categories and phases do not change") {
  CHECK(key_of(Category::kOptimizerState) == "optimizer_state");
  CHECK(label_of(Category::kOptimizerState) == "optimizer state");
  CHECK(key_of(Phase::kRecompute) == "recompute");
  CHECK(key_of(Phase::kEvaluation) == "evaluation");
  CHECK(label_of(Phase::kEvaluation) == "evaluation");
  CHECK(key_of(DeviceKind::kHost) == "host");
  CHECK(key_of(Source::kLive) == "live");
  CHECK_THROWS(key_of(static_cast<Category>(kNumCategories)));
}

TEST_CASE("a label inside a sentence begins with a small letter unless it is a name") {
  CHECK(in_lower_case("Fused RMSNorm") == "fused RMSNorm");
  CHECK(in_lower_case("Micro-batches") == "micro-batches");
  for (const char* name : {"GPUs", "ZeRO", "RMSNorm", ""}) CHECK(in_lower_case(name) == name);
}
