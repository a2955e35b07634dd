// Waits on a backend's descriptor.
#include "demos/backend/wait.h"

#include <poll.h>

namespace headroom::backend {

void wait_and_poll(Backend& backend, int milliseconds) {
  pollfd readable{backend.descriptor(), POLLIN, 0};
  ::poll(&readable, readable.fd >= 0 ? 1 : 0, milliseconds);
  backend.poll();
}

}  // namespace headroom::backend
