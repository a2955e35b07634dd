// Published numbers that figures compare with: rows of assets/published, compiled in so that figures stay pure
// functions. The CSV files state machines, settings and exactness.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::lessons {

// A point of the Liger paper's kernel benchmarks (liger_a100.csv).
struct PublishedKernel {
  std::string_view panel;           // as in `headroom list`: "rms_norm"
  std::string_view implementation;  // "huggingface", "liger"
  std::int64_t x;                   // vocabulary, tokens per sequence, or hidden size
  double milliseconds;              // forward and backward, median of ten
  record::Bytes peak;               // allocated, inputs and weights included
};

std::span<const PublishedKernel> published_kernels();

// A run of the report on Liger Kernel (report_2024.csv).
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

// A bar of the Liger paper's training of Llama 3 8B (liger_8b.csv).
struct PublishedTraining {
  std::string_view implementation;  // "huggingface", "liger"
  std::int64_t batch;
  record::Bytes peak;
  double tokens_per_second;
};

std::span<const PublishedTraining> published_trainings();

// A point of the Harmony paper's memory over the minibatch (harmony_2022.csv).
struct PublishedStep {
  std::string_view model;  // "bert96", "gpt2"
  std::int64_t minibatch;
  record::Bytes weights, gradients, optimizer_state, activations;
  record::Bytes card;  // a line in the figure
};

std::span<const PublishedStep> published_steps();

}  // namespace headroom::lessons
