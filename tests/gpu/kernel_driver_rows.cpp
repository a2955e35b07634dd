// Drives the norms, cross entropy, its fusion with the output layer, and the embedding's gradient.
#include <cmath>
#include <utility>

#include "kernels/add_rms_norm/add_rms_norm.h"
#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/embedding_backward/embedding_backward.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/rms_norm/rms_norm.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

namespace {

using kernels::CrossEntropyVariant;
using kernels::FlceMode;
using kernels::Storage;

struct Norm {
  const char* name;
  bool adds, is_layer;
  int (*forward)(const kernels::NormForward&, CUstream_st*);
  int (*backward)(const kernels::NormBackward&, CUstream_st*);
};
constexpr Norm kRms{"rms_norm", false, false, &kernels::rms_norm_forward_cuda, &kernels::rms_norm_backward_cuda};
constexpr Norm kAddRms{"add_rms_norm", true, false, &kernels::add_rms_norm_forward_cuda,
                       &kernels::rms_norm_backward_cuda};
constexpr Norm kLayer{"layer_norm", false, true, &kernels::layer_norm_forward_cuda, &kernels::layer_norm_backward_cuda};

void drive_norm(KernelDriver& driver, const Norm& norm, Storage storage, std::int64_t rows, std::int64_t width,
                std::int64_t skip = 0) {
  const std::int64_t n = rows * width, parts = kernels::partial_rows(rows) * width;
  Buffers b(skip);
  void *const x = b.random(storage, n), *const dy = b.random(storage, n), *const weight = b.random(storage, width);
  void *const y = b.tensor(storage, n, Fill::kNan), *const dx = b.tensor(storage, n, Fill::kNan);
  void *const dweight = b.tensor(storage, width, Fill::kNan), *const dbias = b.tensor(storage, width, Fill::kNan);
  void* const sum = norm.adds ? b.tensor(storage, n, Fill::kNan) : nullptr;
  float* const mean = norm.is_layer ? b.array<float>(rows, Fill::kNan) : nullptr;
  auto *const rstd = b.array<float>(rows, Fill::kNan), *const partials = b.array<float>(2 * parts, Fill::kNan);
  const kernels::NormForward forward{.storage = storage,
                                     .rows = rows,
                                     .width = width,
                                     .epsilon = 1e-5f,
                                     .x = x,
                                     .residual = norm.adds ? b.random(storage, n) : nullptr,
                                     .weight = weight,
                                     .bias = norm.is_layer ? b.random(storage, width) : nullptr,
                                     .sum = sum,
                                     .y = y,
                                     .mean = mean,
                                     .rstd = rstd};
  kernels::NormBackward backward{.storage = storage,
                                 .rows = rows,
                                 .width = width,
                                 .dy = dy,
                                 .x = norm.adds ? sum : x,
                                 .weight = weight,
                                 .d_sum = norm.adds ? b.random(storage, n) : nullptr,
                                 .mean = mean,
                                 .rstd = rstd,
                                 .dx = dx,
                                 .dweight = dweight,
                                 .dbias = norm.is_layer ? dbias : nullptr,
                                 .dweight_partials = partials,
                                 .dbias_partials = norm.is_layer ? partials + parts : nullptr};
  const std::string name = named(norm.name, storage, {rows, width}, skip);
  driver.run(name + " forward", norm.forward(forward, nullptr));
  driver.expect_finite(name + " y", storage, y, n);
  if (&norm == &kRms) driver.run(name + " rebuild", kernels::rms_norm_rebuild_cuda(forward, nullptr));
  driver.run(name + " backward", norm.backward(backward, nullptr));
  driver.expect_finite(name + " dx", storage, dx, n);
  driver.expect_finite(name + " dweight", storage, dweight, width);
  if (norm.is_layer) driver.expect_finite(name + " dbias", storage, dbias, width);
  backward.dx = dy;
  driver.run(name + " backward in place", norm.backward(backward, nullptr));
}

template <const Norm& kNorm>
void drive_norms(KernelDriver& driver) {
  struct Size {
    std::int64_t rows, width, skip = 0;
  };
  // Covers one row, one column, partial vectors, partial warps, more rows than blocks, a last iteration with fewer rows
  // than groups, and rows that exceed the registers.
  for (const Size& size :
       {Size{1, 1}, Size{3, 7}, Size{1, 8}, Size{5, 40}, Size{1300, 16}, Size{17, 256}, Size{70, 1000}, Size{1101, 520},
        Size{9, 3072}, Size{700, 136, 1}, Size{33, 2048}, Size{300, 4096}, Size{3, 8192}, Size{2, 16384},
        Size{2, 16392}, Size{2, 40'960}, Size{2, 33'333}}) {
    for (const Storage storage : kStorages) drive_norm(driver, kNorm, storage, size.rows, size.width, size.skip);
  }
  // Covers 1,024 threads per row and several rows per block, with two rows in flight and with one.
  if (kNorm.is_layer)
    for (const std::int64_t width : {12'284, 16'380}) drive_norm(driver, kNorm, Storage::kFp32, 140, width);
}

// Every `skip`-th target is ignored.
std::vector<std::int64_t> targets_of(std::int64_t rows, std::int64_t vocab, std::int64_t skip) {
  std::vector<std::int64_t> targets;
  for (std::int64_t row = 0; row < rows; ++row)
    targets.push_back(row % skip == skip - 1 ? -100 : (row * 7919 + 13) % vocab);
  return targets;
}

struct CrossEntropyCase {
  std::int64_t rows, vocab;
  std::int64_t skip = 0;
  float smoothing = 0;
  bool in_place = true;
  CrossEntropyVariant variant = CrossEntropyVariant::kAuto;
};
constexpr CrossEntropyCase kCrossEntropyCases[] = {{11, 1},
                                                   {11, 7},
                                                   {11, 8},
                                                   {11, 1000},
                                                   {11, 8193},
                                                   {3, 33001},
                                                   {3, 70000},
                                                   {3, 140001},
                                                   {2, 262143},
                                                   {2, 600001},
                                                   {6, 5000, 3, 0.1f},
                                                   {6, 5001, 1, 0, false},
                                                   {300, 777, 0, 0.2f, true, CrossEntropyVariant::kTwoReads},
                                                   {6, 5001, 1, 0, false, CrossEntropyVariant::kTwoReads}};

void drive_cross_entropy(KernelDriver& driver) {
  for (const Storage storage : kStorages) {
    for (const CrossEntropyCase& c : kCrossEntropyCases) {
      Buffers b(c.skip), aligned;
      void* const logits = b.random(storage, c.rows * c.vocab, 3);
      void* const dlogits = c.in_place ? logits : aligned.tensor(storage, c.rows * c.vocab);
      auto* const targets = b.copied(targets_of(c.rows, c.vocab, 5));
      auto* const loss = b.array<float>(c.rows);
      auto *const scale = b.array<float>(2), *const total = b.array<float>(1);
      const std::string name = named("cross_entropy", storage, {c.rows, c.vocab}, c.skip);
      driver.run(name + " scale", kernels::cross_entropy_scale_cuda(
                                      targets, c.rows, -100, -1, kernels::Reduction::kMean, nullptr, scale, nullptr));
      const kernels::CrossEntropyArgs args{.storage = storage,
                                           .logits = logits,
                                           .dlogits = dlogits,
                                           .targets = targets,
                                           .loss = loss,
                                           .error_flag = b.array<std::int64_t>(1, Fill::kZeros),
                                           .scale = scale,
                                           .rows = c.rows,
                                           .vocab = c.vocab,
                                           .stride = c.vocab,
                                           .label_smoothing = c.smoothing};
      driver.run(name, kernels::cross_entropy_cuda(args, nullptr, c.variant));
      driver.run(name + " total", kernels::cross_entropy_total_cuda(loss, c.rows, scale + 1, total, nullptr));
      driver.expect_finite(name + " loss", Storage::kFp32, total, 1);
      const kernels::ScaleGradientArgs rescaled{
          .storage = storage, .gradient = dlogits, .rows = c.rows, .width = c.vocab, .upstream = scale};
      driver.run(name + " rescaled", kernels::scale_gradient_cuda(rescaled, nullptr));
    }
  }
}

void drive_flce(KernelDriver& driver, const kernels::FlceProblem& p) {
  constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;
  const std::int64_t x_numbers = p.tokens * p.hidden, weight_numbers = p.vocab * p.hidden;
  const Storage dx_storage = p.mode == FlceMode::kLean ? Storage::kFp32 : p.storage;
  const Storage dweight_storage = p.fp32_weight_gradient ? Storage::kFp32 : p.storage;
  Buffers b;
  auto* const loss = b.array<float>(1, Fill::kNan);
  void *const dx = b.tensor(dx_storage, x_numbers, Fill::kNan), *const dweight = b.tensor(dweight_storage,
                                                                                          weight_numbers, Fill::kNan);
  const int queued =
      kernels::flce_cuda(p,
                         {.x = b.random(p.storage, x_numbers),
                          .weight = b.random(p.storage, weight_numbers, 1 / std::sqrt(static_cast<float>(p.hidden))),
                          .targets = b.copied(targets_of(p.tokens, p.vocab, 3)),
                          .error_flag = b.array<std::int64_t>(1, Fill::kZeros),
                          .loss = loss,
                          .dx = dx,
                          .dweight = dweight,
                          // GEMMs read a row's padding and ignore it.
                          .logits = b.bytes(kernels::flce_logits_bytes(p), Fill::kZeros),
                          .scratch = b.bytes(kernels::flce_scratch_bytes(p), Fill::kNan),
                          .workspace = b.bytes(kWorkspaceBytes, Fill::kNan),
                          .workspace_bytes = kWorkspaceBytes},
                         nullptr);
  constexpr const char* kModes[] = {"flce chunked", "flce lean", "flce report"};
  const std::string name = named(kModes[static_cast<int>(p.mode)], p.storage, {p.tokens, p.hidden, p.vocab}) +
                           (p.valid_count >= 0 ? " gathered" : "");
  driver.run(name, queued);
  driver.expect_finite(name + " loss", Storage::kFp32, loss, 1);
  driver.expect_finite(name + " dx", dx_storage, dx, x_numbers);
  driver.expect_finite(name + " dweight", dweight_storage, dweight, weight_numbers);
}

void drive_flces(KernelDriver& driver) {
  for (const Storage storage : kStorages) {
    for (const FlceMode mode : {FlceMode::kChunked, FlceMode::kLean, FlceMode::kReport}) {
      for (const auto& [tokens, hidden] : {std::pair{37, 24}, {64, 40}, {5, 7}}) {
        for (const bool gathers : {false, true}) {
          drive_flce(driver, {.mode = mode,
                              .storage = storage,
                              .fp32_weight_gradient = hidden == 40,
                              .tokens = tokens,
                              .hidden = hidden,
                              .vocab = 203,
                              .chunk = 16,
                              .valid_count = gathers ? tokens - tokens / 3 : -1});
        }
      }
    }
  }
}

struct EmbeddingCase {
  Storage gradient, table;
  std::int64_t tokens, width, vocab_size;
  std::int64_t common;  // every `common`-th token has the id 1, like frequent words; 0: none
};
constexpr EmbeddingCase kEmbeddingCases[] = {{Storage::kFp32, Storage::kFp32, 1, 1, 1, 0},
                                             {Storage::kBf16, Storage::kBf16, 1000, 40, 97, 0},
                                             {Storage::kBf16, Storage::kFp32, 5000, 33, 300, 3},
                                             {Storage::kFp16, Storage::kFp16, 3000, 2056, 7, 0},
                                             {Storage::kFp32, Storage::kFp32, 3000, 64, 20, 1}};

void drive_embedding(KernelDriver& driver, const EmbeddingCase& c, bool accumulate) {
  std::vector<std::int64_t> ids;
  for (std::int64_t token = 0; token < c.tokens; ++token) {
    const bool is_common = c.common != 0 && token % c.common == 0;
    ids.push_back((is_common ? 1 : token * 2'654'435'761) % c.vocab_size);
  }
  Buffers b;
  const kernels::EmbeddingBackwardArgs args{
      .dy = b.random(c.gradient, c.tokens * c.width),
      .ids = b.copied(ids),
      .dweight = b.tensor(c.table, c.vocab_size * c.width, Fill::kZeros),
      .tokens = c.tokens,
      .width = c.width,
      .vocab_size = c.vocab_size,
      .gradient = c.gradient,
      .table = c.table,
      .accumulate = accumulate,
      .integers = b.array<std::int32_t>(kernels::embedding_integers(c.tokens, c.vocab_size)),
      .segment_sums = b.array<float>(kernels::embedding_segments(c.tokens) * c.width)};
  driver.run(named("embedding_backward", c.gradient, {c.tokens, c.width, c.vocab_size}) + (accumulate ? " add" : ""),
             kernels::embedding_backward_cuda(args, nullptr));
}

void drive_embeddings(KernelDriver& driver) {
  for (const EmbeddingCase& c : kEmbeddingCases)
    for (const bool accumulate : {false, true}) drive_embedding(driver, c, accumulate);
}

}  // namespace

extern const DrivenKernel kRmsNormDriven, kAddRmsNormDriven, kLayerNormDriven, kCrossEntropyDriven,
    kFusedLinearCrossEntropyDriven, kEmbeddingBackwardDriven;
constinit const DrivenKernel kRmsNormDriven{"rms_norm", &drive_norms<kRms>};
constinit const DrivenKernel kAddRmsNormDriven{"add_rms_norm", &drive_norms<kAddRms>};
constinit const DrivenKernel kLayerNormDriven{"layer_norm", &drive_norms<kLayer>};
constinit const DrivenKernel kCrossEntropyDriven{"cross_entropy", &drive_cross_entropy};
constinit const DrivenKernel kFusedLinearCrossEntropyDriven{"fused_linear_cross_entropy", &drive_flces};
constinit const DrivenKernel kEmbeddingBackwardDriven{"embedding_backward", &drive_embeddings};

}  // namespace headroom::tests
