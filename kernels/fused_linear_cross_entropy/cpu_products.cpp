// The fused linear cross entropy on the CPU, with LibTorch's GEMMs.
#include "kernels/fused_linear_cross_entropy/cpu_products.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <ATen/Parallel.h>

#include "kernels/fused_linear_cross_entropy/parts.h"
#include "kernels/narrow_product/narrow_product_ops.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kProductGrain = 32768;
constexpr std::int64_t kWidenedColumns = 1024;  // columns of 16-bit operands that are widened at a time

// result = alpha · a · b, or += if `adds`. For an fp32 result, 16-bit operands are widened, `a` in parts.
void add_product(at::Tensor result, const at::Tensor& a, const at::Tensor& b, bool adds, double alpha, bool tf32) {
  if (result.scalar_type() == a.scalar_type())
    return product(result, a, b, {.adds = adds, .alpha = alpha, .tf32 = tf32});
  const double beta = adds ? 1 : 0;
  const at::Tensor b_wide = b.to(at::kFloat);
  for (std::int64_t first = 0; first < result.size(0); first += kWidenedColumns) {
    const std::int64_t count = std::min(kWidenedColumns, result.size(0) - first);
    result.narrow(0, first, count).addmm_(a.narrow(0, first, count).to(at::kFloat), b_wide, beta, alpha);
  }
}

class Call {
 public:
  Call(const FlceProblem& problem, const FlceTensors& tensors)
      : problem_(problem),
        t_(tensors),
        plan_(flce_scratch_plan(problem)),
        computes_(tensors.x.is_cpu()),
        gathers_(computes_ && flce_gathers(problem)),
        targets_(static_cast<const std::int64_t*>(tensors.targets.const_data_ptr())),
        vocab_(problem.vocab),
        logits_(tensors.logits.narrow(1, 0, std::min(vocab_, tensors.logits.size(1)))) {}

  void run() {
    if (computes_) labels();
    if (problem_.mode == FlceMode::kLean) {
      slices();
    } else {
      chunks();
    }
    if (!computes_) return;
    const float* const row_loss = scratch<float>(plan_.row_loss);
    double sum = 0;
    for (std::int64_t row = 0; row < flce_rows(problem_); ++row) sum += row_loss[row];
    t_.loss.fill_(sum * loss_factor_);
  }

 private:
  template <typename T>
  T* scratch(std::int64_t offset) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(t_.scratch.mutable_data_ptr()) + offset);
  }
  std::int64_t grain(std::int64_t columns) const { return std::max<std::int64_t>(1, kProductGrain / columns); }

  void labels();
  void chunks();
  void chunk(std::int64_t first, std::int64_t count, bool adds);
  void chunk_to_gradient(const at::Tensor& logits, std::int64_t first, std::int64_t count);
  void slices();
  FlceSlice slice_at(std::int64_t first) const;

  const FlceProblem& problem_;
  const FlceTensors& t_;
  const FlceScratchPlan plan_;
  const bool computes_;  // false on meta
  const bool gathers_;
  const std::int64_t* const targets_;
  const std::int64_t vocab_;
  const at::Tensor logits_;  // without columns of padding
  double alpha_ = 0, loss_factor_ = 0;
};

void Call::labels() {
  auto* const rows = gathers_ ? scratch<std::int64_t>(plan_.rows) : nullptr;
  auto* const row_targets = gathers_ ? scratch<std::int64_t>(plan_.row_targets) : nullptr;
  std::int64_t valid = 0;
  for (std::int64_t row = 0; row < problem_.tokens; ++row) {
    if (targets_[row] == problem_.ignore_index) continue;
    TORCH_CHECK(targets_[row] >= 0 && targets_[row] < vocab_, "flce: target ", targets_[row], " in row ", row,
                " is outside the vocabulary of ", vocab_);
    if (gathers_ && valid < problem_.valid_count) {
      rows[valid] = row;
      row_targets[valid] = targets_[row];
    }
    ++valid;
  }
  TORCH_CHECK(problem_.valid_count < 0 || valid == problem_.valid_count, "flce: the labels have ", valid,
              " valid rows, not ", problem_.valid_count);
  loss_factor_ = valid == 0 ? 0 : problem_.reduction == Reduction::kSum ? 1 : 1 / static_cast<double>(valid);
  alpha_ = loss_factor_ * (t_.grad_scale.defined() ? t_.grad_scale.item<double>() : 1);
}

void Call::chunks() {
  const std::int64_t all = flce_rows(problem_), step = flce_step(problem_);
  if (all == 0 && t_.dweight.defined() && !problem_.accumulate) t_.dweight.zero_();
  for (std::int64_t first = 0; first < all; first += step) {
    chunk(first, std::min(step, all - first), first > 0 || problem_.accumulate);
  }
  if (!gathers_ || problem_.loss_only) return;
  auto* const dx = static_cast<std::byte*>(t_.dx.mutable_data_ptr());
  const auto row_bytes = static_cast<std::size_t>(problem_.hidden * bytes_of(problem_.storage));
  for (std::int64_t row = 0; row < problem_.tokens; ++row) {
    if (targets_[row] == problem_.ignore_index)
      std::memset(dx + static_cast<std::size_t>(row) * row_bytes, 0, row_bytes);
  }
}

