// Chooses a command's figures and their recordings: a given one, the pages' stored ones, a new run, or a prediction.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demos/experiments/sweep_axes.h"
#include "demos/record/recording.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"
#include "lessons/figure.h"
#include "lessons/pages/course.h"

namespace headroom::app {

struct RunFigures {
  std::string name;
  std::shared_ptr<const record::Recording> recording;  // null: not measured or not needed
  std::vector<const lessons::Figure*> figures;
  // Set if the figures follow settings rather than a page's run.
  std::optional<record::Params> settings = {};
  std::vector<experiments::SweepAxis> sweep = {};  // the page's sweep over `settings`, drawn without a run
  // A sentence below the title, in the figure's units.
  std::function<std::string(const lessons::FigureData&)> caption = {};
  // The prediction with `settings`, and the card that the verdict is about.
  std::shared_ptr<const record::Recording> prediction = {};
  std::optional<lessons::CardLimit> card = {};
  std::vector<std::string> controls = {};  // parameters of the figures: "strategies=two"
  std::string prefix = {};                 // prefix of the file names
  // Recordings of other demos that the page's figures need.
  std::vector<std::shared_ptr<const record::Recording>> beside = {};
};

struct FigureChoice {
  std::vector<std::string> ids;  // empty: all
  std::optional<std::string> chapter;
  std::optional<std::string> from;
  std::string engine;  // makes a run if none is stored
};
record::Result<std::vector<RunFigures>> choose_figures(const FigureChoice& options);

// A predicted step, with the card that it must fit on.
struct StepChoice {
  std::vector<std::string> of;  // key=value
  std::optional<std::string> model, card;

  bool given() const { return !of.empty() || model || card; }
};

// Checks that all names exist and the figures can follow settings; starts no engine.
record::Status check_step_figures(const StepChoice& step, const std::vector<std::string>& ids);

// The figures in `ids`, or else all that can follow settings. Fails if no run accepts the settings.
record::Result<std::vector<RunFigures>> step_figures(const StepChoice& step, const std::vector<std::string>& ids,
                                                     const std::string& engine);

// This course's counterparts of the figures in the report on Liger Kernel (assets/course_items.csv), in the report's
// order, as their pages draw them. Figures with one counterpart share a file.
record::Result<std::vector<RunFigures>> report_figures();

record::Result<std::vector<const lessons::Figure*>> figures_named(const std::vector<std::string>& ids);
// One chapter's pages, or all.
record::Result<std::vector<const lessons::Page*>> pages_of(const lessons::Course& course,
                                                           const std::optional<std::string>& chapter);

}  // namespace headroom::app
