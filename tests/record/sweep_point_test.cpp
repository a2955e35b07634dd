// Sweep points written and read.
#include <cmath>
#include <limits>

#include "demos/record/file/json_fields.h"
#include "demos/record/recording.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom::record;
using headroom::tests::TemporaryFolder;

SweepPoint full_point() {
  return {.series = "liger_all",
          .label = "batch=112",
          .params = {{"batch", "112"}, {"loss", "flce"}},
          .outcome = {OutcomeKind::kOutOfMemory, "It did not fit.",
                      OutOfMemoryFacts{.requested = 3 * kGiB,
                                       .allocated = 20 * kGiB,
                                       .reserved = 21 * kGiB,
                                       .limit = 23 * kGiB,
                                       .op = "loss.logits",
                                       .phase = Phase::kLoss,
                                       .layer = 7,
                                       .by_category = {1, 2, 3, 4, 5, 6, 7}}},
          .peak = {.allocated = 28,
                   .requested = 25,
                   .reserved = 30,
                   .host = 99,
                   .by_category = {1, 2, 3, 4, 5, 6, 7},
                   .phase = Phase::kBackward},
          .tokens_per_second = 10'000.5,
          .tokens_per_second_low = 9'000,
          .tokens_per_second_high = 10'001,
          .loss = 5.25,
          .steps = 4,
          .provenance = {{"revision", "0123456789ab"}},
          .recording = "liger_all_b112.hrec"};
}

std::optional<std::vector<SweepPoint>> sweep_points_from_json(std::string_view text) {
  auto read = from_json<RowText<SweepPoint>>(text);
  return read ? std::optional(std::move(read->rows)) : std::nullopt;
}

}  // namespace

TEST_CASE("points of a sweep survive a round trip, complete and in order") {
  const TemporaryFolder folder;
  Recording made(RunInfo{.demo = "train_step", .params = {{"model", "tiny"}}});
  for (int i = 0; i < 150; ++i) {
    SweepPoint point = i % 2 == 0 ? full_point() : SweepPoint{.series = "hf"};
    point.label = "batch=" + std::to_string(i);
    made.append(point);
  }
  REQUIRE(made.write(folder / "s.hrec").ok());
  const Result<Recording> read = Recording::read(folder / "s.hrec");
  REQUIRE(read.ok());
  REQUIRE(read.value().sweep_points().size() == 150);
  CHECK(read.value().sweep_points() == made.sweep_points());
  CHECK(read.value().truncated());  // the sweep has no outcome yet
}

TEST_CASE("a non-finite loss is read back as missing") {
  SweepPoint point = full_point();
  point.loss = std::nan("");
  Recording recording;
  REQUIRE(recording.append_chunk(encode_rows(std::span(&point, 1))).ok());
  CHECK_FALSE(recording.sweep_points().front().loss);
}

TEST_CASE("an impossible point is not written") {
  const auto refused = [](auto change) {
    SweepPoint point = full_point();
    change(point);
    CHECK_THROWS(encode_rows(std::span(&point, 1)));
  };
  refused([](SweepPoint& p) { p.peak.allocated = -1; });
  refused([](SweepPoint& p) { p.peak.by_category[3] = -1; });
  refused([](SweepPoint& p) { p.tokens_per_second_low = 2 * p.tokens_per_second; });
  refused([](SweepPoint& p) { p.tokens_per_second_high = std::numeric_limits<double>::infinity(); });
  refused([](SweepPoint& p) { p.steps = -1; });
}

TEST_CASE("text of a sweep's points is checked") {
  const SweepPoint point = full_point();
  const std::string good = to_json(RowText<SweepPoint>{{point}});
  REQUIRE(sweep_points_from_json(good));
  CHECK(sweep_points_from_json(good)->front() == point);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return sweep_points_from_json(text.replace(at, from.size(), to));
  };
  CHECK(with("\"steps\":4", "\"steps\":5")->front().steps == 5);
  CHECK(with("\"steps\":4", "\"steps\":4,\"later\":{}").has_value());
  CHECK_FALSE(with("\"steps\":4", "\"steps\":-4"));
  CHECK_FALSE(with("\"steps\":4", "\"steps\":4000000000"));
  CHECK_FALSE(with("\"peak_host\":99", "\"peak_host\":9999999999999999999"));
  CHECK_FALSE(with("\"peak_phase\":\"backward\"", "\"peak_phase\":\"sideward\""));
  CHECK_FALSE(with("\"kind\":\"out_of_memory\"", "\"kind\":\"won\""));
  CHECK_FALSE(with("\"tokens_per_second_low\":9000.0", "\"tokens_per_second_low\":90000.0"));
  CHECK_FALSE(with("\"tokens_per_second_low\":9000.0", "\"tokens_per_second_low\":-1"));
  CHECK_FALSE(with("\"batch\":\"112\"", "\"batch\":112"));
  CHECK_FALSE(with("\"loss\":5.25", "\"loss\":\"5.25\""));
  CHECK_FALSE(with("\"requested\":3221225472", "\"requested\":null"));
  for (const char* text : {"", "[]", "{}", "{\"sweep_points\":{}}", "{\"sweep_points\":[7]}"})
    CHECK_FALSE(sweep_points_from_json(text));
  CHECK(sweep_points_from_json("{\"sweep_points\":[]}")->empty());
}
