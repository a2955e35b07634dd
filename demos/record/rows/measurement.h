// A row of a benchmark: a measured time with its shape and setting.
#pragma once

#include <cstdint>
#include <string>

#include "demos/record/units.h"

namespace headroom::record {

struct Measurement {
  // Panels without a kernel. Lists name variants (what was timed), then storages (how its memory was allocated).
  static constexpr const char* kCopy = "copy";            // a large copy, for comparison
  static constexpr const char* kBandwidth = "bandwidth";  // a link: "to_host", "file_read", …; "locked", "direct", …
  static constexpr const char* kOffloadFile =
      "offload_file";  // one step's states: "file_read", "file_write"; "direct", …
  static constexpr const char* kStepBound = "step_bound";        // a GEMM of a training step
  static constexpr const char* kProductRates = "product_rates";  // a square GEMM in one number format
  static constexpr const char* kEditKernel = "edit_kernel";      // the reader's kernel and its competitors

  std::string panel;    // "rms_norm", "report.swiglu", or one of the above
  std::string kernel;   // as in `headroom list`; empty if none of ours (a copy)
  std::string variant;  // "eager", "fused", "library", "copy", "matmul", …
  std::string pass;     // "forward", "backward", "full"
  std::string timing;   // "cold": L2 flushed, device time; "graph": replayed; "wall": host clock
  std::string storage;  // "fp32", "bf16", "fp16"
  std::string label;    // name of the shape: "Llama 3.2 1B"; may be empty
  std::int64_t rows = 0, width = 0, vocab = 0;  // as in kernels::Shape
  double median = 0, low = 0, high = 0;         // ns; quantiles 0.5, 0.2, 0.8
  std::int64_t samples = 0;
  Bytes bytes = 0;          // least bytes moved per call; 0: not applicable
  double flops = 0;         // per call; 0: not applicable
  Bytes extra_memory = -1;  // peak beyond the inputs; negative: not measured
  double error = -1;        // deviation from float64, relative to its largest value; negative: not measured

  bool operator==(const Measurement&) const = default;
};

// Times and amounts are finite and non-negative: JSON has no others, and figures divide by them.
template <class Io>
void fields(Io& io, Measurement& m) {
  io.text("panel", m.panel);
  io.text("kernel", m.kernel);
  io.text("variant", m.variant);
  io.text("pass", m.pass);
  io.text("timing", m.timing);
  io.text("storage", m.storage);
  io.text("label", m.label);
  io.whole("rows", m.rows, kMostBytes);
  io.whole("width", m.width, kMostBytes);
  io.whole("vocab", m.vocab, kMostBytes);
  io.real("median", m.median);
  io.real("low", m.low);
  io.real("high", m.high);
  io.whole("samples", m.samples, kMostBytes);
  io.whole("bytes", m.bytes, kMostBytes);
  io.real("flops", m.flops);
  io.measured("error", m.error);
  io.measured("extra_memory", m.extra_memory, kMostBytes);
  io.check(m.low <= m.median && m.median <= m.high, "the order of low, median and high");
}

}  // namespace headroom::record
