// Sums a buffer over all ranks in a ring, once per step, and compares each sum with the library's all-reduce.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/experiments/run_ranks.h"
#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/ranks/ring_sum.h"
#include "demos/experiments/demo.h"
#include "demos/record/quantile.h"
#include "demos/record/scope.h"

namespace headroom::experiments {

namespace {

// Two orders of summing N numbers of at most 1 differ by at most N² roundings.
double rounding_of(int ranks) {
  return static_cast<double>(ranks) * ranks * static_cast<double>(std::numeric_limits<float>::epsilon());
}

class RingRun final : public DemoRun {
 public:
  RingRun(const record::Params& params, const RunSetting& setting, std::unique_ptr<llama::Collectives> ring)
      : device_(setting.place.device),
        cancel_(setting.cancel),
        repeats_(static_cast<int>(params.integer("repeats"))),
        ring_(std::move(ring)) {
    const std::int64_t elements = params.integer("bytes") / static_cast<std::int64_t>(sizeof(float));
    buffer_ = empty(elements);
    arriving_ = empty(llama::ring_scratch(elements, ring_->ranks()));
    copy_ = empty(elements);
    const auto seed = static_cast<std::uint64_t>(params.integer("seed"));
    at::manual_seed(seed * static_cast<std::uint64_t>(ring_->ranks()) + static_cast<std::uint64_t>(ring_->rank()));
  }

  StepResult step(int index) override {
    record::mark_step(index);
    buffer_.uniform_(-1, 1);
    copy_.copy_(buffer_);
    record::mark(record::Phase::kCopies);
    const double own = timed([this] { llama::ring_sum(*ring_, buffer_, arriving_); });
    const double library = timed([this] {
      ring_->wait_for_device();
      ring_->all_reduce({&copy_, 1});
      ring_->done().device_waits();
    });
    record::mark_step(-1);
    if (index > 0) {
      own_.push_back(own);
      library_.push_back(library);
    }
    return is_set(cancel_) ? StepResult::kCancelled : StepResult::kDone;
  }
  int steps() const override { return repeats_ + 1; }
  int marks_per_step() const override { return 3; }

  StepReport report() override {
    compare();
    return {};
  }

  std::string note() const override {
    if (device_.is_meta()) return {};
    return fmt::format(
        "The ring takes {}, the library's all-reduce {} (medians of {}); for numbers from −1 to 1 their sums differ by "
        "at most {:.2g}.",
        median_text(own_), median_text(library_), own_.size(), difference_);
  }

 private:
  static std::string median_text(const std::vector<double>& times) {
    return record::format_duration(static_cast<record::Nanoseconds>(record::quantiles_of(times).median));
  }

  at::Tensor empty(std::int64_t elements) const {
    const record::Scope scope(record::Category::kGradients, llama::number_of(llama::Op::kSummedGradients));
    return at::empty({elements}, at::TensorOptions().device(device_).dtype(at::kFloat));
  }

  // Host time in ns, from when all ranks are ready until this rank's device is done.
  template <class Call>
  double timed(const Call& call) {
    wait();
    ring_->barrier();
    const auto begun = std::chrono::steady_clock::now();
    call();
    wait();
    return static_cast<double>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begun).count());
  }
  void wait() const {
    if (device_.is_cuda()) c10::cuda::getCurrentCUDAStream(device_.index()).synchronize();
  }

  // Throws if rounding does not explain the difference of the two sums.
  void compare() {
    const double difference = copy_.sub_(buffer_).abs_().max().item<double>();
    if (!(difference <= rounding_of(ring_->ranks())))
      throw std::runtime_error(fmt::format(
          "Rank {}: the ring's sum differs from the library's by {:.3g}, but rounding explains only {:.3g}.",
          ring_->rank(), difference, rounding_of(ring_->ranks())));
    difference_ = std::max(difference_, difference);
  }

  at::Device device_;
  const std::atomic<bool>* cancel_;
  int repeats_;
  std::unique_ptr<llama::Collectives> ring_;
  at::Tensor buffer_, arriving_, copy_;
  std::vector<double> own_, library_;  // ns per sum
  double difference_ = 0;              // the largest so far
};

record::Result<std::unique_ptr<DemoRun>> make_ring(const record::Params& params, const RunSetting& setting) {
  const std::int64_t count = params.integer("ranks");
  const record::Result<RunRanks> ranks = run_ranks(count, setting);
  if (!ranks) return ranks.error();
  record::mark(record::Phase::kSetup);
  try {
    return std::unique_ptr<DemoRun>(std::make_unique<RingRun>(
        params, setting, ranks.value().make(ranks.value().rank, static_cast<int>(count), record::Axis::kData, "ring")));
  } catch (const llama::CollectiveError& error) {
    return record::Error{error.what()};
  }
}

}  // namespace

extern const DemoRunner kRingRunner;
constinit const DemoRunner kRingRunner = {.id = "ring", .read = &read_simply<make_ring>};

}  // namespace headroom::experiments
