// Where the cases run that a CPU test and a GPU test share: each defines this.
#pragma once

#include <ATen/ATen.h>

namespace headroom::test {

at::Device tested_device();

}  // namespace headroom::test
