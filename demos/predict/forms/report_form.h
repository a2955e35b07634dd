// Closed form of the peaks that the report on Liger Kernel measured for Llama 3.2 1B: fp16 mixed precision, every
// layer checkpointed, weights and optimizer state on the host. Slopes are sums of tensors, named at each term;
// constants are fitted. The form matches 21 published points to the byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::predict {

enum class ReportLoss { kHuggingFace, kLigerWithoutFlce, kLigerAll };

// Accepts "hf", "liger_without_flce", "liger_all", as in the published table; otherwise returns nullopt.
std::optional<ReportLoss> report_loss(std::string_view key);

// Allocated bytes; the greater number is the peak.
struct ReportPeak {
  record::Bytes loss_or_backward = 0;  // the loss, or with FLCE the first layers of the backward pass
  record::Bytes end_of_backward = 0;   // all gradients, before the optimizer

  record::Bytes bytes() const { return loss_or_backward > end_of_backward ? loss_or_backward : end_of_backward; }
};

// A fractional `batch` interpolates. The previous step's logits are still referenced.
ReportPeak report_peak(ReportLoss loss, double batch, std::int64_t seq);

}  // namespace headroom::predict
