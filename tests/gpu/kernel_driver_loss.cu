// Drives cross entropy, compared with the CPU's kernel for small shapes, and its fusion with the output layer.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

namespace {

using kernels::Storage;

constexpr std::int64_t kIgnored = -100;
constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;

const char* name_of(Storage storage) {
  return storage == Storage::kFp32 ? "fp32" : storage == Storage::kBf16 ? "bf16" : "fp16";
}
// Largest error of rounding a number near 1 to this storage.
double rounding(Storage storage) { return storage == Storage::kFp32 ? 1e-6 : storage == Storage::kBf16 ? 4e-3 : 5e-4; }

// Every `skip`-th target is ignored, none for 0; all others are valid.
std::vector<std::int64_t> make_targets(std::int64_t rows, std::int64_t vocab, std::int64_t skip) {
  std::vector<std::int64_t> targets(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool ignored = skip > 0 && row % skip == skip - 1;
    targets[static_cast<std::size_t>(row)] = ignored ? kIgnored : (row * 7919 + 13) % vocab;
  }
  return targets;
}

void upload(const DeviceBuffer& to, const void* from) {
  cudaMemcpy(to.data(), from, static_cast<std::size_t>(to.bytes()), cudaMemcpyHostToDevice);
}

struct CrossEntropyCase {
  Storage storage;
  std::int64_t rows, vocab;
  std::int64_t offset = 0;  // elements from a 16-byte boundary to the logits
  float smoothing = 0;
  bool in_place = true;
  kernels::CrossEntropyVariant variant = kernels::CrossEntropyVariant::kAuto;
};

const char* name_of(kernels::CrossEntropyVariant variant) {
  return variant == kernels::CrossEntropyVariant::kTwoReads ? " two reads" : "";
}

std::string name_of(const CrossEntropyCase& c) {
  return std::string("cross_entropy ") + name_of(c.storage) + " " + std::to_string(c.rows) + " x " +
         std::to_string(c.vocab) + (c.offset != 0 ? " unaligned" : "") + (c.smoothing != 0 ? " smoothed" : "") +
         (c.in_place ? "" : " beside") + name_of(c.variant);
}

void check_cross_entropy(KernelDriver& driver, const CrossEntropyCase& c) {
  const std::int64_t element = kernels::bytes_of(c.storage);
  DeviceBuffer logits((c.rows * c.vocab + c.offset) * element), beside(c.rows * c.vocab * element);
  DeviceBuffer targets(c.rows * 8), loss(c.rows * 4), flag(8);
  logits.fill(c.storage, 1, 3.0f);
  flag.zero();
  const std::vector<std::int64_t> labels = make_targets(c.rows, c.vocab, 5);
  upload(targets, labels.data());
  std::vector<char> host = logits.bits();
  void* const start = logits.as<std::uint8_t>() + c.offset * element;
  kernels::CrossEntropyArgs args{.storage = c.storage,
                                 .logits = start,
                                 .dlogits = c.in_place ? start : beside.data(),
                                 .targets = targets.as<std::int64_t>(),
                                 .loss = loss.as<float>(),
                                 .error_flag = flag.as<std::int64_t>(),
                                 .rows = c.rows,
                                 .vocab = c.vocab,
                                 .stride = c.vocab,
                                 .ignore_index = kIgnored,
                                 .label_smoothing = c.smoothing};
  const std::string name = name_of(c);
  driver.run(name, [&] { return kernels::cross_entropy_cuda(args, nullptr, c.variant); });
  std::vector<float> expected_loss(static_cast<std::size_t>(c.rows));
  args.logits = args.dlogits = host.data() + c.offset * element;
  args.targets = labels.data();
  args.loss = expected_loss.data();
  args.error_flag = nullptr;
  kernels::cross_entropy_cpu(args, 0, c.rows);
  DeviceBuffer expected(static_cast<std::int64_t>(host.size()));
  upload(expected, host.data());
  const std::int64_t begin = c.offset * element;
  driver.expect_near(name + " loss", loss.numbers(Storage::kFp32), {expected_loss.begin(), expected_loss.end()},
                     c.vocab == 1 ? 1e-4 : 2e-6);
  driver.expect_near(name + " gradient", c.in_place ? logits.numbers(c.storage, begin) : beside.numbers(c.storage),
                     expected.numbers(c.storage, begin), rounding(c.storage));
}

void time_cross_entropy(KernelDriver& driver, const CrossEntropyCase& c) {
  const std::int64_t element = kernels::bytes_of(c.storage), bytes = c.rows * c.vocab * element;
  DeviceBuffer logits(bytes), targets(c.rows * 8), loss(c.rows * 4), scale(8), total(4), flag(8);
  logits.fill(c.storage, 1, 3.0f);
  flag.zero();
  upload(targets, make_targets(c.rows, c.vocab, 0).data());
  const kernels::CrossEntropyArgs args{.storage = c.storage,
                                       .logits = logits.data(),
                                       .dlogits = logits.data(),
                                       .targets = targets.as<std::int64_t>(),
                                       .loss = loss.as<float>(),
                                       .error_flag = flag.as<std::int64_t>(),
                                       .scale = scale.as<float>(),
                                       .rows = c.rows,
                                       .vocab = c.vocab,
                                       .stride = c.vocab};
  driver.time(name_of(c), 2 * bytes, [&] {
    int error = kernels::cross_entropy_scale_cuda(args.targets, c.rows, kIgnored, c.rows, kernels::Reduction::kMean,
                                                  nullptr, scale.as<float>(), nullptr);
    if (error == 0) error = kernels::cross_entropy_cuda(args, nullptr, c.variant);
    if (error != 0) return error;
    return kernels::cross_entropy_total_cuda(loss.as<float>(), c.rows, scale.as<float>() + 1, total.as<float>(),
                                             nullptr);
  });
}

void drive_cross_entropy(KernelDriver& driver) {
  using kernels::CrossEntropyVariant;
  if (driver.timed()) {
    for (const std::int64_t vocab : {32000, 40960, 81920, 122880, 128256, 163840, 262144}) {
      time_cross_entropy(driver, {.storage = Storage::kBf16, .rows = 8192, .vocab = vocab});
    }
    time_cross_entropy(driver, {.storage = Storage::kBf16, .rows = 1024, .vocab = 128256});
    time_cross_entropy(driver, {.storage = Storage::kBf16, .rows = 8192, .vocab = 128257});
    time_cross_entropy(driver, {.storage = Storage::kFp32, .rows = 4096, .vocab = 128256});
    time_cross_entropy(driver, {.storage = Storage::kFp32, .rows = 2048, .vocab = 262144});
    time_cross_entropy(
        driver, {.storage = Storage::kBf16, .rows = 8192, .vocab = 128256, .variant = CrossEntropyVariant::kTwoReads});
    return;
  }
  for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
    for (const std::int64_t vocab : {1, 7, 8, 1000, 8193, 33001, 70000, 140001}) {
      check_cross_entropy(driver, {.storage = storage, .rows = vocab > 9000 ? 3 : 11, .vocab = vocab});
    }
    check_cross_entropy(driver, {.storage = storage, .rows = 2, .vocab = 262143});
    check_cross_entropy(driver, {.storage = storage, .rows = 2, .vocab = 600001});
    check_cross_entropy(driver, {.storage = storage, .rows = 6, .vocab = 5000, .offset = 3, .smoothing = 0.1f});
    check_cross_entropy(driver, {.storage = storage, .rows = 6, .vocab = 5001, .offset = 1, .in_place = false});
    check_cross_entropy(
        driver,
        {.storage = storage, .rows = 300, .vocab = 777, .smoothing = 0.2f, .variant = CrossEntropyVariant::kTwoReads});
    check_cross_entropy(driver, {.storage = storage,
                                 .rows = 6,
                                 .vocab = 5001,
                                 .offset = 1,
                                 .in_place = false,
                                 .variant = CrossEntropyVariant::kTwoReads});
  }
}

