// The table of `headroom bench products`: GEMM rates by format and size, compared with the data sheet.
#pragma once

#include <string>

#include "demos/record/recording.h"

namespace headroom::app {

std::string product_table(const record::Recording& recording);

}  // namespace headroom::app
