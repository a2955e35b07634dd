// Collectives over NCCL, through c10d's process group.
//
// With asyncOp = false c10d queues on the current stream, keeps no reference to a tensor, and returns no Work. Its
// helpers for lists of tensors flatten and copy, and its barrier allocates a tensor, so neither is used. Its sends and
// receives always run on a stream of its own and return a Work, so they are issued on its communicator instead.
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/cuda/nccl.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "demos/engine/llama/ranks/collectives.h"
#include "demos/engine/llama/ranks/rank_store.h"
#include "demos/predict/parallel.h"

namespace headroom::llama {
namespace {

// NCCL and c10d read these when the first communicator is made. The user's own settings stay.
void set_environment() {
  constexpr std::pair<const char*, const char*> kVariables[] = {
      {"NCCL_NVLS_ENABLE", "0"},              // multicast can break GPUs that virtual machines share
      {"NCCL_LAUNCH_ORDER_IMPLICIT", "1"},    // two communicators of one device
      {"TORCH_NCCL_BLOCKING_WAIT", "1"},      // no watchdog thread, whose CUDA calls disturb graph capture
      {"TORCH_NCCL_ENABLE_MONITORING", "0"},  // the parent process watches the ranks
      {"TORCH_NCCL_DUMP_ON_TIMEOUT", "0"},
      {"TORCH_FR_BUFFER_SIZE", "0"},  // c10d's log of all collectives costs host time
  };
  for (const auto& [name, value] : kVariables) setenv(name, value, /*overwrite=*/0);
}

// Device memory outside LibTorch's allocator.
struct FreeDeviceMemory {
  void operator()(void* memory) const noexcept { (void)cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<void, FreeDeviceMemory>;

DeviceMemory device_memory(std::size_t bytes) {
  void* memory = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&memory, bytes));
  return DeviceMemory(memory);
}

using Group = c10::intrusive_ptr<c10d::ProcessGroupNCCL>;

Group connect(const c10::intrusive_ptr<c10d::Store>& store, const char* name, const protocol::RankPlace& place,
              at::Device device, int blocks, std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create(/*is_high_priority_stream=*/false);
  options->timeout = timeout;
  options->config.maxCTAs = blocks;
  auto group = c10::make_intrusive<c10d::ProcessGroupNCCL>(c10::make_intrusive<c10d::PrefixStore>(name, store),
                                                           place.rank, place.ranks, options);
  group->eagerConnectSingleDevice(device);
  return group;
}

class NcclCollectives final : public Collectives {
 public:
  NcclCollectives(const protocol::RankPlace& place, at::Device device, CollectiveOptions options)
      : Collectives(place.rank, place.ranks, options.axis, std::move(options.listener)),
        stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())),
        memory_(device_memory(sizeof(float) * static_cast<std::size_t>(place.ranks))),
        scratch_(at::from_blob(memory_.get(), {place.ranks}, at::device(device).dtype(at::kFloat))) {
    C10_CUDA_CHECK(cudaMemset(memory_.get(), 0, scratch_.nbytes()));
    const auto store = open_store(place, options);
    sums_ = connect(store, "sums", place, device, options.blocks.sums, options.timeout);
    gathers_ = options.blocks.one_communicator()
                   ? sums_
                   : connect(store, "gathers", place, device, options.blocks.gathers, options.timeout);
    connect_rings();
  }

  ~NcclCollectives() override {
    // A peer that is gone never answers a shutdown.
    if (gathers_ == sums_) gathers_.reset();
    for (const Group& group : {gathers_, sums_}) {
      try {
        if (group) failed() ? group->abort() : group->shutdown();
      } catch (const std::exception&) {
        // The communicator is lost; the process can still end.
      }
    }
  }

  void wait_for_device() override {
    ready_.record(c10::cuda::getCurrentCUDAStream(stream_.device_index()));
    ready_.block(stream_);
  }

  CopyDone done() const override { return CopyDone(stream_.unwrap()); }

