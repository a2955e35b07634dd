// What the embedding's gradient must do on whatever device; each function is the body of a test case.
#pragma once

#include <ATen/ATen.h>

namespace headroom::test {

void check_embedding_errors(at::Device device);
void check_embedding_forms(at::Device device);  // adding, untouched rows, run after run

}  // namespace headroom::test
