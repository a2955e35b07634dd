// Which figures a command draws, and of which recordings: those that are named, of a given recording, of the stored ones
// of the pages, or of a new run.
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

// The figures to draw of one recording.
struct RunFigures {
  std::string name;                                    // the recording's, in file names
  std::shared_ptr<const record::Recording> recording;  // null: of figures that need none
  std::vector<const lessons::Figure*> figures;
  // Those that the figures follow where there is no recording, or it is what is predicted with them.
  std::optional<record::Params> settings = {};
  std::vector<experiments::SweepAxis> sweep = {};  // of a page with these settings, not run
  // Below the title of a figure: a sentence, in its units. Empty: none.
  std::function<std::string(const lessons::FigureData&)> caption = {};
  // Where the recording is evidence for the settings: what was predicted with them, and the card that both are held against.
  std::shared_ptr<const record::Recording> prediction = {};
  std::optional<lessons::CardLimit> card = {};
  std::vector<std::string> controls = {};  // of the figures' own parameters: "strategies=two"
  std::string prefix = {};                 // of file names
  // Of other demos, that a page has for its figures.
  std::vector<std::shared_ptr<const record::Recording>> beside = {};
};

// What was asked for.
struct FigureChoice {
  std::vector<std::string> ids;        // of figures; empty: all
  std::optional<std::string> chapter;  // its number
  std::optional<std::string> from;     // a recording
  std::string engine;                  // that makes a run where nothing is stored
};
record::Result<std::vector<RunFigures>> choose_figures(const FigureChoice& options);

record::Result<std::vector<const lessons::Figure*>> figures_named(const std::vector<std::string>& ids);
// Of one chapter, or of all.
record::Result<std::vector<const lessons::Page*>> pages_of(const lessons::Course& course,
                                                           const std::optional<std::string>& chapter);

}  // namespace headroom::app
