// Waiting for a backend, for programs and threads with nothing else to do.
#pragma once

#include "demos/backend/backend.h"

namespace headroom::backend {

// Sleeps until the backend has work or the time is over, then polls. The timeout matters: poll() checks deadlines.
void wait_and_poll(Backend& backend, int milliseconds = 50);

}  // namespace headroom::backend
