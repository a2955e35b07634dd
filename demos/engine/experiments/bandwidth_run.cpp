// Times copies and the CPU's AdamW, one per step of the run.
#include <array>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "demos/engine/experiments/bench_clock.h"
#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/llama/host/direct_file.h"
#include "demos/engine/llama/host/host_arena.h"
#include "demos/engine/llama/host/offload_copies.h"
#include "demos/engine/llama/optimizers/cpu_adamw.h"
#include "demos/experiments/demo.h"
#include "demos/record/scope.h"

namespace headroom::experiments {

namespace {

using llama::HostPages;
using record::Bytes;
using record::Measurement;

constexpr BenchPatience kCopyPatience{.least = 3, .most = 30, .seconds = 1};

// `bytes` counts reads plus writes within one memory, or bytes sent over a link.
struct Subject {
  const char* variant;
  std::string storage;
  const char* label;
  Bytes bytes = 0;
  std::int64_t rows = 0;
  BenchCall call;  // blocks until done
};
// Makers run one at a time, so that only one subject holds memory.
using MakeSubject = std::function<Subject()>;

class BandwidthRun final : public DemoRun {
 public:
  BandwidthRun(const record::Params& params, const RunSetting& setting)
      : device_(setting.place.device),
        cancel_(setting.cancel),
        size_(params.integer("size") / llama::DirectFile::kBlock * llama::DirectFile::kBlock),
        weights_(params.integer("adamw_weights")),
        file_(params.text("file")),
        arena_(device_, setting.host_memory),
        clock_(device_) {
    subjects_.push_back([this] { return host_copy(); });
    if (device_.is_cuda()) {
      subjects_.push_back([this] { return device_copy(); });
      for (const HostPages pages : {HostPages::kLocked, HostPages::kPageable}) {
        subjects_.push_back([this, pages] { return over_the_link(pages, true); });
        subjects_.push_back([this, pages] { return over_the_link(pages, false); });
      }
      subjects_.push_back([this] { return both_ways(); });
    }
    subjects_.push_back([this] { return file_traffic(true); });
    subjects_.push_back([this] { return file_traffic(false); });
    subjects_.push_back([this] { return adamw(); });
  }

  StepResult step(int index) override {
    record::mark_step(index);
    record::mark(record::Phase::kCopies);
    const Subject subject = subjects_[static_cast<std::size_t>(index)]();
    subject.call();  // touches the pages, wakes the link
    const std::array<BenchSampler, 1> samplers{clock_.wall(subject.call)};
    const auto times = time_in_turns(samplers, kCopyPatience, [this] { return is_set(cancel_); });
    record::mark_step(-1);
    if (!times) return StepResult::kCancelled;
    row_ = {.panel = Measurement::kBandwidth,
            .variant = subject.variant,
            .timing = "wall",
            .storage = subject.storage,
            .label = subject.label,
            .rows = subject.rows,
            .bytes = subject.bytes};
    set_time(row_, times->front());
    return StepResult::kDone;
  }
  int steps() const override { return static_cast<int>(subjects_.size()); }
  int marks_per_step() const override { return 3; }
  StepReport report() override { return {.measurements = {row_}}; }
  std::string note() const override { return arena_.trouble(); }

 private:
  at::Tensor on_host(HostPages pages) { return arena_.empty({size_}, at::kByte, pages).zero_(); }
  at::Tensor on_device() const { return at::zeros({size_}, at::TensorOptions().device(device_).dtype(at::kByte)); }

  Subject host_copy() {
    const at::Tensor from = on_host(HostPages::kPageable), to = on_host(HostPages::kPageable);
    return {.variant = "host_copy",
            .storage = "pageable",
            .label = "Within the host's memory",
            .bytes = 2 * size_,
            .call = [from, to] { to.copy_(from); }};
  }

  Subject device_copy() {
    const at::Tensor from = on_device(), to = on_device();
    return {.variant = "device_copy",
            .storage = "device",
            .label = "Within the GPU's memory",
            .bytes = 2 * size_,
            .call = [from, to] { to.copy_(from); }};
  }

  Subject over_the_link(HostPages pages, bool to_device) {
    const at::Tensor host = on_host(pages), device = on_device();
    const auto lane = std::make_shared<llama::CopyLane>(device_);
    const bool locked = pages == HostPages::kLocked && arena_.trouble().empty();
    return {.variant = to_device ? "to_device" : "to_host",
            .storage = locked ? "locked" : "pageable",
            .label = to_device ? "Host to GPU" : "GPU to host",
            .bytes = size_,
            .call = [host, device, lane, to_device] {
              lane->copy(to_device ? device : host, to_device ? host : device);
              lane->done().host_waits();
            }};
  }

