// The usual scene of scripts.
#pragma once

#include "tests/gui/support/harness.h"
#include "tests/gui/support/scripted_backend.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/panels.h"

namespace headroom::tests {

inline constexpr double kMiB = static_cast<double>(record::kMiB);

// A page with one stored run, and a backend that records another.
struct Scene {
  TestAssets assets;
  ScriptedBackend backend{small_run({.steps = 3, .weights = 80 * record::kMiB}), 3};
  Stage stage;

  Scene() {
    assets.add(*small_run(), "tiny_cpu");
    stage.assets = assets.path();
    stage.runner = &backend;
  }
};

inline double peak_in_figure(const Actor& actor) {
  const lessons::FigureData& figure = actor.page().figure(400);
  return tests::timeline_of(figure).peak ? tests::timeline_of(figure).peak->y : -1;
}

}  // namespace headroom::tests
