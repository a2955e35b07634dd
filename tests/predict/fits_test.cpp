// Whether a step fits on a card.
#include "demos/predict/fits.h"

#include "demos/predict/allocator/placed.h"
#include "demos/record/ledger.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::predict;
using record::Bytes;

namespace {

std::shared_ptr<const record::Recording> recorded(const char* name) {
  auto read = record::Recording::read(std::string(HEADROOM_SOURCE_DIR "/tests/predict/recordings/") + name + ".hrec");
  REQUIRE(read.ok());
  return std::make_shared<const record::Recording>(std::move(read).value());
}

}  // namespace

TEST_CASE("a step that fits lacks no bytes") {
  const auto run = recorded("plain");
  const FitTest test(run, std::make_shared<const record::Recording>(placed(*run)));
  const ProcessBytes process{.bytes = 100 * record::kMiB, .margin = 10 * record::kMiB, .source = "a test"};
  int full = 0;
  for (Bytes memory = test.allocated(); memory <= test.reserved() + process.bytes + process.margin;
       memory += 4 * record::kMiB) {
    const Fit fit = test.on(memory, process);
    INFO(memory);
    if (fit.verdict == Verdict::kFits) CHECK(fit.reserved <= fit.limit);
    if (fit.verdict == Verdict::kDoesNotFit) CHECK(fit.reserved > fit.limit);
    full += fit.verdict == Verdict::kFits && fit.reserved < test.reserved();
  }
  CHECK(full > 0);  // segments were freed
}

TEST_CASE("the margin of the process decides between fits, too close and does not fit") {
  const auto run = recorded("plain");
  const FitTest test(run, std::make_shared<const record::Recording>(placed(*run)));
  CHECK(test.allocated() > 0);
  CHECK(test.allocated() <= test.reserved());
  const ProcessBytes process{.bytes = 100 * record::kMiB, .margin = 10 * record::kMiB, .source = "a test"};
  const auto verdict = [&](Bytes memory) { return test.on(memory, process).verdict; };
  const Bytes roomy = test.reserved() + process.bytes + process.margin;
  CHECK(verdict(roomy) == Verdict::kFits);
  CHECK(verdict(test.allocated() + process.bytes - process.margin - 1) == Verdict::kDoesNotFit);
  CHECK(verdict(0) == Verdict::kDoesNotFit);

  int changes = 0;
  Verdict last = Verdict::kDoesNotFit;
  for (Bytes memory = test.allocated(); memory <= roomy; memory += 4 * record::kMiB) {
    const Verdict now = verdict(memory);
    CHECK(static_cast<int>(now) <= static_cast<int>(last));
    changes += now == last ? 0 : 1;
    last = now;
  }
  CHECK(changes == 2);
}

TEST_CASE("the verdict on a card follows the allocator under that limit") {
  const auto run = recorded("plain");
  const FitTest test(run, std::make_shared<const record::Recording>(placed(*run)));
  const ProcessBytes none{};
  for (Bytes limit = test.allocated(); limit < test.reserved() + 8 * record::kMiB; limit += 8 * record::kMiB) {
    const bool ends = placed(*run, limit).outcome()->kind == record::OutcomeKind::kOutOfMemory;
    CHECK((test.on(limit, none).verdict == Verdict::kDoesNotFit) == ends);
  }
}
