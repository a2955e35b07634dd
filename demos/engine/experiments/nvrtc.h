// Compiles CUDA C++ from a text with NVRTC, and reads what the compiler and the assembler say. Needs no GPU.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demos/record/kernel_report.h"
#include "demos/record/result.h"

namespace headroom::experiments {

struct CompileRequest {
  std::string source;
  std::string declarations;  // compiled in front of it, without a change to its line numbers
  std::string architecture;  // "sm_90"
  std::vector<std::pair<std::string, std::string>> macros;
};

struct Compilation {
  std::vector<char> binary;  // empty: the source was refused, and the messages say why
  std::string compiler;      // "NVRTC 13.0"
  std::vector<record::CompilerMessage> messages;
  std::vector<record::KernelResources> kernels;
};

// An error where there is no compiler, not where it refuses the source.
record::Result<Compilation> compile_kernel(const CompileRequest& request);

// Messages and resources out of the compiler's log of a source of so many lines.
void read_compiler_log(std::string_view log, std::int64_t lines, Compilation& compilation);

}  // namespace headroom::experiments
