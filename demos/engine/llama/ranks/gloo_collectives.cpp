// Collectives over gloo, through c10d's process group. c10d's own gather and reduce-scatter allocate hidden tensors, so
// here they are broadcasts and reductions of slices.
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "demos/engine/llama/ranks/collectives.h"
#include "demos/engine/llama/ranks/rank_store.h"

namespace headroom::llama {
namespace {

void copy_bytes(const at::Tensor& to, const at::Tensor& from) {
  if (to.data_ptr() != from.data_ptr()) std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes());
}

c10::intrusive_ptr<c10d::ProcessGroupGloo::Options> gloo_options(const protocol::RankPlace& place,
                                                                 std::chrono::milliseconds timeout) {
  using Options = c10d::ProcessGroupGloo::Options;
  // The interface of GLOO_SOCKET_IFNAME, otherwise the address of the host's name.
  if (!place.one_host()) return Options::create_default(timeout);
  auto options = Options::create(timeout);
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  return options;
}

class GlooCollectives final : public Collectives {
 public:
  GlooCollectives(const protocol::RankPlace& place, CollectiveOptions options)
      : Collectives(place.rank, place.ranks, options.axis, std::move(options.listener)) {
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(open_store(place, options), place.rank, place.ranks,
                                                         gloo_options(place, options.start_timeout));
    group_->barrier()->wait();  // rank 0's store must live until all ranks are connected
    group_->setTimeout(options.timeout);
  }

 private:
  void run(const Call& call, IssuedCollective& issued) override {
    switch (call.kind) {
      case CollectiveKind::kAllReduce:
        for (const at::Tensor& tensor : call.tensors) group_->allreduce(only(tensor))->wait();
        break;
      case CollectiveKind::kReduceScatter:
        for (const Sliced& tensor : call.slices) reduce_scatter_one(tensor);
        break;
      case CollectiveKind::kAllGather:
        for (const Sliced& tensor : call.slices) all_gather_one(tensor);
        break;
      case CollectiveKind::kBroadcast:
        for (const at::Tensor& tensor : call.tensors) broadcast_one(tensor, call.root);
        break;
      case CollectiveKind::kBarrier:
        group_->barrier()->wait();
        break;
      case CollectiveKind::kSend:
      case CollectiveKind::kReceive:
      case CollectiveKind::kAllToAll:
        throw std::logic_error("Collectives has no call of this kind");
    }
    one_.clear();
    issued.end = std::chrono::steady_clock::now();
  }

  // Both are under way before either is waited for.
  void run(const Exchange& pair, IssuedCollective& sent, IssuedCollective& received) override {
    constexpr int kTag = 0;
    std::vector<at::Tensor> from{not_owned(pair.receive)}, to{not_owned(pair.send)};
    const auto arrives = group_->recv(from, pair.from, kTag), leaves = group_->send(to, pair.to, kTag);
    leaves->wait();
    sent.end = std::chrono::steady_clock::now();
    arrives->wait();
    received.end = std::chrono::steady_clock::now();
  }

  // gloo's `reduce` leaves partial sums in the other ranks' tensors.
  void reduce_scatter_one(const Sliced& tensor) {
    for (int rank = 0; rank < ranks(); ++rank) {
      c10d::ReduceOptions options;
      options.rootRank = rank;
      group_->reduce(only(place(tensor, rank)), options)->wait();
    }
    copy_bytes(tensor.slice, place(tensor, this->rank()));
  }

  void all_gather_one(const Sliced& tensor) {
    copy_bytes(place(tensor, rank()), tensor.slice);
    for (int root = 0; root < ranks(); ++root) broadcast_one(place(tensor, root), root);
  }

  void broadcast_one(const at::Tensor& tensor, int root) {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    group_->broadcast(only(tensor), options)->wait();
  }

  static at::Tensor place(const Sliced& tensor, int rank) {
    const std::int64_t size = tensor.slice.numel();
    return tensor.whole.narrow(0, rank * size, size);
  }

  // c10d's thread releases its tensors some time after wait(), so it gets one that does not own the memory: frees
  // happen when this thread makes them.
  static at::Tensor not_owned(const at::Tensor& tensor) {
    return at::from_blob(tensor.mutable_data_ptr(), tensor.sizes(), tensor.options());
  }
  std::vector<at::Tensor>& only(const at::Tensor& tensor) {
    one_.assign(1, not_owned(tensor));
    return one_;
  }

  c10::intrusive_ptr<c10d::Backend> group_;
  std::vector<at::Tensor> one_;  // reused by each call
};

}  // namespace

std::unique_ptr<Collectives> make_gloo_collectives(const protocol::RankPlace& place, CollectiveOptions options) {
  try {
    return std::make_unique<GlooCollectives>(place, std::move(options));
  } catch (const CollectiveError&) {
    throw;
  } catch (const std::exception& error) {
    throw not_connected(place, error);
  }
}

}  // namespace headroom::llama
