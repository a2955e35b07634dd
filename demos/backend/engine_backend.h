// One engine process as a backend; make_engine() decides which runs go to which.
#pragma once

#include <memory>

#include "demos/backend/backend.h"

namespace headroom::backend {

std::unique_ptr<Backend> make_one_engine(EngineCommand command);

}  // namespace headroom::backend
