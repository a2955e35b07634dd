// Chapter: the techniques that make a step fit, one page each; the ladder of all of them; the report's experiment.
#include <array>

#include "lessons/chapter.h"
#include "lessons/moment_errors.h"
#include "lessons/sweep.h"

namespace headroom::lessons {
namespace {

using Id = std::string_view;

// The plain steps that techniques are compared with: the tiny model's on a CPU, and the 1B model's on an H200 in fp32
// and in bf16.
constexpr std::array kBases{Id("technique_plain_cpu"), Id("technique_plain_h200")};

// The peak of the last step, in bytes. A run that ended before a step was whole has no answer.
double peak_of_step(const record::Ledger& run) {
  const auto steps = record::steps_of(run.recording());
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    if (step->complete) return static_cast<double>(run.peak(step->first, step->last).totals.allocated);
  return -1;
}

constexpr Prediction kPeak{.figure = "memory_timeline", .low = 0, .high = 128.0 * record::kGiB, .answer = peak_of_step};

constexpr std::array kStepFigures{Id("memory_timeline"), Id("peak_by_category"), Id("formula_table"),
                                  Id("loss_curves")};

// --- mixed precision

constexpr std::array kPrecisionFigures{Id("memory_timeline"), Id("gradient_histogram"), Id("peak_by_category"),
                                       Id("formula_table"), Id("loss_curves")};
constexpr std::array kPrecisionRecordings{Id("technique_bf16_mixed_cpu"),       Id("technique_plain_cpu"),
                                          Id("technique_fp16_mixed_cpu"),       Id("technique_bf16_stochastic_cpu"),
                                          Id("technique_fp16_mixed_h200"),      Id("technique_bf16_mixed_h200"),
                                          Id("technique_bf16_stochastic_h200"), Id("technique_plain_h200")};
constexpr std::array kPrecisionSettings{Setting{"precision", "bf16_mixed"}, Setting{"histogram", "on"}};
constexpr std::array kPrecisionSwitches{Id("precision"),         Id("rounding"),      Id("loss_scale"),
                                        Id("loss_scale_window"), Id("learning_rate"), Id("histogram")};
constexpr Page kMixedPrecision{.id = "mixed_precision",
                               .title = "Half the bits: mixed precision",
                               .text = "mixed_precision.md",
                               .demo = "train_step",
                               .figures = kPrecisionFigures,
                               .recordings = kPrecisionRecordings,
                               .prediction = &kPeak,
                               .settings = kPrecisionSettings,
                               .switches = kPrecisionSwitches,
                               .bases = kBases};

// --- what the optimizer keeps

constexpr std::array kStateRecordings{Id("technique_adamw_8bit_cpu"),
                                      Id("technique_plain_cpu"),
                                      Id("technique_optimizer_in_backward_cpu"),
                                      Id("technique_adamw_8bit_h200"),
                                      Id("technique_optimizer_in_backward_h200"),
                                      Id("technique_plain_h200")};
constexpr std::array kStateSettings{Setting{"optimizer", "adamw_8bit"}};
constexpr std::array kStateSwitches{Id("optimizer"), Id("optimizer_in_backward"), Id("precision"), Id("moments")};
constexpr Page kOptimizerStates{.id = "optimizer_states",
                                .title = "What the optimizer remembers",
                                .text = "optimizer_states.md",
                                .demo = "train_step",
                                .figures = kStepFigures,
                                .recordings = kStateRecordings,
                                .prediction = &kPeak,
                                .settings = kStateSettings,
                                .switches = kStateSwitches,
                                .bases = kBases};

// --- what 8 bits keep

// Of the first moment, in dynamic levels with a scale for each 256 numbers.
double error_of_dynamic(const record::Ledger& run) { return first_moment_error(run.recording(), true, 256); }

constexpr Prediction kMomentError{
    .figure = "state_error_map", .low = 0, .high = 100, .answer = error_of_dynamic, .unit = AxisUnit::kPercent};
constexpr std::array kMomentFigures{Id("state_error_map"), Id("moment_bytes"), Id("memory_timeline")};
constexpr std::array kMomentRecordings{Id("moments_cpu")};
constexpr Page kMoments{.id = "eight_bits",
                        .title = "What eight bits keep",
                        .text = "moments.md",
                        .demo = "moments",
                        .figures = kMomentFigures,
                        .recordings = kMomentRecordings,
                        .prediction = &kMomentError};

// --- keep or compute again

constexpr std::array kCheckpointRecordings{
    Id("technique_checkpointing_layer_cpu"),  Id("technique_plain_cpu"),
    Id("technique_checkpointing_every_cpu"),  Id("technique_checkpointing_selective_cpu"),
    Id("technique_accumulate_cpu"),           Id("technique_checkpointing_layer_h200"),
    Id("technique_checkpointing_every_h200"), Id("technique_checkpointing_selective_h200"),
    Id("technique_accumulate_h200"),          Id("technique_plain_h200")};
constexpr std::array kCheckpointSettings{Setting{"checkpointing", "layer"}};
constexpr std::array kCheckpointSwitches{Id("checkpointing"), Id("checkpoint_every"), Id("accumulate"),
                                         Id("attention")};
constexpr Page kCheckpointing{.id = "checkpointing",
                              .title = "Keep it, or compute it again",
                              .text = "checkpointing.md",
                              .demo = "train_step",
                              .figures = kStepFigures,
                              .recordings = kCheckpointRecordings,
                              .prediction = &kPeak,
                              .settings = kCheckpointSettings,
                              .switches = kCheckpointSwitches,
                              .bases = kBases};

// --- the needle

constexpr std::array kLossRecordings{Id("technique_loss_hf_2024_cpu"),  Id("technique_plain_cpu"),
                                     Id("technique_loss_hf_2025_cpu"),  Id("technique_loss_flce_cpu"),
                                     Id("technique_loss_hf_2024_h200"), Id("technique_loss_hf_2025_h200"),
                                     Id("technique_loss_flce_h200"),    Id("technique_plain_h200")};
constexpr std::array kLossSettings{Setting{"loss", "hf_2024"}};
constexpr std::array kLossSwitches{Id("loss"), Id("keep_output"), Id("loss_mode"), Id("loss_chunk"),
                                   Id("fused.cross_entropy")};
constexpr Page kLossPaths{.id = "loss_paths",
                          .title = "Four ways to the loss",
                          .text = "loss_paths.md",
                          .demo = "train_step",
                          .figures = kStepFigures,
                          .recordings = kLossRecordings,
                          .prediction = &kPeak,
                          .settings = kLossSettings,
                          .switches = kLossSwitches,
                          .bases = kBases};

// --- the host's memory

constexpr std::array kOffloadRecordings{Id("technique_offload_cpu"),
                                        Id("technique_plain_cpu"),
                                        Id("technique_offload_optimizer_cpu"),
                                        Id("technique_offload_h200"),
                                        Id("technique_offload_optimizer_h200"),
                                        Id("technique_offload_checkpoints_h200"),
                                        Id("technique_plain_h200")};
constexpr std::array kOffloadSettings{Setting{"checkpointing", "layer"}, Setting{"offload.optimizer", "host"},
                                      Setting{"offload.parameters", "on"}};
constexpr std::array kOffloadSwitches{Id("offload.optimizer"), Id("offload.parameters"), Id("offload.checkpoints"),
                                      Id("checkpointing"), Id("precision")};
constexpr Page kOffload{.id = "offload",
                        .title = "The host's memory",
                        .text = "offload.md",
                        .demo = "train_step",
                        .figures = kStepFigures,
                        .recordings = kOffloadRecordings,
                        .prediction = &kPeak,
                        .settings = kOffloadSettings,
                        .switches = kOffloadSwitches,
                        .bases = kBases};

// --- the roads

// Bytes a second from the host's page-locked memory to the GPU; of a machine without one, from a file.
double next_road(const record::Ledger& run) {
  double file = -1;
  for (const record::Measurement& row : run.recording().measurements()) {
    if (row.median <= 0) continue;
    const double rate = static_cast<double>(row.bytes) / row.median * 1e9;
    if (row.variant == "to_device" && row.storage != "pageable") return rate;
    if (row.variant == "file_read") file = rate;
  }
  return file;
}

constexpr Prediction kRoad{
    .figure = "bandwidth_ladder", .low = 1e6, .high = 1e13, .answer = next_road, .unit = AxisUnit::kBytesPerSecond};
constexpr std::array kRoadFigures{Id("bandwidth_ladder"), Id("offload_times")};
constexpr std::array kRoadRecordings{Id("bandwidth_h200"), Id("bandwidth_cpu")};
constexpr Page kRoads{.id = "bandwidth_of_this_machine",
                      .title = "How wide are the roads?",
                      .text = "bandwidth.md",
                      .demo = "bandwidth",
                      .figures = kRoadFigures,
                      .recordings = kRoadRecordings,
                      .prediction = &kRoad};

// --- low rank

constexpr std::array kLowRankRecordings{
    Id("technique_lora_cpu"),  Id("technique_plain_cpu"),  Id("technique_qlora_cpu"),   Id("technique_galore_cpu"),
    Id("technique_lora_h200"), Id("technique_qlora_h200"), Id("technique_galore_h200"), Id("technique_plain_h200")};
constexpr std::array kLowRankSettings{Setting{"adapters", "lora"}};
constexpr std::array kLowRankSwitches{Id("adapters"),  Id("lora_rank"),   Id("lora_targets"),
                                      Id("optimizer"), Id("galore_rank"), Id("galore_interval")};
constexpr Page kLowRank{.id = "low_rank",
                        .title = "Fewer numbers to train",
                        .text = "low_rank.md",
                        .demo = "train_step",
                        .figures = kStepFigures,
                        .recordings = kLowRankRecordings,
                        .prediction = &kPeak,
                        .settings = kLowRankSettings,
                        .switches = kLowRankSwitches,
                        .bases = kBases};

// --- all of them

// The peak of the last rung that goes with those above it; of a ladder that did not get to its end, none.
double end_of_ladder(const record::Ledger& run) {
  const auto& outcome = run.recording().outcome();
  if (!outcome || outcome->kind != record::OutcomeKind::kCompleted) return -1;
  const auto& points = run.recording().sweep_points();
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    if (point->series == "ladder" && completed(*point)) return static_cast<double>(point->peak_allocated);
  return -1;
}

constexpr Prediction kLastRung{
    .figure = "ladder_waterfall", .low = 0, .high = 1024.0 * record::kGiB, .answer = end_of_ladder};
constexpr std::array kLadderFigures{Id("ladder_waterfall"), Id("formula_table")};
constexpr std::array kLadderRecordings{Id("ladder_h200"), Id("ladder_cpu")};
// The first rung's, for the formula.
constexpr std::array kLadderSettings{Setting{"attention", "eager"}};
constexpr std::array kLadderSwitches{Id("model"), Id("batch"), Id("seq"), Id("steps"), Id("device"), Id("cap")};
constexpr std::array kLadderWidgets{Id("ladder"), Id("settings")};
constexpr Page kLadder{.id = "ladder",
                       .title = "A ladder of switches",
                       .text = "ladder.md",
                       .demo = "train_step",
                       .figures = kLadderFigures,
                       .recordings = kLadderRecordings,
                       .prediction = &kLastRung,
                       .settings = kLadderSettings,
                       .switches = kLadderSwitches,
                       .widgets = kLadderWidgets};

// --- the report

// The peak with all kernels at the largest batch that the code of 2024 still reaches.
double all_kernels_peak(const record::Ledger& run) {
  const auto& points = run.recording().sweep_points();
  std::int64_t batch = -1, seq = -1;
  for (const SweepPoint& point : points) {
    if (point.series != "hf" || !completed(point) || setting(point, "batch") <= batch) continue;
    batch = setting(point, "batch");
    seq = setting(point, "seq");
  }
  for (const SweepPoint& point : points)
    if (point.series == "liger_all" && completed(point) && setting(point, "batch") == batch &&
        setting(point, "seq") == seq)
      return static_cast<double>(point.peak_allocated);
  return -1;
}

constexpr Prediction kReportPeak{
    .figure = "report_batch", .low = 0, .high = 128.0 * record::kGiB, .answer = all_kernels_peak};
constexpr std::array kReportFigures{Id("report_batch"), Id("report_sequence"), Id("report_estimate")};
constexpr std::array kReportRecordings{Id("report_h200"), Id("report_quick_cpu")};

constexpr std::array kReportWidgets{Id("report")};
constexpr Page kReport{.id = "report",
                       .title = "The report's experiment",
                       .text = "report.md",
                       .demo = "train_step",
                       .figures = kReportFigures,
                       .recordings = kReportRecordings,
                       .prediction = &kReportPeak,
                       .command = "headroom report --out DIR",
                       .widgets = kReportWidgets};

constexpr std::array<const Page*, 10> kPages{&kMixedPrecision, &kOptimizerStates, &kMoments, &kCheckpointing,
                                             &kLossPaths,      &kOffload,         &kRoads,   &kLowRank,
                                             &kLadder,         &kReport};

}  // namespace

extern const Chapter kMakingItFit;
constinit const Chapter kMakingItFit{
    .id = "making_it_fit",
    .title = "Making it fit",
    .pages = kPages,
};

}  // namespace headroom::lessons
