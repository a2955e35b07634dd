// What the figure of memory is made of: what was measured, what is predicted, and the closed form.
#include "app/page/page_model.h"

namespace headroom::app::page {

// Other figures have what is predicted and measured as columns, or not at all.
bool PageModel::offers(Layer layer) const {
  if (!has_predictions() || !shows_runs() || question_.hides()) return false;
  switch (layer) {
    case Layer::kFormula:
      return fills_with_formula() || (settings_drive() && lessons::panel_of<lessons::Timeline>(figure_) != nullptr);
    case Layer::kPredicted:
      return planner() != nullptr || (shows_prediction_ && !fills_with_formula());
    case Layer::kMeasured:
      return shown_ >= 0 && (has_evidence_ || !shows_prediction_ || !settings_drive());
  }
  return false;
}

bool PageModel::shows(Layer layer) const {
  if (!offers(layer)) return false;
  switch (layer) {
    case Layer::kFormula:
      return fills_with_formula() || wanted_[static_cast<std::size_t>(layer)];
    case Layer::kPredicted:
      return shows_prediction_ ? !fills_with_formula() : wanted_[static_cast<std::size_t>(layer)];
    case Layer::kMeasured:
      return !shows_prediction_;
  }
  return false;
}

std::string PageModel::why_fixed(Layer layer) const {
  if (layer == Layer::kMeasured || !offers(layer)) return {};
  if (layer == Layer::kPredicted && fills_with_formula()) return why_no_prediction();
  const bool fills = shows_prediction_ && (layer == Layer::kPredicted || fills_with_formula());
  if (!fills || offers(Layer::kMeasured)) return {};
  return "It stays: no run with these settings is there to fill the figure.";
}

void PageModel::show(Layer layer, bool on) {
  if (!offers(layer) || on == shows(layer) || !why_fixed(layer).empty()) return;
  const bool fills = layer == Layer::kMeasured || (shows_prediction_ && layer == Layer::kPredicted) ||
                     (layer == Layer::kFormula && fills_with_formula());
  wanted_[static_cast<std::size_t>(layer)] = on;
  stale_ = true;
  if (!fills) return;
  const bool measured = layer == Layer::kMeasured ? on : !on;
  wanted_[static_cast<std::size_t>(Layer::kMeasured)] = measured;
  if (!measured && planner() != nullptr) wanted_[static_cast<std::size_t>(Layer::kPredicted)] = true;
  if (settings_drive())
    show_settings();
  else
    fill_with_prediction(!measured);
}

void PageModel::fill_with_prediction(bool on) {
  if (on == shows_prediction_) return;
  shows_prediction_ = on;
  reset_views();
  comparison_.rows.clear();  // until the figure is built anew
  stale_ = true;
  if (on) ask_prediction();
}

}  // namespace headroom::app::page
