// Finds a demo's runner in the catalogue.
#include "demos/engine/experiments/demo_run.h"

namespace headroom::experiments {

const DemoRunner* find_runner(std::string_view id) {
  for (const DemoRunner* runner : demo_runners()) {
    if (runner->id == id) return runner;
  }
  return nullptr;
}

}  // namespace headroom::experiments
