// The view of a timeline, and the stops of sliders.
#include "app/page/settings/param_scale.h"
#include "app/page/timeline_view.h"
#include "demos/experiments/demo.h"
#include "tests/gui/support/reader.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

TEST_CASE("zoom keeps the point under the mouse, pan stops at the ends, and fit shows everything",
          "[window][timeline]") {
  TimelineView view;
  view.set_full({0, 100});
  view.zoom(30, 0.5);
  CHECK(view.visible().begin == Approx(15));
  CHECK(view.visible().end == Approx(65));
  view.pan(-1000);
  CHECK(view.visible().begin == Approx(0));
  view.pan(1000);
  CHECK(view.visible().end == Approx(100));
  view.zoom(80, 100);
  CHECK_FALSE(view.zoomed());
  view.set_measure(TimelineView::Range{20, 40});
  view.fit();
  CHECK(view.visible() == TimelineView::Range{20, 40});
  view.set_measure(std::nullopt);
  view.fit();
  CHECK_FALSE(view.zoomed());
  view.zoom(50, 1e-30);
  CHECK(view.visible().length() > 0);
}

TEST_CASE("sliders have common values as stops", "[window][settings]") {
  const auto find = [](std::string_view key) -> const record::ParamSpec& {
    for (const record::ParamSpec& spec : demo().schema)
      if (spec.key == key) return spec;
    throw std::runtime_error("no such key");
  };
  CHECK(stops_of(find("batch")) == std::vector<double>{1,  2,  3,  4,  5,   6,   7,   8,   9,   10, 11,
                                                       12, 13, 14, 15, 16,  20,  24,  28,  32,  40, 48,
                                                       56, 64, 80, 96, 112, 128, 160, 192, 224, 256});
  const std::vector<double> lengths =
      stops_of({.kind = record::ParamKind::kInteger, .minimum = 60, .maximum = 300, .logarithmic = true});
  CHECK(lengths == std::vector<double>{64, 80, 96, 112, 128, 160, 192, 224, 256});
  CHECK(place_of({1, 2, 4}, 2) == 0.5);
  CHECK(place_of({1, 2, 4}, 3) == 0.75);
  CHECK(place_of({1, 2, 4}, 0) == 0);
  CHECK(place_of({1, 2, 4}, 9) == 1);
  const std::vector<double> cards = stops_of(find("cap"));
  CHECK(cards.front() == 0);
  CHECK(std::find(cards.begin(), cards.end(), 24.0 * static_cast<double>(record::kGiB)) != cards.end());
  CHECK(stops_of(find("seed")).empty());  // typed instead
  record::Params params(demo().schema);
  REQUIRE(params.set("cap", "24GiB"));
  REQUIRE(params.set("seq", "1024"));
  CHECK(shown_value(find("cap"), params) == "24 GiB");
  CHECK(shown_value(find("seq"), params) == "1,024 tokens");
  REQUIRE(params.set("cap", "0"));
  CHECK(shown_value(find("cap"), params) == "none");
  CHECK(shown_value(find("data"), params) == "the text of this course");
  CHECK(shown_value(find("weights"), params) == "none");
  CHECK(shown_value(find("offload_file"), params) == "a temporary file");
  const record::ParamSpec buffer{
      .key = "buffer", .label = "Buffer", .unit = "GB", .kind = record::ParamKind::kReal, .default_number = 15};
  const record::Params real{std::span(&buffer, 1)};
  CHECK(shown_value(buffer, real) == "15 GB");
  CHECK(value_in_words(buffer, real) == "15 GB");
  CHECK(nearest_stop(cards, 24.0 * static_cast<double>(record::kGiB)) ==
        std::find(cards.begin(), cards.end(), 24.0 * static_cast<double>(record::kGiB)) - cards.begin());
}

TEST_CASE("each parameter's default is shown in words, and a norm of 0 does not clip", "[window][params]") {
  for (const experiments::DemoInfo* demo : experiments::demos()) {
    const record::Params params(demo->schema);
    for (const record::ParamSpec& spec : params.schema()) {
      INFO(demo->id << " " << spec.key);
      CHECK_NOTHROW(shown_value(spec, params));
    }
  }
  const record::Params step(experiments::training_step().schema);
  const auto clip = std::ranges::find(step.schema(), "clip", &record::ParamSpec::key);
  REQUIRE(clip != step.schema().end());
  CHECK(shown_value(*clip, step) == "not clipped");
}
