// Numbers that figures compare with: published ones (assets/published), predicted steps (assets/predicted) and
// validated runs (docs/results/prediction). The tables are compiled in, so that figures stay pure functions. The CSV
// files state machines, settings and exactness.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::lessons {

// A point of the Liger paper's kernel benchmarks (liger_a100.csv).
struct PublishedKernel {
  std::string panel;           // as in `headroom list`: "rms_norm"
  std::string implementation;  // "huggingface", "liger"
  std::int64_t x;              // vocabulary, tokens per sequence, or hidden size
  double milliseconds;         // forward and backward, median of ten
  record::Bytes peak;          // allocated, inputs and weights included
};

std::span<const PublishedKernel> published_kernels();

// A run of the report on Liger Kernel (report_2024.csv).
struct PublishedRun {
  std::string experiment;  // "batch", "sequence", "timeline", "repeat"; "checkpoints" and "logits_x3" are arithmetic
  std::string figures;     // the report's figures: "13_16"
  std::string strategy;    // "hf", "liger_without_flce", "liger_all", "formula"
  std::int64_t batch, seq;
  record::Bytes peak;        // allocated; 0: no number
  double tokens_per_second;  // 0: no number
  bool out_of_memory;
};

std::span<const PublishedRun> published_runs();

// A bar of the Liger paper's training of Llama 3 8B (liger_8b.csv).
struct PublishedTraining {
  std::string implementation;  // "huggingface", "liger"
  std::int64_t batch;
  record::Bytes peak;
  double tokens_per_second;
};

std::span<const PublishedTraining> published_trainings();

// A point of the Harmony paper's memory against the minibatch (harmony_2022.csv).
struct PublishedStep {
  std::string model;  // "bert96", "gpt2"
  std::int64_t minibatch;
  record::Bytes weights, gradients, optimizer_state, activations;
  record::Bytes card;  // the card's memory, a line in the paper
};

std::span<const PublishedStep> published_steps();

// The report's step at a batch around the largest that fits (borders.csv).
struct PredictedStep {
  bool expandable;  // `expandable_segments`
  std::int64_t batch;
  record::Bytes blocks;  // peak of bytes in blocks without a limit
  record::Bytes asked;   // the request that failed under the report's limit; 0: none
  record::Bytes free;    // bytes within the limit that were not in blocks then
};

std::span<const PredictedStep> predicted_steps();

// A run that was predicted before it was made, and completed.
struct ValidatedRun {
  std::string_view gpu;     // "H200"
  std::string settings;     // "model=custom batch=5 seq=116 …"
  record::Bytes predicted;  // peak reserved by the allocator
  record::Bytes measured;
};

std::span<const ValidatedRun> validated_runs();

}  // namespace headroom::lessons
