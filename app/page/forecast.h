// The prediction for a page's settings, its closed form, and a link's preview.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "app/common/plan/predictions.h"
#include "app/page/runs.h"
#include "demos/predict/cards/cards.h"
#include "demos/record/schema.h"

namespace headroom::app::page {

class Forecast {
 public:
  // `service` is not owned; if null, `why_no_service` says why.
  Forecast(Predictions* service, std::string why_no_service)
      : service_(service), why_no_service_(std::move(why_no_service)) {}
  Forecast(const Forecast&) = delete;  // the service identifies it by address
  Forecast& operator=(const Forecast&) = delete;

  Predictions* service() const { return service_; }
  const std::string& why_no_service() const { return why_no_service_; }
  void use(Predictions* service) { service_ = service; }
  // Null while the service cannot answer.
  Predictions* planner() const;
  // True once after planner() has become null or non-null.
  bool planner_changed();
  int revision() const { return revision_; }

  // `run` is `settings` on the page's card. Until the answer arrives, run() is the previous prediction or the closed
  // form.
  void ask(const record::Params& settings, const PlannedRun& run);
  // `card` gives the phases' times; null: the usual one. False: the answer is pending.
  bool take(const PlannedRun& run, const predict::Card* card);
  void take_closed_form(const PlannedRun& run);
  bool asks() const { return asks_; }
  const std::optional<record::Params>& settings() const { return settings_; }
  bool is_for(const record::Params& settings) const { return settings_ && *settings_ == settings; }
  // The last prediction or closed form, perhaps for earlier settings.
  const RunOnShow* run() const { return run_.recording == nullptr ? nullptr : &run_; }
  bool by_closed_form() const;
  // For exactly these settings; null: unknown.
  const RunOnShow* predicted(const record::Params& settings) const;
  std::string why_none() const;
  // Call once per frame, `now` in seconds. True if is_late() changed.
  bool note_time(double now);
  bool is_late() const { return is_late_; }  // pending for more than 0.1 s

  bool has_formula_for(const record::Params& settings) const {
    return formula_settings_ && *formula_settings_ == settings;
  }
  void take_formula(const record::Params& settings, const PlannedRun& run);
  const RunOnShow* formula() const { return formula_.recording == nullptr ? nullptr : &formula_; }

  // The preview of the link under the mouse. Call once per frame until it is answered.
  bool has_preview_for(const record::Params& settings) const;  // true once answered
  void preview(const record::Params& settings, const PlannedRun& run);
  void drop_preview();
  const RunOnShow* previewed() const;  // null: none, or pending
  std::optional<record::Bytes> previewed_peak() const;

 private:
  struct Preview {
    record::Params settings;
    RunOnShow run;
    bool answered = false;
  };

  Predictions* service_;
  std::string why_no_service_;
  bool had_planner_ = false;
  RunOnShow run_;
  std::string refusal_;
  std::optional<record::Params> settings_;
  bool asks_ = false;
  std::optional<double> asked_at_;  // set by note_time()
  bool is_late_ = false;
  RunOnShow formula_;
  std::optional<record::Params> formula_settings_;
  std::optional<Preview> preview_;
  int revision_ = 0;
};

}  // namespace headroom::app::page
