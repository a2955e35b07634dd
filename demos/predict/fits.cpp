// Memory of a process, and the verdict.
#include "demos/predict/fits.h"

#include <algorithm>
#include <array>
#include <bit>

#include "demos/predict/allocator/more_micro_batches.h"
#include "demos/record/ledger.h"

namespace headroom::predict {

using record::Bytes;

namespace {

// Process memory in 260 random runs on an H200 and an H100 (driver 580.159, CUDA 13.0, PyTorch 2.11;
// docs/results/prediction-h200.md): 678 MiB in most, 686 with cuDNN's attention, 748 with offload, 776 with GaLore.
constexpr Bytes kOnHopper = 7 * record::kGiB / 10;
// Margins for Hopper and for other GPUs, for which 0.5 to 1 GiB of process memory is reported.
constexpr Bytes kOtherKernels = record::kGiB / 10, kOtherGpu = 3 * record::kGiB / 10;

// Device memory of a communicator of NCCL 2.28.9 with so many thread blocks, on GPUs of one host with NVLink: in its
// first collectives 12 MiB per block, and before that 6 MiB per block of the next power of two. NCCL uses 24 at most
// (docs/results/ranks-h200.md).
Bytes communicator(int blocks) {
  constexpr unsigned kMost = 24;
  const unsigned used = std::min(static_cast<unsigned>(blocks), kMost);
  return Bytes{12 * used + 6 * std::bit_ceil(used)} * record::kMiB;
}

}  // namespace

ProcessBytes process_bytes(std::string_view gpu) {
  const bool recorded = gpu.find("H200") != std::string_view::npos || gpu.find("H100") != std::string_view::npos;
  return {.bytes = kOnHopper, .margin = recorded ? kOtherKernels : kOtherGpu, .source = "an H200"};
}

ProcessBytes with_communicators(ProcessBytes process, const ParallelSettings& parallel) {
  constexpr Bytes kKernels = 366 * record::kMiB;
  const int axes = (parallel.shards() > 1 ? 1 : 0) + (parallel.copies() > 1 ? 1 : 0);
  if (axes == 0) return process;
  const CommunicatorBlocks& blocks = parallel.blocks;
  const Bytes per_axis = communicator(blocks.sums) + (blocks.one_communicator() ? 0 : communicator(blocks.gathers));
  process.communicators = kKernels + static_cast<Bytes>(axes) * per_axis;
  process.bytes += process.communicators;
  process.margin += process.communicators * 15 / 100;
  return process;
}

std::string_view label_of(Verdict verdict) {
  constexpr std::array<std::string_view, 3> kLabels{"fits", "too close to tell", "does not fit"};
  return kLabels[static_cast<std::size_t>(verdict)];
}

std::string_view key_of(Verdict verdict) {
  constexpr std::array<std::string_view, 3> kKeys{"fits", "too_close", "does_not_fit"};
  return kKeys[static_cast<std::size_t>(verdict)];
}

Fit fit_of_closed_form(Bytes peak, Bytes memory, const ProcessBytes& process, bool beyond_step) {
  const Bytes margin = process.margin + peak / (beyond_step ? 10 : 20), limit = memory - process.bytes;
  const Verdict verdict = peak <= limit - margin   ? Verdict::kFits
                          : peak <= limit + margin ? Verdict::kTooClose
                                                   : Verdict::kDoesNotFit;
  return {.verdict = verdict, .limit = limit, .reserved = peak};
}

FitTest::FitTest(std::shared_ptr<const record::Recording> requests, std::shared_ptr<const record::Recording> placed)
    : requests_(std::move(requests)) {
  const record::Ledger ledger(*placed);
  allocated_ = ledger.peak().totals.allocated;
  reserved_ = std::max(allocated_, ledger.peak_reserved());  // a CPU's allocator has no segments
}

// For limits between allocated_ and reserved_, only placing the requests decides, because the allocator frees cached
// segments before it fails.
bool FitTest::holds(Bytes limit) const {
  if (reserved_ <= limit) return true;
  if (allocated_ > limit || limit <= 0) return false;
  const auto outcome = placed_until_alike(*requests_, limit).outcome();
  return outcome && outcome->kind != record::OutcomeKind::kOutOfMemory;
}

Fit FitTest::on(Bytes memory, const ProcessBytes& process) const {
  Fit fit{.limit = memory - process.bytes, .reserved = reserved_};
  const Bytes least = fit.limit - process.margin, most = fit.limit + process.margin;
  fit.verdict = holds(least) ? Verdict::kFits : holds(most) ? Verdict::kTooClose : Verdict::kDoesNotFit;
  if (fit.verdict == Verdict::kFits) fit.reserved = std::min(reserved_, fit.limit);
  if (fit.verdict == Verdict::kTooClose) fit.reserved = std::min(reserved_, most);
  return fit;
}

}  // namespace headroom::predict
