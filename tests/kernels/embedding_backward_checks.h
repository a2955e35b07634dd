// Test bodies for the embedding's gradient on any device.
#pragma once

#include <ATen/ATen.h>

namespace headroom::tests {

void check_embedding_errors(at::Device device);
void check_embedding_forms(at::Device device);  // adding, unused rows, repeated runs

}  // namespace headroom::tests
