// Figures and layouts for the tests of painting.
#pragma once

#include <string>
#include <vector>

#include "app/paint/layout/layout.h"
#include "app/paint/scene/fonts.h"
#include "demos/record/ledger.h"
#include "lessons/figure.h"

namespace headroom::tests {

// A figure with what it was built from.
struct Sample {
  std::string name;
  lessons::FigureData figure;
};

// Every figure of every made run: plain, checkpointed with another behind it, out of memory, live, tiny, one event,
// nothing; open, with a guess, hidden and with the cursor in many places.
const std::vector<Sample>& samples();

// Every figure of every page, of each of its runs, alone and beside each base of its shape; with a guess where it has an
// axis for one.
const std::vector<Sample>& figures_of_the_course();

// The timeline of two plain steps of a 1B model under a cap of 24 GiB.
const lessons::FigureData& plain_timeline();

const app::paint::FontWidths& widths();
std::string assets_folder();

// As on screens: 1920x1080 and 1280x720, one and two pixels a px; and as in files.
std::vector<app::paint::Frame> frames();

template <class Shape, class Do>
void each(const app::paint::Scene& scene, Do act) {
  for (const app::paint::Item& item : scene.items) {
    if (const Shape* shape = std::get_if<Shape>(&item.shape)) act(item.layer, *shape);
  }
}

std::vector<std::string> texts_of(const app::paint::Scene& scene, app::paint::Layer layer);

}  // namespace headroom::tests
