// Drives cross entropy and its fusion with the output layer. Small shapes are compared with the CPU's kernel and with
// the definition in float64.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::test {

namespace {

using kernels::Storage;

constexpr std::int64_t kIgnored = -100;
constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;

const char* name_of(Storage storage) {
  return storage == Storage::kFp32 ? "fp32" : storage == Storage::kBf16 ? "bf16" : "fp16";
}
// The largest error that rounding a number near 1 to this storage makes.
double rounding(Storage storage) { return storage == Storage::kFp32 ? 1e-6 : storage == Storage::kBf16 ? 4e-3 : 5e-4; }

// Some ignored, none outside the vocabulary; every `skip`-th row, none for 0.
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

template <typename T = float>
std::vector<T> download(const DeviceBuffer& from) {
  std::vector<T> host(static_cast<std::size_t>(from.bytes()) / sizeof(T));
  cudaMemcpy(host.data(), from.data(), host.size() * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}

float widened(std::uint16_t bits, Storage storage) {
  if (storage == Storage::kBf16) {
    const std::uint32_t word = std::uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                   : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

std::vector<float> download_as_float(const DeviceBuffer& from, Storage storage) {
  if (storage == Storage::kFp32) return download(from);
  std::vector<float> values;
  for (const std::uint16_t bits : download<std::uint16_t>(from)) values.push_back(widened(bits, storage));
  return values;
}

// Largest difference, as a part of the largest value that is expected; of 0.01 where all are smaller.
template <typename Expected>
double relative_error(const std::vector<float>& values, const std::vector<Expected>& expected) {
  double worst = 0, largest = 1e-2;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = std::abs(static_cast<double>(values[i]) - static_cast<double>(expected[i]));
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return worst / largest;
}

void expect(KernelDriver& driver, const std::string& name, const char* what, double error, double most) {
  if (!(error <= most)) driver.fail(name, std::string(what) + ": error " + std::to_string(error));
}

struct CrossEntropyCase {
  Storage storage;
  std::int64_t rows, vocab;
  std::int64_t offset = 0;  // elements by which the logits miss a 16-byte boundary
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
  std::vector<std::uint8_t> host = download<std::uint8_t>(logits);
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
  std::vector<float> gradient = download_as_float(c.in_place ? logits : beside, c.storage);
  std::vector<float> expected_gradient = download_as_float(expected, c.storage);
  if (!c.in_place) expected_gradient.erase(expected_gradient.begin(), expected_gradient.begin() + c.offset);
  expect(driver, name, "loss", relative_error(download(loss), expected_loss), c.vocab == 1 ? 1e-4 : 2e-6);
  expect(driver, name, "gradient", relative_error(gradient, expected_gradient), rounding(c.storage));
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

// All memory of one call of the fused operator.
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
    logits.zero();  // products read the few elements that fill up an odd row, and drop them
    // initcheck does not see all that cuBLASLt's products write, and NaN finds more: a value that never was written.
    for (DeviceBuffer* buffer : {&dx, &dweight, &scratch, &workspace}) buffer->poison();
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

struct Exact {
  double loss = 0;
  std::vector<double> dx, dweight;
};

// The definition, mean over the rows that are not ignored.
Exact exact_flce(const FlceCall& call) {
  const auto N = static_cast<std::size_t>(call.p.tokens), H = static_cast<std::size_t>(call.p.hidden),
             V = static_cast<std::size_t>(call.p.vocab);
  const std::vector<float> x = download_as_float(call.x, call.p.storage),
                           w = download_as_float(call.weight, call.p.storage);
  Exact exact{.dx = std::vector<double>(N * H), .dweight = std::vector<double>(V * H)};
  const auto valid =
      static_cast<double>(N - static_cast<std::size_t>(std::count(call.labels.begin(), call.labels.end(), kIgnored)));
  for (std::size_t n = 0; n < N; ++n) {
    if (call.labels[n] == kIgnored) continue;
    const auto target = static_cast<std::size_t>(call.labels[n]);
    std::vector<double> z(V);
    for (std::size_t v = 0; v < V; ++v) {
      for (std::size_t h = 0; h < H; ++h) z[v] += static_cast<double>(x[n * H + h]) * static_cast<double>(w[v * H + h]);
    }
    const double max = *std::max_element(z.begin(), z.end());
    double sum = 0;
    for (const double value : z) sum += std::exp(value - max);
    exact.loss += (max + std::log(sum) - z[target]) / valid;
    for (std::size_t v = 0; v < V; ++v) {
      const double g = (std::exp(z[v] - max) / sum - (v == target ? 1 : 0)) / valid;
      for (std::size_t h = 0; h < H; ++h) {
        exact.dx[n * H + h] += g * static_cast<double>(w[v * H + h]);
        exact.dweight[v * H + h] += g * static_cast<double>(x[n * H + h]);
      }
    }
  }
  return exact;
}

void check_flce(KernelDriver& driver, kernels::FlceProblem problem, bool gathers) {
  constexpr std::int64_t kSkip = 3;
  if (gathers) problem.valid_count = problem.tokens - problem.tokens / kSkip;
  const FlceCall call(problem, kSkip);
  const std::string name = name_of(problem);
  driver.run(name, std::cref(call));
  const Exact exact = exact_flce(call);
  const Storage dweight = problem.fp32_weight_gradient ? Storage::kFp32 : problem.storage;
  const Storage dx = problem.mode == kernels::FlceMode::kLean ? Storage::kFp32 : problem.storage;
  const double most = 3 * rounding(problem.storage);
  expect(driver, name, "loss", relative_error(download(call.loss), std::vector<double>{exact.loss}), most);
  expect(driver, name, "dx", relative_error(download_as_float(call.dx, dx), exact.dx), most);
  expect(driver, name, "dweight", relative_error(download_as_float(call.dweight, dweight), exact.dweight), most);
  if (download<std::int64_t>(call.flag)[0] != 0) driver.fail(name, "the error flag is up");
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

void drive_loss(KernelDriver& driver) {
  if (driver.wants("cross_entropy")) drive_cross_entropy(driver);
  if (driver.wants("flce")) drive_flce(driver);
}

}  // namespace headroom::test
