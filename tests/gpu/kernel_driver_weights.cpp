// Drives kernels on single weights: AdamW (also with 8-bit moments), gradient checks, counts by exponent, and NF4.
#include <cmath>
#include <optional>

#include "kernels/adamw/adamw.h"
#include "kernels/adamw_8bit/adamw_8bit.h"
#include "kernels/exponent_counts/exponent_counts.h"
#include "kernels/gradient_check/gradient_check.h"
#include "kernels/gradient_check/gradient_norm.h"
#include "kernels/nf4/nf4.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

namespace {

using kernels::AdamWTypes;
using kernels::Storage;

using Sizes = std::vector<std::int64_t>;
const Sizes kSmallAndOdd{1, 7, 0, 8, 255, 4096, 100'003};

constexpr AdamWTypes kTypes[] = {{Storage::kFp32, Storage::kFp32, Storage::kFp32},
                                 {Storage::kFp32, Storage::kFp32, Storage::kBf16},
                                 {Storage::kBf16, Storage::kBf16, Storage::kBf16},
                                 {Storage::kBf16, Storage::kFp32, Storage::kBf16},
                                 {Storage::kBf16, Storage::kBf16, Storage::kFp32},
                                 {Storage::kBf16, Storage::kFp32, Storage::kFp32},
                                 {Storage::kFp16, Storage::kFp16, Storage::kFp32},
                                 {Storage::kFp16, Storage::kFp32, Storage::kBf16},
                                 {Storage::kFp32, Storage::kBf16, Storage::kFp32, Storage::kBf16},   // bf16 copy
                                 {Storage::kFp32, Storage::kFp32, Storage::kBf16, Storage::kFp16}};  // fp16 copy
constexpr AdamWTypes kBf16s = kTypes[2], kMixedFp16 = kTypes[9];

struct Step {
  AdamWTypes types;
  std::int64_t skip = 0;
  bool stochastic = false;
  std::optional<bool> overflows = {};  // if set, scale, overflow and t are on the device
  std::int64_t tensors = 0;            // number of tensors, of 9 numbers each; 0: sizes of kSmallAndOdd
};

kernels::AdamWTensor adamw_tensor(Buffers& b, const Step& step, std::int64_t n) {
  const AdamWTypes& types = step.types;
  return {.param = b.random(types.param, n),
          .gradient = b.random(types.gradient, n, 0.01f),
          .first_moment = b.tensor(types.moment, n, Fill::kZeros),
          .second_moment = b.tensor(types.moment, n, Fill::kZeros),
          .n = n,
          .decays = n > 4096,
          .working = types.working ? b.tensor(*types.working, n) : nullptr};
}

kernels::AdamW8bitTensor adamw_8bit_tensor(Buffers& b, const Step& step, std::int64_t n) {
  const AdamWTypes& types = step.types;
  const auto codes = [&] { return b.array<std::uint8_t>(n + step.skip, Fill::kZeros) + step.skip; };
  const auto absmax = [&] { return b.array<float>(kernels::quantised_blocks(n), Fill::kZeros); };
  return {.param = b.random(types.param, n),
          .gradient = b.random(types.gradient, n, 0.01f),
          .m_codes = codes(),
          .m_absmax = absmax(),
          .v_codes = codes(),
          .v_absmax = absmax(),
          .n = n,
          .decays = n > 4096,
          .working = types.working ? b.tensor(*types.working, n) : nullptr};
}

template <typename Tensor>
struct Optimizer {
  const char* name;
  Tensor (*tensor)(Buffers&, const Step&, std::int64_t n);
  int (*launch)(std::span<const Tensor>, const AdamWTypes&, const kernels::AdamWStep&, const kernels::AdamWSwitches&,
                CUstream_st*);
};

template <typename Tensor>
void drive_step(KernelDriver& driver, const Optimizer<Tensor>& optimizer, const Step& step) {
  Buffers b(step.skip);
  std::vector<Tensor> tensors;
  for (const std::int64_t n : step.tensors == 0 ? kSmallAndOdd : Sizes(static_cast<std::size_t>(step.tensors), 9))
    tensors.push_back(optimizer.tensor(b, step, n));
  kernels::AdamWSwitches switches{.stochastic_rounding = step.stochastic, .seed = 1};
  std::int64_t* count = nullptr;
  if (step.overflows) {
    switches.inverse_scale = b.copied<float>({1});
    switches.overflow = b.copied<std::int32_t>({*step.overflows ? 1 : 0});
    switches.step_count = count = b.copied<std::int64_t>({1});
  }
  const std::string name = named(optimizer.name, step.types.param, {}, step.skip) + " g" +
                           std::to_string(kernels::bytes_of(step.types.gradient)) + " m" +
                           std::to_string(kernels::bytes_of(step.types.moment)) + (step.types.working ? " copy" : "") +
                           (step.stochastic ? " stochastic" : "") + (step.overflows.value_or(false) ? " overflow" : "");
  const kernels::AdamWStep constants = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 1e-8, 0.1, 1);
  driver.run(name, optimizer.launch(tensors, step.types, constants, switches, nullptr));
  if (count != nullptr)
    driver.run(name + " count", kernels::advance_step_count_cuda(count, switches.overflow, nullptr));
}

template <typename Tensor>
void drive_steps(KernelDriver& driver, const Optimizer<Tensor>& optimizer) {
  std::vector<Step> steps{{.types = kBf16s, .stochastic = true},
                          {.types = kTypes[3], .stochastic = true},
                          {.types = kBf16s, .stochastic = true, .overflows = false},
                          {.types = kMixedFp16, .overflows = false},
                          {.types = kMixedFp16, .overflows = true},
                          {.types = kBf16s, .tensors = 700}};  // more tensors than a launch takes
  for (const AdamWTypes& types : kTypes)
    for (const std::int64_t skip : {0, 1}) steps.push_back({.types = types, .skip = skip});
  for (const Step& step : steps) drive_step(driver, optimizer, step);
}

void drive_adamw(KernelDriver& driver) {
  drive_steps<kernels::AdamWTensor>(driver, {"adamw", &adamw_tensor, &kernels::adamw_cuda});
}

void drive_adamw_8bit(KernelDriver& driver) {
  drive_steps<kernels::AdamW8bitTensor>(driver, {"adamw_8bit", &adamw_8bit_tensor, &kernels::adamw_8bit_cuda});
  for (const Storage storage : kStorages) {
    for (const std::int64_t n : {1, 255, 256, 257, 100'003}) {
      for (const bool is_signed : {true, false}) {
        Buffers b;
        const kernels::QuantisedArray array{b.array<std::uint8_t>(n), b.array<float>(kernels::quantised_blocks(n)), n,
                                            is_signed};
        driver.run(named("quantise_blockwise", storage, {n}),
                   kernels::quantise_blockwise_cuda(b.random(storage, n), storage, array, nullptr));
        driver.run(named("dequantise_blockwise", storage, {n}),
                   kernels::dequantise_blockwise_cuda(array, b.array<float>(n), nullptr));
      }
    }
  }
}

void drive_nf4(KernelDriver& driver) {
  for (const Storage storage : kStorages) {
    for (const std::int64_t n : {1, 7, 63, 65, 1001, 16'385, 100'003}) {
      for (const std::int64_t skip : {0, 1}) {
        Buffers b(skip);
        void* const weight = b.random(storage, n, 0.02f);
        auto* const absmax = b.array<float>(kernels::nf4_blocks(n));
        const kernels::Nf4Args args{b.array<std::uint8_t>((n + 1) / 2 + skip) + skip,
                                    b.array<std::uint8_t>(kernels::nf4_blocks(n)),
                                    b.array<float>(kernels::nf4_scales(n)), b.array<float>(1), n};
        driver.run(named("nf4_quantise", storage, {n}, skip),
                   kernels::nf4_quantise_cuda(weight, storage, args, absmax, nullptr));
        driver.run(named("nf4_dequantise", storage, {n}, skip),
                   kernels::nf4_dequantise_cuda(args, weight, storage, nullptr));
      }
    }
  }
}

void drive_gradients(KernelDriver& driver, Storage storage, const Sizes& sizes, std::int64_t skip, float scale = 1) {
  Buffers b(skip);
  std::vector<kernels::CheckedTensor> gradients;
  std::int64_t blocks = 0;
  for (const std::int64_t n : sizes) {
    gradients.push_back({b.random(storage, n, scale), n});
    blocks += kernels::norm_blocks(n);
  }
  const auto count = static_cast<std::int64_t>(sizes.size());
  auto* const sums = b.array<double>(blocks);
  driver.run(named("gradient_check", storage, {count}, skip),
             kernels::check_finite_cuda(gradients, storage, b.array<std::int32_t>(1, Fill::kZeros), nullptr));
  driver.run(named("gradient_norm", storage, {count}, skip),
             kernels::sums_of_squares_cuda(gradients, storage, sums, nullptr));
  driver.run(named("clip_factor", storage, {count}, skip),
             kernels::clip_factor_cuda(sums, blocks, 1e-3, nullptr, b.array<float>(1), nullptr));
}

void drive_gradient_check(KernelDriver& driver) {
  for (const Storage storage : kStorages)
    for (const std::int64_t skip : {0, 1})
      for (const float scale : {1.0f, HUGE_VALF}) drive_gradients(driver, storage, kSmallAndOdd, skip, scale);
  const Sizes more_than_a_launch_takes(2500, 9);
  drive_gradients(driver, Storage::kFp16, more_than_a_launch_takes, 0);
  drive_gradients(driver, Storage::kBf16, more_than_a_launch_takes, 1);
  for (const bool overflows : {false, true}) {
    Buffers b;
    const kernels::LossScale state{b.copied<float>({1024}), b.copied<float>({1.0f / 1024}), b.copied<std::int32_t>({1}),
                                   b.copied<std::int32_t>({overflows ? 1 : 0}), b.copied<std::int64_t>({0})};
    driver.run("update_loss_scale", kernels::update_loss_scale_cuda(state, {.growth_interval = 2}, nullptr));
  }
}

void drive_counts(KernelDriver& driver, Storage storage, std::int64_t n, std::int64_t skip) {
  Buffers b(skip);
  const auto counts = [&] { return b.array<std::int64_t>(kernels::kExponentBins, Fill::kZeros); };
  const void* const x = b.random(storage, n, 1e-3f);
  driver.run(named("exponent_counts", storage, {n}, skip),
             kernels::count_exponents_cuda({.x = x, .storage = storage, .n = n, .factor = nullptr, .counts = counts()},
                                           nullptr));
  const kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 1e-8, 0.1, 1);
  for (const Storage moment : {Storage::kFp32, Storage::kBf16}) {
    const kernels::CountedUpdates updates{.before = x,
                                          .after = x,  // every change is lost
                                          .first_moment = b.random(moment, n, 1e-3f),
                                          .second_moment = b.tensor(moment, n, Fill::kZeros),
                                          .weight = storage,
                                          .moment = moment,
                                          .n = n,
                                          .updates = counts(),
                                          .lost = counts()};
    driver.run(named("exponent_counts of updates", storage, {n}, skip),
               kernels::count_updates_cuda(updates, step, {}, nullptr));
  }
}

void drive_exponent_counts(KernelDriver& driver) {
  for (const Storage storage : kStorages)
    for (const std::int64_t n : {0, 1, 7, 8, 255, 4096, 100'003})
      for (const std::int64_t skip : {0, 1}) drive_counts(driver, storage, n, skip);
}

}  // namespace

extern const DrivenKernel kAdamwDriven, kAdamw8bitDriven, kNf4Driven, kGradientCheckDriven, kExponentCountsDriven;
constinit const DrivenKernel kAdamwDriven{"adamw", &drive_adamw};
constinit const DrivenKernel kAdamw8bitDriven{"adamw_8bit", &drive_adamw_8bit};
constinit const DrivenKernel kNf4Driven{"nf4", &drive_nf4};
constinit const DrivenKernel kGradientCheckDriven{"gradient_check", &drive_gradient_check};
constinit const DrivenKernel kExponentCountsDriven{"exponent_counts", &drive_exponent_counts};

}  // namespace headroom::tests
