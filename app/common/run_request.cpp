// Requests to the backend. The demo's record says which settings decide about the engine process.
#include "app/common/run_request.h"

#include <chrono>
#include <string>
#include <utility>

#include "demos/experiments/demo.h"

namespace headroom::app {

backend::RunRequest run_request(std::string_view demo, record::Params params) {
  backend::RunRequest request{.demo = std::string(demo), .params = std::move(params)};
  if (request.params.has("device") && record::names_gpu(request.params.text("device")))
    request.device = record::DeviceKind::kGpu;
  const experiments::DemoInfo* const info = experiments::find_demo(demo);
  if (info != nullptr && info->traced != nullptr) request.engine.traced = info->traced(request.params);
  if (info != nullptr && info->patience != nullptr)
    request.engine.patience = std::chrono::seconds(info->patience(request.params));
  return request;
}

}  // namespace headroom::app
