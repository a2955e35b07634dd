// Decides whether a training step fits on a card.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "demos/predict/cards/card_names.h"
#include "demos/predict/parallel.h"
#include "demos/record/recording.h"

namespace headroom::predict {

// Memory outside PyTorch's allocator: CUDA context, kernel code, library workspaces.
struct ProcessBytes {
  record::Bytes bytes = 0;
  record::Bytes margin = 0;         // uncertainty in both directions
  std::string_view source;          // GPU on which `bytes` was measured
  record::Bytes communicators = 0;  // part of `bytes`: NCCL's buffers
};
ProcessBytes process_bytes(std::string_view gpu);
// Adds what NCCL takes from a rank: its communicators, and 366 MiB of kernels once (docs/results/ranks-h200.md). With
// 24 blocks 846 MiB; on two axes 1,326 MiB. The margin grows by 15 % of it, which is assumed for other GPUs.
ProcessBytes with_communicators(ProcessBytes process, const ParallelSettings& parallel);

enum class Verdict : std::uint8_t {
  kFits,
  kTooClose,  // within the margin
  kDoesNotFit,
};
std::string_view label_of(Verdict verdict);  // "too close to tell"
std::string_view key_of(Verdict verdict);    // "too_close", in files

struct Fit {
  Verdict verdict = Verdict::kFits;
  record::Bytes limit = 0;  // memory left for the allocator
  // Reserved peak under that limit, or without a limit if the step does not fit.
  record::Bytes reserved = 0;
};

// For steps without a prediction. The margin includes 5 % of the peak, because the closed form omits segments and up to
// 1 % of the rest; 10 % if no run supports the model (`beyond_step`).
Fit fit_of_closed_form(record::Bytes peak, record::Bytes memory, const ProcessBytes& process, bool beyond_step);

// Only cards that are nearly full need another placement.
class FitTest {
 public:
  // `placed`: the requests without a limit, from placed_until_alike().
  FitTest(std::shared_ptr<const record::Recording> requests, std::shared_ptr<const record::Recording> placed);

  // Peaks without a limit.
  record::Bytes allocated() const { return allocated_; }
  record::Bytes reserved() const { return reserved_; }

  // `memory`: as the driver reports it.
  Fit on(record::Bytes memory, const ProcessBytes& process) const;

 private:
  bool holds(record::Bytes limit) const;

  std::shared_ptr<const record::Recording> requests_;
  record::Bytes allocated_ = 0, reserved_ = 0;
};

}  // namespace headroom::predict
