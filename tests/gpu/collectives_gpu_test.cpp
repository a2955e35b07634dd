// Collectives over NCCL, with two processes on two GPUs.
#include <string>
#include <utility>
#include <vector>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "demos/engine/llama/ranks/collectives.h"
#include "tests/llama/ranks/rank_children.h"
#include "tests/llama/ranks/rank_values.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using llama::IssuedCollective;
using llama::Sliced;

constexpr int kRanks = 2;

// A child's collectives on the GPU of its rank, which becomes the current device, and what they reported.
class Child {
 public:
  Child() : device_(at::kCUDA, static_cast<c10::DeviceIndex>(tests::place_of_child().rank)) {
    c10::cuda::set_device(device_.index());
    collectives_ = llama::make_nccl_collectives(
        tests::place_of_child(), device_,
        {.listener = {.issued = [this](IssuedCollective issued) { heard_.push_back(std::move(issued)); }}});
  }

  llama::Collectives& collectives() { return *collectives_; }
  const std::vector<IssuedCollective>& heard() const { return heard_; }
  at::TensorOptions options(at::ScalarType type = at::kFloat) const { return at::device(device_).dtype(type); }
  std::int64_t allocations() const {
    return c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index()).allocation[0].allocated;
  }

 private:
  at::Device device_;
  std::vector<IssuedCollective> heard_;
  std::unique_ptr<llama::Collectives> collectives_;
};

void wait_for_gpu() { C10_CUDA_CHECK(cudaDeviceSynchronize()); }

double free_mib() {
  std::size_t free = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<double>(free) / (1 << 20);
}

float milliseconds(const llama::TimingEvent& from, const llama::TimingEvent& to) {
  float result = -1;
  C10_CUDA_CHECK(cudaEventElapsedTime(&result, from.get(), to.get()));
  return result;
}

// Runs the hidden test case on both GPUs.
void run_on_two_gpus(const std::string& test_case) {
  if (c10::cuda::device_count() < kRanks) {
    WARN("one GPU: skipped");
    return;
  }
  tests::RankChildren children(test_case, kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    const bool well = children.ended_well(rank);
    INFO(children.output(rank));
    CHECK(well);
  }
}

}  // namespace

TEST_CASE("child: exact values", "[.]") {
  Child child;
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
    for (const bool in_place : {true, false})
      CHECK(tests::values_are_right(child.collectives(), child.options(type), in_place));
}

TEST_CASE("NCCL gives exact values") { run_on_two_gpus("child: exact values"); }

TEST_CASE("child: order with GEMMs", "[.]") {
  Child child;
  const at::Tensor a = at::ones({4096, 4096}, child.options());
  at::Tensor b = at::empty_like(a);
  for (int round = 0; round < 5; ++round) {
    const at::Tensor summed = at::zeros({1 << 22}, child.options());
    for (int i = 0; i < 10; ++i) at::mm_out(b, a, a);
    summed.fill_(child.collectives().rank() + 1);  // after the GEMMs
    child.collectives().wait_for_device();
    child.collectives().all_reduce({&summed, 1});
    const llama::CopyDone done = child.collectives().done();
    if (round % 2 == 0)
      done.device_waits();
    else
      done.host_waits();
    CHECK(at::equal(summed, at::full_like(summed, 3)));
  }
}

TEST_CASE("NCCL waits for GEMMs before it, and GEMMs for NCCL") { run_on_two_gpus("child: order with GEMMs"); }

TEST_CASE("child: no allocation", "[.]") {
  Child child;
  llama::Collectives& collectives = child.collectives();
  for (const bool in_place : {true, false}) {
    const at::Tensor whole = at::ones({kRanks << 20}, child.options(at::kBFloat16));
    const std::vector<Sliced> slices(2, tests::sliced(whole, collectives.rank(), kRanks, in_place));
    const std::vector<at::Tensor> tensors{at::ones({1 << 20}, child.options()), at::ones({7}, child.options())};
    wait_for_gpu();
    const std::int64_t before = child.allocations();
    const double free_before = free_mib();
    for (int round = 0; round < 3; ++round) {
      collectives.all_gather(slices);
      collectives.reduce_scatter(slices);
      collectives.all_reduce(tensors);
      collectives.broadcast({tensors.data(), 1}, 1);
      collectives.barrier();
    }
    wait_for_gpu();
    CHECK(child.allocations() == before);
    // NCCL took its buffers (12 MiB for each of 20 blocks) when it was made. Later it loads kernels at most.
    CHECK(free_before - free_mib() < 64);
  }
}

TEST_CASE("NCCL's collectives allocate nothing") { run_on_two_gpus("child: no allocation"); }

TEST_CASE("child: times", "[.]") {
  Child child;
  const at::Tensor tensor = at::ones({1 << 24}, child.options());
  const Sliced whole = tests::sliced(tensor, child.collectives().rank(), kRanks, true);
  {
    const record::Scope scope(record::Tag{.phase = record::Phase::kBackward, .layer = 7});
    child.collectives().wait_for_device();
    child.collectives().all_reduce({&tensor, 1});
    child.collectives().all_gather({&whole, 1});
    child.collectives().barrier();
  }
  const std::vector<IssuedCollective>& heard = child.heard();
  REQUIRE(heard.size() == 3);
  CHECK(heard[0].kind == llama::CollectiveKind::kAllReduce);
  CHECK(heard[0].bytes == 4 << 24);
  CHECK(heard[1].sequence == 1);
  CHECK(heard[1].tag.layer == 7);
  for (const IssuedCollective& each : heard) CHECK(milliseconds(each.device_begin, each.device_end) > 0);
  for (std::size_t i = 1; i < heard.size(); ++i)
    CHECK(milliseconds(heard[i - 1].device_end, heard[i].device_begin) >= 0);
}

TEST_CASE("NCCL's collectives have device times in their order") { run_on_two_gpus("child: times"); }

TEST_CASE("child: CUDA graph", "[.]") {
  Child child;
  llama::Collectives& collectives = child.collectives();
  const Sliced tensor =
      tests::sliced(at::zeros({kRanks * 1000}, child.options()), collectives.rank(), kRanks, /*in_place=*/true);
  const at::Tensor copy = at::zeros_like(tensor.whole);
  wait_for_gpu();
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard side(c10::cuda::getStreamFromPool());
    graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    collectives.wait_for_device();
    collectives.all_gather({&tensor, 1});
    collectives.done().device_waits();
    copy.copy_(tensor.whole);
    graph.capture_end();
  }
  REQUIRE(child.heard().size() == 1);
  CHECK(child.heard()[0].device_begin == nullptr);
  for (const int round : {10, 20}) {
    tensor.slice.fill_(round + collectives.rank());
    graph.replay();
    wait_for_gpu();
    for (int rank = 0; rank < kRanks; ++rank)
      CHECK(at::equal(copy.narrow(0, rank * 1000, 1000), at::full({1000}, round + rank, child.options())));
  }
  collectives.barrier();  // no rank ends while the other replays
}

TEST_CASE("NCCL's collectives run in CUDA graphs") { run_on_two_gpus("child: CUDA graph"); }
