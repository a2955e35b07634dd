// The result of a reader's kernel: compiler messages, resources and correctness.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demos/record/units.h"

namespace headroom::record {

enum class KernelVerdict : std::uint8_t {
  kNotCompiled,
  kCompiled,     // not run: no device, or the run ended early
  kCrashed,      // the device refused or ended it
  kOutOfBounds,  // wrote outside its buffers
  kWrong,        // differs from the reference
  kRight,
};
inline constexpr int kNumKernelVerdicts = 6;
std::string_view key_of(KernelVerdict verdict);

// The text may have several lines.
struct CompilerMessage {
  std::int64_t line = 0;  // in the source, from 1; 0: none
  bool error = false;     // false: warning or remark
  std::string text;

  bool operator==(const CompilerMessage&) const = default;
};

// Reported by the assembler.
struct KernelResources {
  std::string name;
  std::int64_t registers = 0;  // per thread
  Bytes shared = 0;            // per block, if fixed by the source
  Bytes stack = 0;             // per thread: arrays with indices unknown at compile time
  Bytes spilled = 0;           // per thread: stores and loads of spilled registers

  bool operator==(const KernelResources&) const = default;
};

struct KernelReport {
  KernelVerdict verdict = KernelVerdict::kNotCompiled;
  std::string sentence;  // the verdict in words
  std::string exercise;
  std::string architecture;  // "sm_90"
  std::string compiler;      // "NVRTC 13.0"
  std::vector<CompilerMessage> messages;
  std::vector<KernelResources> kernels;
  std::int64_t launches = 0;  // per result; 0: none
  double error = -1;          // largest deviation from float64 relative to the largest number; negative: not measured
  double error_limit = -1;    // a larger error is wrong

  bool operator==(const KernelReport&) const = default;
};

template <class Io>
void fields(Io& io, CompilerMessage& message) {
  std::string severity = message.error ? "error" : "warning";
  io.whole("line", message.line, kMostBytes);
  io.text("severity", severity);
  io.text("text", message.text);
  message.error = severity == "error";
}

template <class Io>
void fields(Io& io, KernelResources& kernel) {
  io.text("name", kernel.name);
  io.whole("registers", kernel.registers, kMostBytes);
  io.whole("shared", kernel.shared, kMostBytes);
  io.whole("stack", kernel.stack, kMostBytes);
  io.whole("spilled", kernel.spilled, kMostBytes);
}

template <class Io>
void fields(Io& io, KernelReport& report) {
  io.choice("verdict", report.verdict, kNumKernelVerdicts);
  io.text("sentence", report.sentence);
  io.text("exercise", report.exercise);
  io.text("architecture", report.architecture);
  io.text("compiler", report.compiler);
  io.objects("messages", report.messages);
  io.objects("kernels", report.kernels);
  io.whole("launches", report.launches, kMostBytes);
  io.measured("error", report.error);
  io.measured("error_limit", report.error_limit);
}

}  // namespace headroom::record
