// Compiles CUDA C++ with NVRTC and parses its messages. Needs no GPU.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demos/record/result.h"
#include "demos/record/rows/kernel_report.h"

namespace headroom::experiments {

struct CompileRequest {
  std::string source;
  std::string declarations;  // compiled before the source, with separate line numbers
  std::string architecture;  // "sm_90"
  std::vector<std::pair<std::string, std::string>> macros;
};

struct Compilation {
  std::vector<char> binary;  // empty: the source has errors
  std::string compiler;      // "NVRTC 13.0"
  std::vector<record::CompilerMessage> messages;
  std::vector<record::KernelResources> kernels;
};

// Fails without a compiler, but not for errors in the source.
record::Result<Compilation> compile_kernel(const CompileRequest& request);

// `lines`: number of lines of the source.
void read_compiler_log(std::string_view log, std::int64_t lines, Compilation& compilation);

}  // namespace headroom::experiments
