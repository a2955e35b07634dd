// Numbers that others published, beside which figures set their own. The rows are those of assets/published, compiled
// in, so that figures stay pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::lessons {

// One point of the Liger paper's kernel benchmarks: assets/published/liger_a100.csv has hardware, shapes, exactness.
struct PublishedKernel {
  std::string_view panel;           // as in `headroom list`: "rms_norm"
  std::string_view implementation;  // "huggingface", "liger"
  std::int64_t x;                   // vocabulary, tokens per sequence, or hidden size
  double milliseconds;              // forward and backward, median of ten
  record::Bytes peak;               // allocated, inputs and weights included
};

std::span<const PublishedKernel> published_kernels();

// One run of the report on Liger Kernel: assets/published/report_2024.csv has machine, settings, exactness.
struct PublishedRun {
  std::string_view experiment;  // "batch", "sequence", "timeline", "repeat"; "checkpoints", "logits_x3" are arithmetic
  std::string_view figures;     // of the report: "13_16"
  std::string_view strategy;    // "hf", "liger_without_flce", "liger_all", "formula"
  std::int64_t batch, seq;
  record::Bytes peak;        // allocated; 0: no number
  double tokens_per_second;  // 0: no number
  bool out_of_memory;
};

std::span<const PublishedRun> published_runs();

// One bar of the Liger paper's training of Llama 3 8B: assets/published/liger_8b.csv has set-up and exactness.
struct PublishedTraining {
  std::string_view implementation;  // "huggingface", "liger"
  std::int64_t batch;
  record::Bytes peak;
  double tokens_per_second;
};

std::span<const PublishedTraining> published_trainings();

// One point of the Harmony paper's memory over the minibatch: assets/published/harmony_2022.csv has how it is known.
struct PublishedStep {
  std::string_view model;  // "bert96", "gpt2"
  std::int64_t minibatch;
  record::Bytes weights, gradients, optimizer_state, activations;
  record::Bytes card;  // a line in the figure
};

std::span<const PublishedStep> published_steps();

}  // namespace headroom::lessons
