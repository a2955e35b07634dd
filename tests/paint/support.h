// Figures and layouts for tests of painting.
#pragma once

#include <string>
#include <vector>

#include "app/paint/layout/layout.h"
#include "app/paint/scene/fonts.h"
#include "demos/record/ledger.h"
#include "lessons/figure.h"

namespace headroom::tests {

struct Sample {
  std::string name;
  lessons::FigureData figure;
};

// Every figure of every made run (plain, checkpointed against another run, out of memory, live, tiny, one event,
// empty), each in four forms: open, with a guess, hidden, and with the cursor at many places.
const std::vector<Sample>& samples();

// Every figure of every page, for each of the page's runs: alone, and next to each base (run A) of the same shape; with
// a guess if there is an axis for it.
const std::vector<Sample>& figures_of_the_course();

// Two plain steps of a 1B model under a cap of 24 GiB.
const lessons::FigureData& plain_timeline();

const app::paint::FontWidths& widths();
std::string assets_folder();

// Screens of 1920x1080 and 1280x720 at scales 1 and 2, and files.
std::vector<app::paint::Frame> frames();

template <class Shape, class Do>
void each(const app::paint::Scene& scene, Do act) {
  for (const app::paint::Item& item : scene.items) {
    if (const Shape* shape = std::get_if<Shape>(&item.shape)) act(item.layer, *shape);
  }
}

std::vector<std::string> texts_of(const app::paint::Scene& scene, app::paint::Layer layer);

}  // namespace headroom::tests