void Call::chunk(std::int64_t first, std::int64_t count, bool adds) {
  const at::Tensor weight_HV = t_.weight.t();
  at::Tensor x = t_.x.narrow(0, first, count);
  at::Tensor dx = problem_.loss_only ? at::Tensor() : t_.dx.narrow(0, first, count);
  at::Tensor rows;
  if (gathers_) {
    rows = at::from_blob(scratch<std::int64_t>(plan_.rows) + first, {count}, at::kLong);
    x = dx = at::from_blob(scratch<std::byte>(plan_.gathered), {count, problem_.hidden}, t_.x.options());
    at::index_select_out(x, t_.x, 0, rows);
  }
  at::Tensor logits = logits_.narrow(0, 0, count);
  product(logits, x, weight_HV, {.tf32 = problem_.tf32});
  if (computes_) chunk_to_gradient(logits, first, count);
  if (problem_.loss_only) return;
  if (t_.dweight.defined()) add_product(t_.dweight, logits.t(), x, adds, alpha_, problem_.tf32);
  add_product(dx, logits, t_.weight, /*adds=*/false, alpha_, problem_.tf32);
  if (gathers_) t_.dx.index_copy_(0, rows, dx);
}

void Call::chunk_to_gradient(const at::Tensor& logits, std::int64_t first, std::int64_t count) {
  const CrossEntropyArgs args{.storage = problem_.storage,
                              .logits = logits.mutable_data_ptr(),
                              .dlogits = problem_.loss_only ? nullptr : logits.mutable_data_ptr(),
                              .targets = (gathers_ ? scratch<std::int64_t>(plan_.row_targets) : targets_) + first,
                              .loss = scratch<float>(plan_.row_loss) + first,
                              .rows = count,
                              .vocab = vocab_,
                              .stride = t_.logits.size(1),
                              .ignore_index = problem_.ignore_index,
                              .label_smoothing = problem_.label_smoothing};
  at::parallel_for(0, count, grain(vocab_),
                   [&](std::int64_t begin, std::int64_t end) { cross_entropy_cpu(args, begin, end); });
}

FlceSlice Call::slice_at(std::int64_t first) const {
  return {.storage = problem_.storage,
          .logits = t_.logits.mutable_data_ptr(),
          .rows = problem_.tokens,
          .columns = std::min(flce_step(problem_), vocab_ - first),
          .stride = t_.logits.size(1),
          .first = first,
          .vocab = vocab_,
          .targets = targets_,
          .ignore_index = problem_.ignore_index,
          .label_smoothing = problem_.label_smoothing,
          .parts = scratch<float>(plan_.slice_parts)};
}

void Call::slices() {
  const std::int64_t step = flce_step(problem_);
  const auto weight_at = [&](std::int64_t first) { return t_.weight.narrow(0, first, std::min(step, vocab_ - first)); };
  const auto make_logits = [&](std::int64_t first) {
    const at::Tensor weight = weight_at(first);
    at::Tensor logits = t_.logits.narrow(1, 0, weight.size(0));
    product(logits, t_.x, weight.t(), {.tf32 = problem_.tf32});
    return logits;
  };
  const auto for_rows = [&](std::int64_t first, const auto& work) {
    if (!computes_) return;
    const FlceSlice slice = slice_at(first);
    at::parallel_for(0, problem_.tokens, grain(slice.columns),
                     [&](std::int64_t begin, std::int64_t end) { work(slice, begin, end); });
  };
  for (std::int64_t first = 0; first < vocab_; first += step) {
    make_logits(first);
    for_rows(first, flce_slice_parts_cpu);
  }
  if (computes_) flce_slice_loss_cpu(slice_at(0), scratch<float>(plan_.row_loss));
  if (problem_.loss_only) return;
  for (std::int64_t first = 0; first < vocab_; first += step) {
    const at::Tensor logits = make_logits(first), weight = weight_at(first);
    for_rows(first, [](const FlceSlice& slice, std::int64_t begin, std::int64_t end) {
      flce_slice_gradient_cpu(slice, 1, begin, end);
    });
    if (t_.dweight.defined())
      add_product(t_.dweight.narrow(0, first, weight.size(0)), logits.t(), t_.x, problem_.accumulate, alpha_,
                  problem_.tf32);
    add_product(t_.dx, logits, weight, first > 0, alpha_, problem_.tf32);
  }
}

}  // namespace

void flce_cpu(const FlceProblem& problem, const FlceTensors& tensors) {
  if (problem.tokens == 0) {
    tensors.loss.zero_();
    if (tensors.dweight.defined() && !problem.accumulate) tensors.dweight.zero_();
    return;
  }
  Call(problem, tensors).run();
}

}  // namespace headroom::kernels
