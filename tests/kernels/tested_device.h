// The device of the shared cases; each test defines it.
#pragma once

#include <ATen/ATen.h>

namespace headroom::test {

at::Device tested_device();

}  // namespace headroom::test
