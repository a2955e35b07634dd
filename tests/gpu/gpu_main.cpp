// main of the GPU tests; returns 77 (skipped) without a device.
#include <cstdio>

#include <c10/cuda/CUDAFunctions.h>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
  if (c10::cuda::device_count() == 0) {
    std::puts("no CUDA device: skipped");
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