 private:
  void run(const Call& call, IssuedCollective& issued) override {
    const c10::cuda::CUDAStreamGuard on_stream(stream_);
    const bool timed = is_timed();
    if (timed) issued.device_begin = events_->record(stream_);
    queue(call);
    if (timed) issued.device_end = events_->record(stream_);
    if (call.kind == CollectiveKind::kBarrier) C10_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

  // NCCL runs both as one kernel.
  void run(const Exchange& pair, IssuedCollective& sent, IssuedCollective& received) override {
    const c10::cuda::CUDAStreamGuard on_stream(stream_);
    const bool timed = is_timed();
    for (IssuedCollective* each : {&sent, &received})
      if (timed) each->device_begin = events_->record(stream_);
    at::Tensor arriving = pair.receive;
    {
      const auto communicator = reinterpret_cast<torch::cuda::nccl::ncclComm_t>(sums_->getCommPtr());
      const torch::cuda::nccl::AutoNcclGroup together;
      torch::cuda::nccl::send(pair.send, communicator, stream_, pair.to);
      torch::cuda::nccl::recv(arriving, communicator, stream_, pair.from);
    }
    for (IssuedCollective* each : {&sent, &received})
      if (timed) each->device_end = events_->record(stream_);
  }

  // False while the stream's work is captured into a CUDA graph.
  bool is_timed() const {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    C10_CUDA_CHECK(cudaStreamIsCapturing(stream_, &capture));
    return capture == cudaStreamCaptureStatusNone;
  }

  // Queues on the current stream.
  void queue(const Call& call) {
    const std::size_t parts = call.tensors.size() + call.slices.size();
    const bool gathers = call.kind == CollectiveKind::kAllGather || call.kind == CollectiveKind::kBroadcast;
    c10d::ProcessGroupNCCL& group = gathers ? *gathers_ : *sums_;
    if (parts > 1) group.startCoalescing();
    for (const at::Tensor& tensor : call.tensors) {
      if (call.kind == CollectiveKind::kAllReduce)
        all_reduce_one(tensor);
      else
        broadcast_one(tensor, call.root);
    }
    for (const Sliced& tensor : call.slices) {
      if (call.kind == CollectiveKind::kAllGather)
        all_gather_one(tensor);
      else
        reduce_scatter_one(tensor);
    }
    if (parts > 1) group.endCoalescing();
    if (call.kind == CollectiveKind::kBarrier) all_reduce_one(scratch_);
    one_.clear();
  }

  void all_reduce_one(const at::Tensor& tensor) {
    c10d::AllreduceOptions options;
    options.asyncOp = false;
    sums_->allreduce(only(tensor), options);
  }

  void broadcast_one(const at::Tensor& tensor, int root) {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    options.asyncOp = false;
    gathers_->broadcast(only(tensor), options);
  }

  void all_gather_one(Sliced tensor) {
    c10d::AllgatherOptions options;
    options.asyncOp = false;
    gathers_->_allgather_base(tensor.whole, tensor.slice, options);
  }

  void reduce_scatter_one(Sliced tensor) {
    c10d::ReduceScatterOptions options;
    options.asyncOp = false;
    sums_->_reduce_scatter_base(tensor.slice, tensor.whole, options);
  }

  // NCCL allocates its buffers at the first collective of each kind.
  void connect_rings() {
    const c10::cuda::CUDAStreamGuard on_stream(stream_);
    const Sliced sliced{.whole = scratch_, .slice = scratch_.narrow(0, rank(), 1)};
    all_gather_one(sliced);
    broadcast_one(scratch_, 0);
    reduce_scatter_one(sliced);
    all_reduce_one(scratch_);
    one_.clear();
    C10_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

  std::vector<at::Tensor>& only(const at::Tensor& tensor) {
    one_.assign(1, tensor);
    return one_;
  }

  c10::cuda::CUDAStream stream_;
  DeviceMemory memory_;
  at::Tensor scratch_;  // a number per rank
  Group gathers_, sums_;
  std::shared_ptr<TimingEvents> events_ = std::make_shared<TimingEvents>();
  at::cuda::CUDAEvent ready_{cudaEventDisableTiming};
  std::vector<at::Tensor> one_;  // reused by each call
};

}  // namespace

std::unique_ptr<Collectives> make_nccl_collectives(const protocol::RankPlace& place, at::Device device,
                                                   CollectiveOptions options) {
  try {
    set_environment();
    const c10::cuda::CUDAGuard on_device(device);
    return std::make_unique<NcclCollectives>(place, device, std::move(options));
  } catch (const CollectiveError&) {
    throw;
  } catch (const std::exception& error) {
    throw not_connected(place, error);
  }
}

}  // namespace headroom::llama
