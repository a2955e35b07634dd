// Histograms written and read.
#include <limits>

#include "demos/record/file/chunk.h"
#include "demos/record/file/json_fields.h"
#include "demos/record/recording.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom::record;
using headroom::tests::TemporaryFolder;

Histogram full_histogram() {
  return {.name = "gradients",
          .step = 7,
          .low_exponent = -24,
          .counts = {1, 0, 1'235'814'400},
          .zeros = 5,
          .not_finite = 6,
          .errors = {0.5, 0, 0.25}};
}

std::optional<std::vector<Histogram>> histograms_from_json(std::string_view text) {
  auto read = from_json<RowText<Histogram>>(text);
  return read ? std::optional(std::move(read->rows)) : std::nullopt;
}

}  // namespace

TEST_CASE("histograms survive a round trip, complete and in order") {
  const TemporaryFolder folder;
  Recording made(RunInfo{.demo = "train_step", .params = {{"model", "tiny"}}});
  for (int i = 0; i < 40; ++i) {
    Histogram histogram = i % 2 == 0 ? full_histogram() : Histogram{.name = "updates.lost", .low_exponent = -1'074};
    histogram.step = i;
    made.append(histogram);
  }
  REQUIRE(made.write(folder / "h.hrec").ok());
  const Result<Recording> read = Recording::read(folder / "h.hrec");
  REQUIRE(read.ok());
  REQUIRE(read.value().histograms().size() == 40);
  CHECK(read.value().histograms() == made.histograms());
}

TEST_CASE("the largest histograms fit into the chunks of a file") {
  const TemporaryFolder folder;
  Recording made(RunInfo{.demo = "moments"});
  for (int i = 0; i < 32; ++i)
    made.append(Histogram{.name = std::string(100, 'x'),
                          .low_exponent = kLowestExponent,
                          .counts = std::vector<std::int64_t>(kMostBins, std::int64_t{1} << 50),
                          .errors = std::vector<double>(kMostBins, 0.1234567890123456)});
  REQUIRE(made.write(folder / "h.hrec").ok());
  CHECK(Recording::read(folder / "h.hrec").value().histograms() == made.histograms());
}

TEST_CASE("an impossible histogram is not written") {
  const auto refused = [](auto change) {
    Histogram histogram = full_histogram();
    change(histogram);
    CHECK_THROWS(encode_rows(std::span(&histogram, 1)));
  };
  refused([](Histogram& h) { h.counts[1] = -1; });
  refused([](Histogram& h) { h.zeros = -1; });
  refused([](Histogram& h) { h.not_finite = -1; });
  refused([](Histogram& h) { h.step = -1; });
  refused([](Histogram& h) { h.low_exponent = -1'075; });
  refused([](Histogram& h) { h.low_exponent = 1'022; });  // the third bin would exceed fp64
  refused([](Histogram& h) { h.errors.pop_back(); });
  refused([](Histogram& h) { h.errors[0] = std::numeric_limits<double>::quiet_NaN(); });
}

TEST_CASE("text of histograms is checked") {
  const Histogram histogram = full_histogram();
  const std::string good = to_json(RowText<Histogram>{{histogram}});
  REQUIRE(histograms_from_json(good));
  CHECK(histograms_from_json(good)->front() == histogram);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return histograms_from_json(text.replace(at, from.size(), to));
  };
  CHECK(with("\"step\":7", "\"step\":8")->front().step == 8);
  CHECK(with("\"step\":7", "\"step\":7,\"later\":{}").has_value());
  CHECK_FALSE(with("\"step\":7", "\"step\":-7"));
  CHECK_FALSE(with("\"low_exponent\":1050", "\"low_exponent\":-1"));
  CHECK_FALSE(with("\"low_exponent\":1050", "\"low_exponent\":2097"));
  CHECK_FALSE(with("[1,0,1235814400]", "[1,0,-1]"));
  CHECK_FALSE(with("[1,0,1235814400]", "[1,0,0.5]"));
  CHECK_FALSE(with("[1,0,1235814400]", "[1,0,9999999999999999999]"));
  CHECK_FALSE(with("[1,0,1235814400]", "[1,0]"));  // one error too many
  CHECK_FALSE(with("[1,0,1235814400]", "{}"));
  CHECK_FALSE(with("[0.5,0.0,0.25]", "[0.5,0.0,\"0.25\"]"));
  CHECK_FALSE(with("[0.5,0.0,0.25]", "[0.5,0.0,-0.25]"));
  CHECK_FALSE(with("[0.5,0.0,0.25]", "[0.5,0.0,1e999]"));
  CHECK(with("[0.5,0.0,0.25]", "[]")->front().errors.empty());
  std::string many = "[0";
  for (std::size_t i = 0; i < kMostBins; ++i) many += ",0";
  CHECK_FALSE(with("[1,0,1235814400]", many + "]"));
  for (const char* text : {"", "[]", "{}", "{\"histograms\":{}}", "{\"histograms\":[7]}"})
    CHECK_FALSE(histograms_from_json(text));
  CHECK(histograms_from_json("{\"histograms\":[]}")->empty());
}

TEST_CASE("more histograms than a recording may hold are refused") {
  const std::vector<Histogram> many(row_kind<Histogram>().most, Histogram{.name = "n"});
  Recording recording;
  for (std::size_t first = 0; first < many.size(); first += 1'000)
    REQUIRE(recording.append_chunk(encode_rows(std::span(many).subspan(first, 1'000))).ok());
  CHECK_FALSE(recording.append_chunk(encode_rows(std::span(many).first(1))).ok());
  CHECK(recording.histograms().size() == row_kind<Histogram>().most);
}
