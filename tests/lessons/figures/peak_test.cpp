// The bars of the peak.
#include <numeric>

#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/llama_step.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;

namespace {

const lessons::Figure& peak_figure() { return *lessons::find_figure("peak_by_category"); }

}  // namespace

TEST_CASE("bars add up to the peak of the last step, the largest first") {
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  const auto data = peak_figure().build({.run = &ledger});
  REQUIRE(data.head.empty_reason.empty());
  double sum = 0;
  for (std::size_t i = 0; i < tests::bars_of(data).size(); ++i) {
    sum += tests::bars_of(data)[i].value;
    if (i > 0) CHECK(tests::bars_of(data)[i].value <= tests::bars_of(data)[i - 1].value);
    CHECK(tests::bars_of(data)[i].value <= lessons::axes_of(data).x.high);
  }
  const auto steps = record::steps_of(run);
  CHECK(sum == static_cast<double>(ledger.peak(steps.back().first, steps.back().last).totals.allocated));
}

TEST_CASE("shares are of the peak, and of the cap where there is one") {
  const record::Recording run = tests::llama_recording({.steps = 1, .cap = 24 * record::kGiB});
  const record::Ledger ledger(run);
  const auto data = peak_figure().build({.run = &ledger});
  for (const auto& bar : tests::bars_of(data)) {
    if (bar.category != record::Category::kLogits) continue;
    CHECK(bar.value_text == "4.89 GiB");  // 4,096 tokens x 128,256 words x (2 + 4 + 4) bytes
    CHECK(bar.note == "29.7 % of the peak, 20.4 % of 24 GiB");
  }
}

TEST_CASE("while the answer is hidden there are no bars, and a reason") {
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  const auto data = peak_figure().build({.run = &ledger, .view = {.hidden = true}});
  CHECK(data.panels.empty());
  CHECK_FALSE(data.head.empty_reason.empty());
  CHECK_FALSE(peak_figure().build({}).head.empty_reason.empty());
}

TEST_CASE("a chosen step has its own peak") {
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  record::Params params(peak_figure().schema);
  REQUIRE(params.set("show", "step").ok());
  REQUIRE(params.set("step", "0").ok());
  const auto first = peak_figure().build({.run = &ledger, .params = &params});
  const auto last = peak_figure().build({.run = &ledger});
  CHECK(tests::panel_in<lessons::Bars>(first).total < tests::panel_in<lessons::Bars>(last).total);
  REQUIRE(params.set("step", "9").ok());
  const auto none = peak_figure().build({.run = &ledger, .params = &params});
  CHECK(none.head.empty_reason == "This run has no step 9: its steps are 0 to 2.");
}
