// What `headroom bench products` prints: each format's rate by size, beside the data sheet.
#pragma once

#include <string>

#include "demos/record/recording.h"

namespace headroom::app {

std::string product_table(const record::Recording& recording);

}  // namespace headroom::app