struct FlceCall {
  FlceCall(const kernels::FlceProblem& problem, std::int64_t skip)
      : p(problem),
        x(p.tokens * p.hidden * element()),
        weight(p.vocab * p.hidden * element()),
        targets(p.tokens * 8),
        flag(8),
        loss(4),
        dx(p.tokens * p.hidden * (p.mode == kernels::FlceMode::kLean ? 4 : element())),
        dweight(p.vocab * p.hidden * (p.fp32_weight_gradient ? 4 : element())),
        logits(kernels::flce_logits_bytes(p)),
        scratch(kernels::flce_scratch_bytes(p)),
        workspace(kWorkspaceBytes),
        labels(make_targets(p.tokens, p.vocab, skip)) {
    x.fill(p.storage, 1);
    weight.fill(p.storage, 2, 1.0f / std::sqrt(static_cast<float>(p.hidden)));
    upload(targets, labels.data());
    flag.zero();
    logits.zero();  // GEMMs read a row's padding and ignore it
    // initcheck misses some of cuBLASLt's writes; NaN also reveals unwritten values.
    for (DeviceBuffer* buffer : {&loss, &dx, &dweight, &scratch, &workspace}) buffer->poison();
  }
  std::int64_t element() const { return kernels::bytes_of(p.storage); }
  int operator()() const {
    return kernels::flce_cuda(p,
                              {.x = x.data(),
                               .weight = weight.data(),
                               .targets = targets.as<std::int64_t>(),
                               .error_flag = flag.as<std::int64_t>(),
                               .loss = loss.as<float>(),
                               .dx = dx.data(),
                               .dweight = dweight.data(),
                               .logits = logits.data(),
                               .scratch = scratch.data(),
                               .workspace = workspace.data(),
                               .workspace_bytes = workspace.bytes()},
                              nullptr);
  }

