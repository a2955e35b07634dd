// One engine process as a backend. make_engine() (engine_pair.cpp) decides which runs go to which process.
#pragma once

#include <memory>

#include "demos/backend/backend.h"

namespace headroom::backend {

std::unique_ptr<Backend> make_engine_backend(EngineCommand command);

}  // namespace headroom::backend
