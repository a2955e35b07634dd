// The settings and the runs that they start, on any backend. No drawing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "demos/backend/backend.h"
#include "demos/experiments/demo.h"
#include "demos/record/schema.h"

namespace headroom::app::page {

class RunControl {
 public:
  // `backend` is not owned; null: nothing can run. `fixed_settings`: why settings cannot change.
  RunControl(const experiments::DemoInfo& demo, backend::Backend* backend, std::string fixed_settings);

  const record::Params& params() const { return params_; }
  // Do not call during a run.
  void use(backend::Backend* backend) { backend_ = backend; }
  // Ignores keys and values that this version does not know.
  void show_params(const std::map<std::string, std::string>& params);
  // For initial settings, without set()'s checks.
  void preset(std::string_view key, std::string_view value) { (void)params_.set(key, value); }
  record::Status set(std::string_view key, std::string_view value);
  // Why this value conflicts with other settings; empty: it does not, or the settings conflict already.
  std::string why_not(std::string_view key, std::string_view value) const;
  const std::string& fixed_settings() const { return fixed_settings_; }
  const experiments::DemoInfo& demo() const { return *demo_; }

  bool can_run() const { return backend_ != nullptr && !busy(); }
  bool running() const { return in_run_ && busy(); }
  // True if the shared backend runs another page's run.
  bool busy_elsewhere() const { return !in_run_ && busy(); }
  bool cancelling() const;
  // `flops` 0: unknown. poll() cancels the run after `budget` seconds.
  record::Status start(double now, double flops = 0, std::optional<double> budget = {});
  const std::string& refusal() const { return refusal_; }  // of the last start()
  void cancel() const;
  // Call after polling the backend; `news`: it changed. `now`: seconds on a steady clock. True if this run changed.
  bool poll(double now, bool news);

  const backend::RunProgress* progress() const;
  // The recording of the current or last run.
  const std::shared_ptr<const record::Recording>& recording() const { return recording_; }
  const std::optional<record::Outcome>& outcome() const { return outcome_; }
  const std::optional<double>& last_seconds() const { return last_seconds_; }
  // The budget in seconds, if exceeding it cancelled the last run; returned only once.
  std::optional<double> take_over_budget() { return std::exchange(over_budget_, std::nullopt); }
  // The speed of the last completed run.
  const std::optional<double>& flops_per_second() const { return flops_per_second_; }
  // Seconds of the last completed run, if it had these settings.
  std::optional<double> estimate() const;
  const std::optional<std::string>& trouble() const;
  const backend::Backend* backend() const { return backend_; }

 private:
  bool busy() const;

  const experiments::DemoInfo* demo_;
  backend::Backend* backend_;
  std::string fixed_settings_;
  record::Params params_;
  bool in_run_ = false;  // started, end not yet seen
  double started_at_ = 0, started_flops_ = 0;
  record::Params started_with_;
  std::optional<double> budget_, over_budget_;  // seconds
  std::optional<double> flops_per_second_;
  std::string refusal_;
  std::optional<record::Params> timed_params_;  // of the last completed run
  double timed_seconds_ = 0;
  std::optional<double> last_seconds_;
  std::shared_ptr<const record::Recording> recording_;
  std::optional<record::Outcome> outcome_;
};

}  // namespace headroom::app::page
