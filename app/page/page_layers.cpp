// What the figure of memory is made of: what was measured, what is predicted, and the closed form.
#include "app/page/page_model.h"

namespace headroom::app::page {

bool PageModel::fills_with_formula() const {
  return shows_prediction_ && prediction_.recording != nullptr &&
         prediction_.recording->info().source == record::Source::kFormula;
}

bool PageModel::offers(Layer layer) const {
  if (!has_predictions() || question_.hides()) return false;
  switch (layer) {
    case Layer::kFormula:
      return settings_drive() && lessons::panel_of<lessons::Timeline>(figure_) != nullptr;
    case Layer::kPredicted:
      return predictions_ != nullptr;
    case Layer::kMeasured:
      return settings_drive() ? has_evidence_ || shows_evidence() : shown_ >= 0;
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

void PageModel::show(Layer layer, bool on) {
  if (!offers(layer) || on == shows(layer)) return;
  const bool fills = layer == Layer::kMeasured || (shows_prediction_ && layer == Layer::kPredicted) ||
                     (layer == Layer::kFormula && fills_with_formula());
  if (fills && layer != Layer::kMeasured && !offers(Layer::kMeasured)) return;  // nothing else would fill it
  wanted_[static_cast<std::size_t>(layer)] = on;
  stale_ = true;
  if (!fills) return;
  const bool measured = layer == Layer::kMeasured ? on : !on;
  wanted_[static_cast<std::size_t>(Layer::kMeasured)] = measured;
  if (!measured && predictions_ != nullptr) wanted_[static_cast<std::size_t>(Layer::kPredicted)] = true;
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
