// A hand-made benchmark with round numbers: every kernel at two shapes in three forms, on a GPU or CPU.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "demos/record/recording.h"

namespace headroom::tests {

struct MadeBench {
  record::DeviceKind device = record::DeviceKind::kGpu;
  bool report = false;   // with the report's panels
  bool finished = true;  // false: still running
};

// A copy moves 4e12 bytes/s on the GPU. Fused forms take 1.25 times as long as a copy, LibTorch's 2 times, eager ones 8
// times.
inline constexpr double kMadeCopyRate = 4e12;
inline constexpr double kMadeFused = 1.25, kMadeLibrary = 2, kMadeEager = 8;

class BenchMaker {
 public:
  explicit BenchMaker(const MadeBench& made) : made_(made) {
    record::RunInfo info;
    info.demo = "bench";
    info.params = {{"kernel", "all"}, {"panel", made.report ? "all" : "kernels"}};
    info.provenance = {{"device", "Example GPU"}, {"created", "2026-01-01T00:00:00Z"}};
    info.device = made.device;
    info.source = record::Source::kRecorded;
    recording_.set_info(std::move(info));
  }

  record::Recording make() {
    add({.panel = "copy",
         .variant = "copy",
         .pass = "forward",
         .rows = 1,
         .width = 1 << 30,
         .bytes = record::Bytes{2} << 30},
        1);
    for (const std::string_view norm : {"rms_norm", "add_rms_norm", "layer_norm"})
      for (const std::int64_t width : {4096, 16384}) kernel(norm, std::string(norm), 8192, width, "");
    kernel("rope", "rope", 8192, 5120, "Llama 3 8B");
    for (const std::string_view gated : {"swiglu", "geglu"})
      kernel(gated, std::string(gated), 8192, 14336, "Llama 3 8B");
    kernel("cross_entropy", "cross_entropy", 8192, 128256, "");
    products();
    if (made_.report) report();
    if (made_.finished)
      recording_.set_outcome({.kind = record::OutcomeKind::kCompleted, .message = {}, .out_of_memory = {}});
    return std::move(recording_);
  }

 private:
  bool gpu() const { return made_.device == record::DeviceKind::kGpu; }

  void add(record::Measurement row, double times_copy) {
    row.timing = gpu() ? "cold" : "wall";
    row.median = times_copy * static_cast<double>(row.bytes) / kMadeCopyRate * 1e9;
    row.low = row.median * 0.98;
    row.high = row.median * 1.04;
    row.samples = 12;
    recording_.append(row);
    if (!gpu() || row.variant == "copy" || row.panel.starts_with("report.")) return;
    row.timing = "graph";
    recording_.append(row);
    row.timing = "wall";
    for (double* time : {&row.median, &row.low, &row.high}) *time += 20'000;
    recording_.append(row);
  }

  void kernel(std::string_view kernel, const std::string& panel, std::int64_t rows, std::int64_t width,
              const std::string& label) {
    for (const std::string_view pass : {"forward", "full", "backward"}) {
      const record::Bytes tensor = rows * width * 2;
      record::Measurement row{.panel = panel,
                              .kernel = std::string(kernel),
                              .variant = "eager",
                              .pass = std::string(pass),
                              .storage = "bf16",
                              .label = label,
                              .rows = rows,
                              .width = width,
                              .bytes = tensor * (pass == "full"      ? 5
                                                 : pass == "forward" ? 2
                                                                     : 3),
                              .flops = 4.0 * static_cast<double>(rows * width)};
      if (pass != "backward") row.extra_memory = 9 * tensor;
      row.error = 4e-3;
      add(row, kMadeEager);
      row.variant = "library";
      if (row.extra_memory >= 0) row.extra_memory = 3 * tensor;
      add(row, kMadeLibrary);
      row.variant = "fused";
      row.error = 3e-3;
      if (row.extra_memory >= 0) row.extra_memory = 2 * tensor;
      add(row, kMadeFused);
      row.variant = "copy";
      row.extra_memory = -1;
      row.error = -1;
      row.flops = 0;
      add(row, 1);
    }
  }

  void products() {
    record::Measurement row{.panel = "fused_linear_cross_entropy",
                            .kernel = "fused_linear_cross_entropy",
                            .pass = "full",
                            .storage = "bf16",
                            .rows = 8192,
                            .width = 2048,
                            .vocab = 128256,
                            .bytes = 12'000'000'000,
                            .flops = 12.9e12};
    for (const auto& [variant, memory, slower] :
         {std::tuple{"matmul", -1LL, 6.0}, std::tuple{"eager", 12LL << 30, 9.0}, std::tuple{"fused", 250LL << 20, 6.6},
          std::tuple{"fused_fp32", 500LL << 20, 6.7}, std::tuple{"fused_lean", 70LL << 20, 8.4}}) {
      row.variant = variant;
      row.extra_memory = memory;
      add(row, slower);
    }
  }

  void report() {
    for (const std::int64_t hidden : {4096, 8192, 12288, 16384}) {
      kernel("rms_norm", "report.rms_norm", 2048, hidden, "");
      kernel("swiglu", "report.swiglu", 4 * hidden, 11008, "");
    }
  }

  MadeBench made_;
  record::Recording recording_;
};

inline record::Recording made_bench(const MadeBench& made = {}) { return BenchMaker(made).make(); }

}  // namespace headroom::tests
