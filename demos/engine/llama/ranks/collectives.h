// Collectives: sums and copies of tensors between the ranks of a run. None allocates a tensor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/offload_copies.h"
#include "demos/engine/llama/ranks/collective_error.h"
#include "demos/engine/llama/ranks/timing_events.h"
#include "demos/predict/parallel.h"
#include "demos/protocol/launchers.h"
#include "demos/record/rows/collective.h"
#include "demos/record/scope.h"
#include "demos/record/units.h"

namespace headroom::llama {

using record::Axis;
using record::CollectiveKind;

// A tensor of N equal slices, one per rank, and this rank's slice. Both are 1-D, contiguous and of one type. The slice
// is a view of `whole` at this rank's place (in place), or does not overlap it.
struct Sliced {
  at::Tensor whole, slice;
};

// A tensor that this rank sends to one rank while it receives another tensor from the same or another rank.
struct Exchange {
  at::Tensor send;
  int to = 0;
  at::Tensor receive;
  int from = 0;
};

// One collective that was issued; a group of tensors is one collective.
struct IssuedCollective {
  using Time = std::chrono::steady_clock::time_point;

  CollectiveKind kind = CollectiveKind::kBarrier;
  record::Bytes bytes = 0;  // of the whole tensors
  Axis axis = Axis::kShards;
  int ranks = 1;               // on this axis
  std::uint32_t sequence = 0;  // from 0; equal on all ranks
  record::Tag tag;             // phase, layer and micro-batch of the calling thread
  Time issued;                 // by the host
  Time begin, end;             // on the CPU; elsewhere equal to `issued`
  // On the communication stream of a GPU; null on the CPU, on meta, and if captured into a CUDA graph.
  TimingEvent device_begin, device_end;
};

// Called by the issuing thread; both may be empty.
struct CollectiveListener {
  std::function<void()> begins = {};                  // before a call may wait for other ranks
  std::function<void(IssuedCollective)> issued = {};  // when it is queued on a GPU, or complete on the CPU
};

// All ranks issue the same collectives in the same order. On a GPU they run in this order on a communication stream;
// their tensors must be kept until they are done. On the CPU a call returns when the collective is complete. Calls
// throw CollectiveError if another rank ended or does not answer.
class Collectives {
 public:
  virtual ~Collectives() = default;
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  // Each of these takes a group of tensors, which NCCL runs as one; an empty group is no collective.

  // Replaces each tensor by its sum over all ranks.
  void all_reduce(std::span<const at::Tensor> tensors);
  // Sums `whole` over all ranks into this rank's slice. The rest of `whole` is undefined afterwards, because gloo
  // leaves partial sums in it; gradients are not read again.
  void reduce_scatter(std::span<const Sliced> tensors);
  // Copies all ranks' slices into `whole`.
  void all_gather(std::span<const Sliced> tensors);
  // Copies the root's tensors to all ranks.
  void broadcast(std::span<const at::Tensor> tensors, int root);
  // A send and a receive at the same time, two collectives. Every rank that a rank sends to or receives from makes the
  // matching call. Ranks that wait for each other in a ring do not block each other.
  void exchange(const Exchange& pair);
  // Returns once all ranks have called it and all earlier collectives are complete.
  void barrier();

  // Later collectives wait for the calling thread's device work so far.
  virtual void wait_for_device() {}
  // The end of all collectives issued so far.
  virtual CopyDone done() const { return {}; }

 protected:
  struct Call {
    CollectiveKind kind = CollectiveKind::kBarrier;
    std::span<const at::Tensor> tensors;  // of all-reduce and broadcast
    std::span<const Sliced> slices;       // of reduce-scatter and all-gather
    int root = 0;
  };

  Collectives(int rank, int ranks, Axis axis, CollectiveListener listener);
  bool failed() const { return failed_; }  // a call threw CollectiveError

 private:
  // Runs or queues the call, and sets when it ran.
  virtual void run(const Call& call, IssuedCollective& issued) = 0;
  virtual void run(const Exchange& pair, IssuedCollective& sent, IssuedCollective& received) = 0;
  void issue(const Call& call);
  IssuedCollective numbered(CollectiveKind kind, record::Bytes bytes);
  void run_named(const IssuedCollective& issued, const std::function<void()>& call);
  void check(const Call& call) const;
  void check(const Exchange& pair) const;

  int rank_, ranks_;
  Axis axis_;
  CollectiveListener listener_;
  std::uint32_t next_ = 0;
  bool failed_ = false;
};

struct CollectiveOptions {
  CollectiveListener listener;
  Axis axis = Axis::kShards;
  predict::CommunicatorBlocks blocks = {};        // NCCL only
  std::map<std::string, std::string> alike = {};  // the build and the settings, which must be equal on all ranks
  // Separates this group of ranks from others of the same store, such as earlier runs. A file name.
  std::string group = "ranks";
  std::chrono::milliseconds start_timeout = protocol::kMeetingLimit;  // until all ranks have started
  // The limit of one collective. It is long because the reader may pause a run; dead ranks are noticed earlier, by gloo
  // itself and with NCCL by the process that started the ranks.
  std::chrono::milliseconds timeout = std::chrono::hours(24);
};

// These connect all ranks, and throw CollectiveError if they cannot or were not started alike. NCCL allocates its device
// memory now, so call it before the weights are allocated. The device has an index.
std::unique_ptr<Collectives> make_nccl_collectives(const protocol::RankPlace& place, at::Device device,
                                                   CollectiveOptions options);
// For tensors on the CPU.
std::unique_ptr<Collectives> make_gloo_collectives(const protocol::RankPlace& place, CollectiveOptions options);
// Only reports to the listener. For tensors on meta, as any rank of any number.
std::unique_ptr<Collectives> make_planned_collectives(int rank, int ranks, Axis axis, CollectiveListener listener);

}  // namespace headroom::llama
