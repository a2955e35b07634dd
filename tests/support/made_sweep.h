// Hand-made sweeps with round numbers.
#pragma once

#include <numeric>
#include <string>

#include "demos/record/recording.h"

namespace headroom::tests {

struct MadeSweep {
  bool llama_1b = true;  // false: the tiny model, without published numbers
  bool finished = true;
};

inline record::SweepPoint made_point(std::string series, std::string label, record::ByCategory bytes, double speed) {
  record::SweepPoint point;
  point.series = std::move(series);
  point.label = std::move(label);
  point.peak.by_category = bytes;
  point.peak.allocated = std::accumulate(bytes.begin(), bytes.end(), record::Bytes{0});
  point.peak.requested = point.peak.allocated;
  point.peak.reserved = point.peak.allocated + record::kMiB;
  point.peak.phase = record::Phase::kLoss;
  point.tokens_per_second = speed;
  point.tokens_per_second_low = 0.9 * speed;
  point.tokens_per_second_high = 1.1 * speed;
  point.loss = 5.25;
  point.steps = 3;
  if (speed == 0) point.outcome = {record::OutcomeKind::kOutOfMemory, "It did not fit.", std::nullopt};
  if (speed == 0) point.loss.reset();
  return point;
}

inline record::Recording made_sweep(std::string name, const MadeSweep& made) {
  record::RunInfo info;
  info.demo = "train_step";
  info.params = {{"model", made.llama_1b ? "llama-3.2-1b" : "tiny"}, {"precision", "bf16"}};
  info.provenance = {{"sweep", std::move(name)}, {"gpu", "Example GPU"}, {"created", "2026-01-01T00:00:00Z"}};
  info.device = record::DeviceKind::kGpu;
  info.source = record::Source::kRecorded;
  return record::Recording(std::move(info));
}

// "hf" and "liger_without_flce" run out of memory at 16 × 1024 and 4 × 4096 tokens, "liger_all" never does. A token
// takes 2 MiB of logits, or 128 KiB of activations in "liger_all". The cap is 23 GiB.
inline record::Recording made_report_sweep(const MadeSweep& made = {}) {
  record::Recording sweep = made_sweep("report", made);
  record::RunInfo info = sweep.info();
  info.cap = 23 * record::kGiB;
  sweep.set_info(info);
  for (const std::string series : {"hf", "liger_without_flce", "liger_all"})
    for (const auto& [batch, seq] : {std::pair{1, 1024},
                                     {4, 1024},
                                     {8, 1024},
                                     {16, 1024},
                                     {112, 1024},
                                     {4, 512},
                                     {4, 2048},
                                     {4, 4096},
                                     {4, 12288}}) {
      const record::Bytes tokens = batch * seq;
      const bool all = series == "liger_all", fits = all || tokens < 16 * 1024;
      record::ByCategory bytes{record::kGiB, 0, record::kGiB};
      bytes[all ? 3 : 4] = fits ? tokens * (all ? 128 * record::kKiB : 2 * record::kMiB) : 20 * record::kGiB;
      record::SweepPoint point = made_point(series, std::to_string(batch) + " × " + std::to_string(seq), bytes,
                                            fits ? static_cast<double>(tokens) / 4 : 0);
      point.params = {{"batch", std::to_string(batch)}, {"seq", std::to_string(seq)}};
      sweep.append(point);
    }
  if (made.finished) sweep.set_outcome({});
  return sweep;
}

// Rungs: naive (out of memory), 32 GiB, 16 GiB, 20 GiB (slower), refused, engine lost, 8 GiB.
inline record::Recording made_ladder(const MadeSweep& made = {}) {
  record::Recording sweep = made_sweep("ladder", made);
  const auto rung = [&](const char* label, record::Bytes gib, double speed) {
    const record::Bytes quarter = gib * record::kGiB / 4;
    sweep.append(made_point("ladder", label, {quarter, quarter, quarter, quarter}, speed));
  };
  const auto failed = [&](const char* label, record::OutcomeKind outcome) {
    record::SweepPoint point = made_point("ladder", label, {}, 1);
    point.tokens_per_second = point.tokens_per_second_low = point.tokens_per_second_high = 0;
    point.loss.reset();
    point.outcome = {outcome, "It does not go with what is below it.", std::nullopt};
    sweep.append(point);
  };
  rung("naive", 30, 0);
  rung("flash_attention", 32, 20'000);
  rung("flce", 16, 30'000);
  rung("checkpointing", 20, 25'000);
  failed("adamw_8bit", record::OutcomeKind::kRefused);
  failed("bf16", record::OutcomeKind::kEngineLost);
  rung("optimizer_in_backward", 8, 24'000);
  if (made.finished) sweep.set_outcome({});
  return sweep;
}

// A sweep over four losses, by name; the last runs out of memory.
inline record::Recording made_loss_sweep() {
  record::Recording sweep = made_sweep("loss", {});
  record::Bytes gib = 1;
  for (const std::string loss : {"flce", "plain", "hf_2025", "hf_2024"}) {
    record::SweepPoint point =
        made_point("", "loss=" + loss,
                   {record::kGiB, 2 * record::kGiB, record::kGiB, gib * record::kGiB, 2 * gib * record::kGiB, 1000},
                   gib == 8 ? 0 : 100.0 * static_cast<double>(gib));
    point.params = {{"loss", loss}};
    sweep.append(point);
    gib *= 2;
  }
  sweep.set_outcome({});
  return sweep;
}

// A sweep over checkpoint_every: the 1B in bf16, 4 sequences of 1,024 tokens, activations 64 MiB above the closed form.
inline record::Recording made_checkpoint_sweep() {
  record::Recording sweep = made_sweep("checkpoint_every", {});
  for (const int k : {1, 2, 4, 8}) {
    const record::Bytes closed = (16 / k) * 16'777'216LL + k * 445'153'280LL;
    record::SweepPoint point = made_point("", "checkpoint_every=" + std::to_string(k),
                                          {record::kGiB, record::kGiB, 0, closed + 64 * record::kMiB}, 1000);
    point.params = {
        {"checkpointing", "every"}, {"checkpoint_every", std::to_string(k)}, {"batch", "4"}, {"seq", "1024"}};
    sweep.append(point);
  }
  sweep.set_outcome({});
  return sweep;
}

// A sweep of one series, or of one per sequence length; the last batch runs out of memory.
inline record::Recording made_batch_sweep(int series, const MadeSweep& made = {}) {
  record::Recording sweep = made_sweep(series > 1 ? "batch × seq" : "batch", made);
  for (int s = 0; s < series; ++s)
    for (const int batch : {1, 2, 4, 8}) {
      record::SweepPoint point = made_point(
          series > 1 ? "seq=" + std::to_string(256 << s) : "", "batch=" + std::to_string(batch),
          {record::kGiB, 2 * record::kGiB, record::kGiB, batch * record::kGiB, 2 * batch * record::kGiB, 1000},
          batch == 8 ? 0 : 100.0 * batch);
      point.params = {{"batch", std::to_string(batch)}};
      sweep.append(point);
    }
  if (made.finished) sweep.set_outcome({});
  return sweep;
}

}  // namespace headroom::tests
