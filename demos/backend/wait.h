// Waiting for a backend, for programs and threads that have nothing else to do meanwhile.
#pragma once

#include "demos/backend/backend.h"

namespace headroom::backend {

// Sleeps until the backend has something, at most so long, and takes it in: deadlines inside poll() go by time.
void wait_and_poll(Backend& backend, int milliseconds = 50);

}  // namespace headroom::backend
