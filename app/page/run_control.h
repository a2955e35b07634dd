// Settings and the run that they start, over whatever backend there is. Knows nothing of how it is drawn.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "demos/backend/backend.h"
#include "demos/experiments/demo.h"
#include "demos/record/schema.h"

namespace headroom::app::page {

class RunControl {
 public:
  // `backend` is not owned; null: nothing can be run. `fixed_settings`: why settings cannot be changed, empty if
  // they can.
  RunControl(const experiments::DemoInfo& demo, backend::Backend* backend, std::string fixed_settings);

  const record::Params& params() const { return params_; }
  // Another backend, between runs: the engine once it is there.
  void use(backend::Backend* backend) { backend_ = backend; }
  // Shows the settings that a stored run was made with, as far as this program knows them.
  void show_params(const std::map<std::string, std::string>& params);
  // What a page begins with.
  void preset(std::string_view key, std::string_view value) { (void)params_.set(key, value); }
  record::Status set(std::string_view key, std::string_view value);
  // Why this value does not go with the other settings, in the words of the page; empty: it does, or what is set
  // already does not.
  std::string why_not(std::string_view key, std::string_view value) const;
  const std::string& fixed_settings() const { return fixed_settings_; }
  const experiments::DemoInfo& demo() const { return *demo_; }

  bool can_run() const { return backend_ != nullptr && !busy(); }
  // A run that was started here is on.
  bool running() const { return in_run_ && busy(); }
  // The backend, which other pages share, runs what one of them started.
  bool busy_elsewhere() const { return !in_run_ && busy(); }
  bool cancelling() const;
  record::Status start(double now);
  void cancel();
  // After the backend was polled, which its owner does, once for all pages; `news`: whether that changed anything.
  // True if this control's run changed. `now`: seconds on a steady clock.
  bool poll(double now, bool news);

  const backend::RunProgress* progress() const;  // null: nothing that was started here runs
  // Of the current or last run that was started here; null before.
  const std::shared_ptr<const record::Recording>& recording() const { return recording_; }
  // Of the last finished run; empty before.
  const std::optional<record::Outcome>& outcome() const { return outcome_; }
  const std::optional<double>& last_seconds() const { return last_seconds_; }
  // Seconds that a run with these settings took before; empty: not known.
  std::optional<double> estimate() const;
  // The backend's one sentence when it cannot work.
  const std::optional<std::string>& trouble() const;
  const backend::Backend* backend() const { return backend_; }

 private:
  bool busy() const;

  const experiments::DemoInfo* demo_;
  backend::Backend* backend_;
  std::string fixed_settings_;
  record::Params params_;
  bool in_run_ = false;  // started and its end not yet seen
  double started_at_ = 0;
  record::Params started_with_;
  std::optional<record::Params> timed_params_;  // of the last run that was completed, and its seconds
  double timed_seconds_ = 0;
  std::optional<double> last_seconds_;
  std::shared_ptr<const record::Recording> recording_;
  std::optional<record::Outcome> outcome_;
};

}  // namespace headroom::app::page
