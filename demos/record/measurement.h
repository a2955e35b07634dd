// A measured time with its shape and setting: one row of a benchmark.
#pragma once

#include <cstdint>
#include <string>

#include "demos/record/units.h"

namespace headroom::record {

struct Measurement {
  // Panels that are no kernel's. `variant` then says what was timed, `storage` how its memory was kept.
  static constexpr const char* kCopy = "copy";            // a large copy, which kernels are compared with
  static constexpr const char* kBandwidth = "bandwidth";  // one link: "to_host", "file_read", …; "locked", "direct", …
  static constexpr const char* kOffloadFile =
      "offload_file";  // one step's states: "file_read", "file_write"; "direct", …
  static constexpr const char* kStepBound = "step_bound";    // one product of a training step
  static constexpr const char* kProductRates = "product_rates";  // a square product in one number format
  static constexpr const char* kEditKernel = "edit_kernel";  // the reader's kernel and what it is compared with

  std::string panel;    // the picture it belongs to: "rms_norm", "report.swiglu", or one of the above
  std::string kernel;   // "rms_norm", as in `headroom list`; empty for what is no kernel of ours (a copy)
  std::string variant;  // "eager", "fused", "library", "copy", "matmul", …
  std::string pass;     // "forward", "backward", "full"
  std::string timing;   // "cold": L2 flushed, device time; "graph": replayed; "wall": by the host's clock
  std::string storage;  // "fp32", "bf16", "fp16"
  std::string label;    // what the shape is of: "Llama 3.2 1B"; may be empty
  std::int64_t rows = 0, width = 0, vocab = 0;  // as kernels::Shape
  double median = 0, low = 0, high = 0;         // ns; quantiles 0.5, 0.2, 0.8
  std::int64_t samples = 0;                     // repeats behind the quantiles
  Bytes bytes = 0;                              // that one call must move at least; 0: not a matter of bytes
  double flops = 0;                             // of one call; 0: not a matter of arithmetic
  Bytes extra_memory = -1;                      // highest allocation beside the inputs; negative: not measured
  double error = -1;                            // against float64, relative to its largest; negative: not measured

  bool operator==(const Measurement&) const = default;
};

// Times and amounts are finite and not negative: JSON has no other numbers, and a figure divides by them.
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
