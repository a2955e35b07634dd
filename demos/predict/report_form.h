// Closed form of the peaks that the report on Liger Kernel measured with Llama 3.2 1B: fp16 mixed precision, every layer
// checkpointed, weights and optimizer state on the host. The slopes are those of the tensors (named at each term); the
// constants were fitted to the published points, 21 of which it meets to the byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::predict {

// How one of the report's strategies computes the loss.
enum class ReportLoss { kHuggingFace, kLigerWithoutFlce, kLigerAll };

// "hf", "liger_without_flce", "liger_all", as in the published table and in a sweep's series; empty: another word.
std::optional<ReportLoss> report_loss(std::string_view key);

// Bytes allocated at the highest, by where: the greater of the two is the peak.
struct ReportPeak {
  record::Bytes loss_or_backward = 0;  // without FLCE the loss, with it the first layers of backward
  record::Bytes end_of_backward = 0;   // gradients gathered for the optimizer

  record::Bytes bytes() const { return loss_or_backward > end_of_backward ? loss_or_backward : end_of_backward; }
};

// `batch` may be a fraction: a line between two batches. Where logits are made, those of the step before are still
// referenced.
ReportPeak report_peak(ReportLoss loss, double batch, std::int64_t seq);

}  // namespace headroom::predict
