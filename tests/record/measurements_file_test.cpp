// Measurements and kernel spans written and read, and invalid ones refused.
#include <cmath>
#include <limits>

#include "demos/record/file/chunk.h"
#include "demos/record/file/packing.h"
#include "demos/record/recording.h"
#include "tests/record/same.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom::record;
using namespace headroom::tests;

TEST_CASE("measurements survive a round trip, including those not taken") {
  const TemporaryFolder folder;
  Recording made = made_recording({.steps = 1});
  Measurement all{.panel = "rms_norm",
                  .kernel = "rms_norm",
                  .variant = "fused",
                  .pass = "backward",
                  .timing = "cold",
                  .storage = "bf16",
                  .label = "Llama 3.2 1B",
                  .rows = 8192,
                  .width = 2048,
                  .vocab = 3,
                  .median = 50.25,
                  .low = 49.5,
                  .high = 61,
                  .samples = 30,
                  .bytes = 1 << 26,
                  .flops = 1e12,
                  .extra_memory = 4096,
                  .error = 1.5e-3};
  Measurement few{.panel = "copy", .variant = "copy", .median = 1, .low = 1, .high = 1};
  for (int i = 0; i < 300; ++i) made.append(i % 2 == 0 ? all : few);
  REQUIRE(made.write(folder / "m.hrec").ok());
  const Result<Recording> read = Recording::read(folder / "m.hrec");
  REQUIRE(read.ok());
  CHECK(read.value().measurements() == made.measurements());
}

TEST_CASE("a traced step survives a round trip in few bytes") {
  const TemporaryFolder folder;
  Recording made = made_recording({.device = DeviceKind::kGpu, .steps = 1});
  REQUIRE(made.write(folder / "untraced.hrec").ok());
  std::vector<KernelSpan> spans;
  constexpr std::uint32_t kLaunches = 20'000;
  for (std::uint32_t i = 1; i <= kLaunches; ++i) {
    const Nanoseconds time = Nanoseconds{i} * 9'000 + i % 7 * 100;
    const auto op = static_cast<std::uint16_t>(1 + i % 20);
    spans.push_back({.start = time,
                     .duration = 3'000 + i % 11,
                     .correlation = i,
                     .step = 2,
                     .name = 40,
                     .op = op,
                     .kind = SpanKind::kRuntimeCall,
                     .phase = Phase::kForward});
    spans.push_back({.start = time + 90'000,
                     .duration = 8'000 + i % 13,
                     .bytes = i % 3 == 0 ? Bytes{1} << 24 : -1,
                     .correlation = i,
                     .step = 2,
                     .name = static_cast<std::uint16_t>(41 + i % 9),
                     .op = op,
                     .layer = static_cast<std::uint16_t>(i % 16),
                     .phase = Phase::kForward,
                     .stream = 1});
  }
  spans.push_back(
      {.start = -5, .duration = 0, .bytes = 0, .correlation = 0xffffffff, .step = -1, .kind = SpanKind::kMemset});
  made.append(std::span<const KernelSpan>(spans));
  REQUIRE(made.write(folder / "traced.hrec").ok());
  const Result<Recording> read = Recording::read(folder / "traced.hrec");
  REQUIRE(read.ok());
  CHECK(read.value().kernel_spans() == spans);
  check_same(read.value(), made);
  const auto size = [&](const char* name) { return std::filesystem::file_size(folder / name); };
  CHECK(size("traced.hrec") - size("untraced.hrec") < 8 * spans.size());
}

TEST_CASE("an impossible measurement is refused") {
  const std::string text =  // quantiles out of order
      R"({"measurements":[{"panel":"copy","kernel":"","variant":"","pass":"","timing":"","storage":"","label":"","rows":1,)"
      R"("width":1,"vocab":0,"median":1,"low":2,"high":3,"samples":1,"bytes":0,"flops":0}]})";
  Recording recording = made_recording({.steps = 1});
  CHECK_FALSE(recording.append_chunk(seal(ChunkKind::kMeasurements, std::as_bytes(std::span(text)))).ok());
  CHECK(recording.measurements().empty());
}

TEST_CASE("a measurement that cannot be read back is never written") {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  const Measurement good{.panel = "rms_norm", .median = 2, .low = 1, .high = 3};
  CHECK_NOTHROW(encode_rows(std::span(&good, 1)));
  std::vector<Measurement> wrong(8, good);
  wrong[0].low = 2.5;
  wrong[1].high = 1.5;
  wrong[2].median = kNaN;
  wrong[3].high = kInf;
  wrong[4].flops = kNaN;
  wrong[5].bytes = -1;
  wrong[6].low = -1;
  wrong[7].rows = std::numeric_limits<std::int64_t>::max();
  for (const Measurement& each : wrong) {
    CAPTURE(each.low, each.median, each.high, each.flops, each.bytes, each.rows);
    CHECK_THROWS_AS(encode_rows(std::span(&each, 1)), std::invalid_argument);
  }
  try {
    encode_rows(wrong);
  } catch (const std::invalid_argument& error) {
    CHECK(std::string(error.what()).find("\"panel\":\"rms_norm\"") != std::string::npos);
  }
}

TEST_CASE("a recording holds 100,000 measurements and no more") {
  const std::vector<Measurement> rows(1000, {.panel = "copy", .median = 1, .low = 1, .high = 1});
  const std::vector<std::byte> chunk = encode_rows(rows);
  Recording recording = made_recording({.steps = 1});
  for (int i = 0; i < 99; ++i) REQUIRE(recording.append_chunk(chunk).ok());
  CHECK(recording.append_chunk(chunk).ok());
  CHECK_FALSE(recording.append_chunk(chunk).ok());
  CHECK(recording.measurements().size() == 100'000);
  recording.append(rows.front());
  const TemporaryFolder folder;
  CHECK_THROWS_AS(recording.write(folder / "m.hrec"), std::length_error);
  CHECK(folder.entries() == 0);
}