  Subject both_ways() {
    const at::Tensor host = on_host(HostPages::kLocked), device = on_device();
    const at::Tensor other_host = on_host(HostPages::kLocked), other_device = on_device();
    const auto out = std::make_shared<llama::CopyLane>(device_), in = std::make_shared<llama::CopyLane>(device_);
    return {.variant = "both_ways",
            .storage = arena_.trouble().empty() ? "locked" : "pageable",
            .label = "Both ways at once",
            .bytes = 2 * size_,
            .call = [=] {
              out->copy(host, device);
              in->copy(other_device, other_host);
              out->done().host_waits();
              in->done().host_waits();
            }};
  }

  // Issues several requests at a time, like an offload pipeline.
  Subject file_traffic(bool writes) {
    constexpr int kRequests = 4;
    auto created = llama::DirectFile::create(file_, size_);
    if (!created) throw std::runtime_error(created.error().message);
    const std::shared_ptr<llama::DirectFile> file = std::move(created).value();
    const at::Tensor memory = on_host(HostPages::kPageable);
    const Bytes part = size_ / kRequests / llama::DirectFile::kBlock * llama::DirectFile::kBlock;
    const auto transfer = [file, memory, part, whole = size_](bool out) {
      std::vector<std::future<void>> requests;
      for (int i = 0; i < kRequests; ++i) {
        requests.push_back(std::async(std::launch::async, [=] {
          const Bytes offset = i * part, bytes = i + 1 < kRequests ? part : whole - offset;
          char* const data = static_cast<char*>(memory.mutable_data_ptr()) + offset;
          out ? file->write(offset, data, bytes) : file->read(offset, data, bytes);
        }));
      }
      for (std::future<void>& request : requests) request.get();
    };
    if (!writes) transfer(true);  // reads need written blocks
    return {.variant = writes ? "file_write" : "file_read",
            .storage = file->direct() ? "direct" : "cached",
            .label = writes ? "Host to file" : "File to host",
            .bytes = size_,
            .call = [transfer, writes] { transfer(writes); }};
  }

  Subject adamw() {
    llama::CpuAdamWState state;
    const auto block = [&](at::ScalarType type) {
      return arena_.empty({weights_}, type, HostPages::kPageable).zero_();
    };
    state.master = block(at::kFloat);
    state.first_moment = block(at::kFloat);
    state.second_moment = block(at::kFloat);
    state.gradient = block(at::kBFloat16);
    state.working = block(at::kBFloat16);
    const auto optimizer = std::make_shared<llama::CpuAdamW>(llama::AdamWOptions{}, at::kFloat, weights_, arena_);
    const auto threads = std::make_shared<llama::StepThreads>(at::get_num_threads());
    constexpr Bytes kMoved = 3 * (4 + 4) + 2 + 2;  // three fp32 states in and out, bf16 gradient in, bf16 weight out
    return {.variant = "adamw",
            .storage = "fp32",
            .label = "AdamW on the CPU, bf16 weights",
            .bytes = kMoved * weights_,
            .rows = weights_,
            .call = [state, optimizer, threads, n = weights_] {
              optimizer->step(state, 0, n, {}, *threads);
              threads->wait();
            }};
  }

  at::Device device_;
  const std::atomic<bool>* cancel_;
  Bytes size_;
  std::int64_t weights_;
  std::filesystem::path file_;
  llama::HostArena arena_;
  BenchClock clock_;
  std::vector<MakeSubject> subjects_;
  Measurement row_;
};

record::Result<std::unique_ptr<DemoRun>> make_bandwidth(const record::Params& params, const RunSetting& setting) {
  if (setting.place.device.is_meta())
    return record::Error{"bandwidth measures time, which cannot be predicted: run it.", record::ErrorKind::kRefused};
  return std::unique_ptr<DemoRun>(std::make_unique<BandwidthRun>(params, setting));
}

}  // namespace

extern const DemoRunner kBandwidthRunner;
constinit const DemoRunner kBandwidthRunner = {.id = "bandwidth", .read = &read_simply<make_bandwidth>};

}  // namespace headroom::experiments
