// Requests to the backend for the runs of a demo.
#pragma once

#include <string_view>

#include "demos/backend/backend.h"
#include "demos/record/schema.h"

namespace headroom::app {

// Includes what these settings need of the engine process. `demo`: its id.
backend::RunRequest run_request(std::string_view demo, record::Params params);

}  // namespace headroom::app
