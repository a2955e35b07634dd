// The device of the shared cases; each test defines it.
#pragma once

#include <ATen/ATen.h>

namespace headroom::tests {

at::Device tested_device();

}  // namespace headroom::tests
