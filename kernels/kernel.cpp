// Looks a kernel up in the catalogue.
#include "kernels/kernel.h"

namespace headroom::kernels {

const KernelInfo* find_kernel(std::string_view id) {
  for (const KernelInfo* kernel : kernels()) {
    if (kernel->id == id) return kernel;
  }
  return nullptr;
}

}  // namespace headroom::kernels
