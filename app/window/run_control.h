// Settings and the run that they start, over whatever backend there is. Knows nothing of how it is drawn.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "demos/backend/backend.h"
#include "demos/experiments/demo.h"
#include "demos/record/schema.h"

namespace headroom::app::window {

class RunControl {
 public:
  // `backend` is not owned; null: nothing can be run. `fixed_settings`: why settings cannot be changed (a replay runs
  // with its own), empty if they can.
  RunControl(const experiments::DemoInfo& demo, backend::Backend* backend, std::string fixed_settings);

  const record::Params& params() const { return params_; }
  // Another backend, between runs.
  void use(backend::Backend* backend) { backend_ = backend; }
  // Shows the settings that a stored run was made with, as far as this program knows them.
  void show_params(const std::map<std::string, std::string>& params);
  record::Status set(std::string_view key, std::string_view value);
  const std::string& fixed_settings() const { return fixed_settings_; }
  const experiments::DemoInfo& demo() const { return *demo_; }

  bool can_run() const { return backend_ != nullptr && !running(); }
  bool running() const;
  bool cancelling() const;
  record::Status start(double now);
  void cancel();
  // True if anything changed. `now`: seconds on a steady clock.
  bool poll(double now);

  const backend::RunProgress* progress() const;                // null: nothing runs
  std::shared_ptr<const record::Recording> recording() const;  // of the current or last run
  // Of the last finished run; empty before.
  const std::optional<record::Outcome>& outcome() const { return outcome_; }
  const std::optional<double>& last_seconds() const { return last_seconds_; }
  // Seconds that a run with these settings took before; empty: not known.
  std::optional<double> estimate() const;
  // The backend's one sentence when it cannot work.
  const std::optional<std::string>& trouble() const;
  const backend::Backend* backend() const { return backend_; }

 private:
  const experiments::DemoInfo* demo_;
  backend::Backend* backend_;
  std::string fixed_settings_;
  record::Params params_;
  bool in_run_ = false;  // started and its end not yet seen
  double started_at_ = 0;
  record::Params started_with_;
  std::optional<record::Params> timed_params_;
  std::optional<double> last_seconds_;
  std::optional<record::Outcome> outcome_;
};

}  // namespace headroom::app::window
