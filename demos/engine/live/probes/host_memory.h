// Total and available memory of the machine.
#pragma once

#include <string>

#include "demos/record/units.h"

namespace headroom::live {

struct HostMemory {
  record::Bytes total = 0;      // 0: unknown
  record::Bytes available = 0;  // without swapping; includes the page cache
};

// The machine's memory, or less in a limited control group. `root` is put before /proc and /sys.
HostMemory host_memory(const std::string& root = "");

// Which tensors get pages of 2 MiB instead of 4 KiB: "always", "madvise" (on request, as from the CPU probe) or
// "never"; empty: unknown.
std::string large_pages(const std::string& root = "");

}  // namespace headroom::live
