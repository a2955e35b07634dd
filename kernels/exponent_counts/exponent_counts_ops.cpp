// Counting by exponent on tensors.
#include "kernels/exponent_counts/exponent_counts_ops.h"

#include "kernels/adamw/adamw_checks.h"
#include "kernels/adamw/adamw_math.h"
#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kExponentCountsGrain = 65536;

void check_counts(const at::Tensor& counts, at::Device device, const char* op) {
  TORCH_CHECK(counts.defined() && counts.scalar_type() == at::kLong && counts.is_contiguous() && counts.dim() == 1 &&
                  counts.size(0) == kExponentBins && counts.device() == device,
              op, ": counts must be int64 [", kExponentBins, "], contiguous, on the device of the numbers");
}

}  // namespace

void count_exponents_(const at::Tensor& counts, const at::Tensor& x, const at::Tensor& factor) {
  constexpr const char* kOp = "count_exponents_";
  const Storage storage = checked_storage(x, kOp);
  check_counts(counts, x.device(), kOp);
  if (factor.defined()) check_number(factor, at::kFloat, x.device(), kOp, "factor");
  if (x.is_meta()) return;
  const Traced traced("count_exponents", {x, counts, counts});
  const CountedNumbers numbers{.x = x.const_data_ptr(),
                               .storage = storage,
                               .n = x.numel(),
                               .factor = pointer<float>(factor),
                               .counts = counts.mutable_data_ptr<std::int64_t>()};
  run_kernel(
      x.device(), kOp, numbers.n, kExponentCountsGrain,
      [&](CUstream_st* stream) { return count_exponents_cuda(numbers, stream); },
      [&](std::int64_t begin, std::int64_t end) { count_exponents_cpu(numbers, begin, end); });
}

void count_updates_(const at::Tensor& updates, const at::Tensor& lost, const AdamWChange& change,
                    const AdamWStep& given_step, const AdamWControl& control) {
  constexpr const char* kOp = "count_updates_";
  const at::Tensor& before = change.before;
  TORCH_CHECK(
      before.defined() && change.after.defined() && change.first_moment.defined() && change.second_moment.defined(),
      kOp, ": a weight or a moment is undefined");
  const auto weight = storage_of(before.scalar_type());
  const Storage moment = storage_of(change.first_moment.scalar_type()).value_or(Storage::kFp16);  // unsupported
  TORCH_CHECK(weight && moment != Storage::kFp16 && change.after.scalar_type() == before.scalar_type() &&
                  change.second_moment.scalar_type() == change.first_moment.scalar_type(),
              kOp, ": no kernel for a weight of ", before.scalar_type(), " with moments of ",
              change.first_moment.scalar_type());
  const at::Device device = before.device();
  for (const at::Tensor* tensor : {&before, &change.after, &change.first_moment, &change.second_moment}) {
    TORCH_CHECK(tensor->is_contiguous() && tensor->sizes() == before.sizes() && tensor->device() == device, kOp,
                ": weight and moments differ in shape, layout or device");
  }
  check_counts(updates, device, kOp);
  check_counts(lost, device, kOp);
  const AdamWSwitches switches = checked_switches(control, device, kOp);
  if (device.is_meta()) return;
  const Traced traced("count_updates",
                      {before, change.after, change.first_moment, change.second_moment, updates, updates, lost, lost});
  const CountedUpdates of{.before = before.const_data_ptr(),
                          .after = change.after.const_data_ptr(),
                          .first_moment = change.first_moment.const_data_ptr(),
                          .second_moment = change.second_moment.const_data_ptr(),
                          .weight = *weight,
                          .moment = moment,
                          .n = before.numel(),
                          .updates = updates.mutable_data_ptr<std::int64_t>(),
                          .lost = lost.mutable_data_ptr<std::int64_t>()};
  AdamWStep step = given_step;
  if (!change.decays) step.decay = 1.0F;
  if (device.is_cuda())
    return launch_on(device, kOp, [&](CUstream_st* stream) { return count_updates_cuda(of, step, switches, stream); });
  if (switches.overflow != nullptr && *switches.overflow != 0) return;
  if (switches.step_count != nullptr) set_bias_corrections(step, *switches.step_count);
  at::parallel_for(0, of.n, kExponentCountsGrain,
                   [&](std::int64_t begin, std::int64_t end) { count_updates_cpu(of, step, begin, end); });
}

}  // namespace headroom::kernels
