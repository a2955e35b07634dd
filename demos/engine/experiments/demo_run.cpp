// Finds a demo's runner in the catalogue.
#include "demos/engine/experiments/demo_run.h"

namespace headroom::experiments {

const DemoRunner* find_runner(std::string_view id) {
  for (const DemoRunner* runner : demo_runners()) {
    if (runner->id == id) return runner;
  }
  return nullptr;
}

record::Result<std::unique_ptr<DemoRun>> make_run(const DemoRunner& runner, const record::Params& params,
                                                  const RunSetting& setting) {
  const auto request = runner.read(params);
  return request ? request.value()->make(setting) : request.error();
}

}  // namespace headroom::experiments
