// Pages that tell of losses over hundreds of steps: what they say is what their recordings hold.
#include <string>
#include <vector>

#include "demos/record/ledger.h"
#include "tests/support/catch.h"

using namespace headroom;

namespace {

record::Recording recording(const std::string& name) {
  return record::Recording::read(HEADROOM_SOURCE_DIR "/assets/recordings/" + name + ".hrec").value();
}
record::Recording stored(const std::string& name) { return recording("lost_updates_" + name); }

std::vector<double> losses_of(const record::Recording& run) {
  std::vector<double> losses;
  for (const record::MetricSample& sample : run.metrics())
    if (sample.kind == record::MetricKind::kLoss) losses.push_back(sample.value);
  return losses;
}

double last_fifty(const std::vector<double>& losses) {
  double sum = 0;
  for (std::size_t i = losses.size() - 50; i < losses.size(); ++i) sum += losses[i];
  return sum / 50;
}

}  // namespace

TEST_CASE("300 steps of the 1B lose what rounding to nearest loses, and keep the memory of three") {
  const record::Recording nearest = stored("nearest_h200"), stochastic = stored("stochastic_h200"),
                          mixed = stored("mixed_h200");
  for (const record::Recording* run : {&nearest, &stochastic, &mixed}) {
    REQUIRE(losses_of(*run).size() == 300);
    CHECK(losses_of(*run).front() == losses_of(nearest).front());
    CHECK(record::Ledger(*run).first_mismatch() == record::kNever);
  }
  CHECK(last_fifty(losses_of(nearest)) == Approx(1.140).margin(0.0005));
  CHECK(last_fifty(losses_of(stochastic)) == Approx(1.009).margin(0.0005));
  CHECK(last_fifty(losses_of(mixed)) == Approx(1.009).margin(0.0005));
  const auto peak = [](const record::Recording& run) { return record::Ledger(run).peak().totals.allocated; };
  CHECK(static_cast<double>(peak(mixed) - peak(stochastic)) / record::kGiB == Approx(9.21).margin(0.005));
}

TEST_CASE("200 steps of the small model end at the losses that the page names") {
  CHECK(losses_of(stored("nearest_cpu")).back() == Approx(3.97).margin(0.005));
  CHECK(losses_of(stored("stochastic_cpu")).back() == Approx(3.74).margin(0.005));
  CHECK(losses_of(stored("mixed_cpu")).back() == Approx(3.74).margin(0.005));
}

TEST_CASE("200 steps from random weights end where the page on adapters says") {
  CHECK(last_fifty(losses_of(recording("losses_full_cpu"))) == Approx(2.2).margin(0.05));
  CHECK(last_fifty(losses_of(recording("losses_lora_cpu"))) == Approx(6.4).margin(0.05));
  CHECK(last_fifty(losses_of(recording("losses_qlora_cpu"))) == Approx(6.4).margin(0.05));
}
