// What the machine's own memory has and can still give: the CPU as a device to train on.
#pragma once

#include <string>

#include "demos/record/units.h"

namespace headroom::live {

struct HostMemory {
  record::Bytes total = 0;      // 0: not known
  record::Bytes available = 0;  // could be taken now without swapping; page cache counts, since it gives way
};

// The machine's, or less if this process is in a control group with a limit (a container, a batch job). `root` comes
// before /proc and /sys.
HostMemory host_memory(const std::string& root = "");

// Who gets pages of 2 MiB instead of 4 KiB: "always", "madvise" (who asks, as the CPU probe does) or "never"; empty: not
// known. A tensor's first touch costs a fault a page, by which steps on the CPU differ between machines by a factor.
std::string large_pages(const std::string& root = "");

}  // namespace headroom::live
