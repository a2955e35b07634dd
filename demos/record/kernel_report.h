// What became of a kernel whose source the reader wrote: what the compiler said, what it needs, and whether it is right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demos/record/units.h"

namespace headroom::record {

enum class KernelVerdict : std::uint8_t {
  kNotCompiled,  // the compiler refused it
  kCompiled,     // and not run: there is no device, or the run ended before a verdict
  kCrashed,      // the device refused to start it, or ended it
  kOutOfBounds,  // it wrote beside its buffers
  kWrong,        // its result is not the reference's
  kRight,
};
inline constexpr int kNumKernelVerdicts = 6;
std::string_view key_of(KernelVerdict verdict);  // "not_compiled", …

// One message of the compiler. Its text may have several lines.
struct CompilerMessage {
  std::int64_t line = 0;  // of the source, counted from 1; 0: of no line in particular
  bool error = false;     // else a warning or a remark
  std::string text;

  bool operator==(const CompilerMessage&) const = default;
};

// What one kernel of the source takes, by the assembler's account.
struct KernelResources {
  std::string name;
  std::int64_t registers = 0;  // a thread
  Bytes shared = 0;            // a block, as far as the source fixes it
  Bytes stack = 0;             // a thread: arrays that are indexed by what is not known when compiling
  Bytes spilled = 0;           // stores and loads per thread, of what the registers could not hold

  bool operator==(const KernelResources&) const = default;
};

struct KernelReport {
  KernelVerdict verdict = KernelVerdict::kNotCompiled;
  std::string sentence;      // the verdict in words
  std::string exercise;      // "rms_norm"
  std::string architecture;  // "sm_90"
  std::string compiler;      // "NVRTC 13.0"
  std::vector<CompilerMessage> messages;
  std::vector<KernelResources> kernels;
  std::int64_t launches = 0;  // that one result takes; 0: nothing was launched
  double error = -1;          // largest deviation from float64, relative to the largest number; negative: not measured
  double error_limit = -1;    // beyond which a result counts as wrong

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
