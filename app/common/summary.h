// A run in a few numbers: what the command line prints, what the window shows at a run's end, and its JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "demos/record/ledger.h"
#include "demos/record/recording.h"
#include "demos/record/units.h"

namespace headroom::app {

struct RunSummary {
  std::string demo;
  record::Outcome outcome;  // of a recording without one (still growing, or cut off): engine_lost, with the reason
  record::Source source = record::Source::kRecorded;
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> provenance;
  std::string device;  // its name, else "gpu" or "cpu"

  // Over the whole run; block bytes, bytes asked for, segments held (0 where the allocator has none).
  record::Bytes peak = 0;
  record::Bytes peak_requested = 0;
  record::Bytes peak_reserved = 0;
  record::ByCategory peak_by_category{};        // adds up to `peak`
  record::Bytes peak_host = 0;                  // that the run took of the host beside its device
  std::optional<record::Bytes> allocator_peak;  // highest total that the allocator reported itself, if it did

  int steps = 0;                                      // whole steps
  std::optional<record::Quantity> tokens_per_second;  // median, 20/80 %; without the first step, which warms up
  std::optional<double> loss;                         // of the last step
  std::vector<std::optional<double>> losses;  // of each step; none: it changed nothing, or the loss is no number
  std::map<int, std::optional<double>> evaluation_losses;  // behind so many steps; none: the loss is no number
  std::string tokens;                                 // what was trained on: "ids of a.npy"; empty: not known
  bool bytes_as_tokens = false;                       // a checkpoint was given bytes, not its tokenizer's ids
  std::optional<double> loss_scale;                   // of the last step, where the loss is scaled
  std::int64_t skipped_steps = 0;                     // that changed nothing, because a gradient overflowed
  std::optional<double> overflow_scale;               // the highest loss scale of a skipped step
  std::optional<record::KernelReport> kernel_report;  // of a run that compiles the reader's kernel
  std::vector<record::Measurement> bandwidths;  // of a run that measures them; of the state's file, over all steps
  std::uint64_t events = 0;
  std::uint64_t dropped_events = 0;
};

RunSummary summarise(const record::Ledger& ledger);

// Step times or speeds: median, 20/80 %, without the first step, which warms up. Of a run of one step that one, without a
// spread; empty: none was measured.
std::optional<record::Quantity> over_steps(const record::Recording& recording, record::MetricKind kind);

// One JSON document: outcome, peak_bytes, peak_requested_bytes, peak_reserved_bytes, peak_host_bytes,
// peak_by_category, tokens_per_second, loss (of the last step), losses (of each, null where RunSummary has none),
// evaluation_losses (a list of {"steps", "loss"}), device, provenance and the rest of the summary. Ends with a newline.
std::string to_json(const RunSummary& summary);

// A few lines for a person.
std::string to_text(const RunSummary& summary);

// What ran out, where and what was alive: one paragraph.
std::string explain(const record::OutOfMemoryFacts& facts);

}  // namespace headroom::app
