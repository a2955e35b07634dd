#include "demos/predict/forms/report_form.h"

#include <cmath>

namespace headroom::predict {
namespace {

constexpr double kVocabulary = 128'256;

// fp16 inputs of 16 layers of width 2,048 take 65,536 of these bytes; the rest is one layer's backward pass.
constexpr double kBackwardPerToken = 168'088;
// Hugging Face: checkpoints, two fp32 hidden states and one in fp16. The fused RMSNorm avoids one of the fp32 ones.
constexpr double kLossPerToken = 81'948, kLossPerTokenFused = 73'756;

record::Bytes whole(double bytes) { return std::llround(bytes); }

}  // namespace

std::optional<ReportLoss> report_loss(std::string_view key) {
  if (key == "hf") return ReportLoss::kHuggingFace;
  if (key == "liger_without_flce") return ReportLoss::kLigerWithoutFlce;
  if (key == "liger_all") return ReportLoss::kLigerAll;
  return std::nullopt;
}

ReportPeak report_peak(ReportLoss loss, double batch, std::int64_t seq) {
  const auto t = static_cast<double>(seq);
  const double tokens = batch * t;
  const bool makes_logits = loss != ReportLoss::kLigerAll;
  const double kept = makes_logits ? 4 * kVocabulary * tokens : 0;  // fp32 logits
  ReportPeak peak;
  // Cos and sin per position (2 × 64 × 2 B), ids and labels (2 × 8 B per token).
  peak.end_of_backward = whole(3'596'139'008 + 256 * t + 16 * tokens + kept);
  if (!makes_logits) {
    peak.loss_or_backward = whole(1'589'107'712 + 264 * t + kBackwardPerToken * tokens);
    return peak;
  }
  const double per_token = loss == ReportLoss::kHuggingFace ? kLossPerToken : kLossPerTokenFused;
  // fp32 logits: two tensors of T rows, one of them from the previous step, and two of the shifted T − 1 rows.
  peak.loss_or_backward = whole(908'577'280 + 520 * t + per_token * tokens + 4 * kVocabulary * tokens + kept +
                                8 * kVocabulary * batch * (t - 1));
  return peak;
}

}  // namespace headroom::predict