  kernels::FlceProblem p;
  DeviceBuffer x, weight, targets, flag, loss, dx, dweight, logits, scratch, workspace;
  std::vector<std::int64_t> labels;
};

const char* name_of(kernels::FlceMode mode) {
  return mode == kernels::FlceMode::kChunked ? "chunked" : mode == kernels::FlceMode::kLean ? "lean" : "report";
}

std::string name_of(const kernels::FlceProblem& p) {
  return std::string("flce ") + name_of(p.mode) + " " + name_of(p.storage) +
         (p.fp32_weight_gradient ? " dW fp32 " : " ") + std::to_string(p.tokens) + " x " + std::to_string(p.hidden) +
         " x " + std::to_string(p.vocab) + " by " + std::to_string(kernels::flce_step(p)) +
         (p.valid_count >= 0 ? " gathered" : "");
}

void check_flce(KernelDriver& driver, kernels::FlceProblem problem, bool gathers) {
  constexpr std::int64_t kSkip = 3;
  if (gathers) problem.valid_count = problem.tokens - problem.tokens / kSkip;
  const FlceCall call(problem, kSkip);
  const std::string name = name_of(problem);
  driver.run(name, std::cref(call));
  const Storage dweight = problem.fp32_weight_gradient ? Storage::kFp32 : problem.storage;
  const Storage dx = problem.mode == kernels::FlceMode::kLean ? Storage::kFp32 : problem.storage;
  driver.expect_finite(name + " loss", call.loss.numbers(Storage::kFp32));
  driver.expect_finite(name + " dx", call.dx.numbers(dx));
  driver.expect_finite(name + " dweight", call.dweight.numbers(dweight));
  if (call.flag.bits() != std::vector<char>(8)) driver.fail(name, "the error flag is up");
}

double flops(const kernels::FlceProblem& p) {
  return 6.0 * static_cast<double>(p.tokens) * static_cast<double>(p.hidden) * static_cast<double>(p.vocab);
}

void time_flce(KernelDriver& driver, kernels::FlceProblem problem) {
  problem.vocab = 128256;
  const FlceCall call(problem, 0);
  const std::string name =
      name_of(problem) + " +" + std::to_string((call.logits.bytes() + call.scratch.bytes()) >> 20) + " MiB";
  driver.time_flops(name, flops(problem), std::cref(call));
}

void drive_flce(KernelDriver& driver) {
  using kernels::FlceMode;
  struct Size {
    std::int64_t tokens, hidden;
  };
  if (driver.timed()) {
    for (const Size size : {Size{4096, 2048}, Size{8192, 2048}, Size{16384, 2048}, Size{8192, 4096}}) {
      for (const bool fp32 : {false, true}) {
        time_flce(driver, {.fp32_weight_gradient = fp32, .tokens = size.tokens, .hidden = size.hidden});
      }
      time_flce(driver, {.mode = FlceMode::kLean, .tokens = size.tokens, .hidden = size.hidden});
    }
    time_flce(driver, {.mode = FlceMode::kReport, .tokens = 8192, .hidden = 4096});
    return;
  }
  for (const Storage storage : {Storage::kFp32, Storage::kBf16, Storage::kFp16}) {
    for (const FlceMode mode : {FlceMode::kChunked, FlceMode::kLean, FlceMode::kReport}) {
      for (const Size size : {Size{37, 24}, Size{64, 40}, Size{5, 7}}) {
        for (const bool gathers : {false, true}) {
          check_flce(driver,
                     {.mode = mode,
                      .storage = storage,
                      .fp32_weight_gradient = size.hidden == 40,
                      .tokens = size.tokens,
                      .hidden = size.hidden,
                      .vocab = 203,
                      .chunk = 16},
                     gathers);
        }
      }
    }
  }
}

}  // namespace

extern const DrivenKernel kCrossEntropyDriven, kFusedLinearCrossEntropyDriven;
constinit const DrivenKernel kCrossEntropyDriven{"cross_entropy", &drive_cross_entropy};
constinit const DrivenKernel kFusedLinearCrossEntropyDriven{"fused_linear_cross_entropy", &drive_flce};

}  // namespace headroom::tests
