// Catalogue lookups.
#include "kernels/kernel.h"

#include <algorithm>

namespace headroom::kernels {

const KernelInfo* find_kernel(std::string_view id) {
  for (const KernelInfo* kernel : kernels()) {
    if (kernel->id == id) return kernel;
  }
  return nullptr;
}

std::vector<const KernelInfo*> report_kernels() {
  std::vector<const KernelInfo*> found;
  for (const KernelInfo* kernel : kernels())
    if (kernel->report.place > 0) found.push_back(kernel);
  std::ranges::sort(found, {}, [](const KernelInfo* kernel) { return kernel->report.place; });
  return found;
}

}  // namespace headroom::kernels
