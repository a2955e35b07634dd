// Checks, numbers and reports collectives, whatever carries them.
#include "demos/engine/llama/ranks/collectives.h"

#include <exception>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

namespace headroom::llama {
namespace {

void check_sliced(const Sliced& tensor, int rank, int ranks) {
  const auto& [whole, slice] = tensor;
  TORCH_CHECK(whole.dim() == 1 && slice.dim() == 1 && whole.is_contiguous() && slice.is_contiguous() &&
                  whole.scalar_type() == slice.scalar_type() && whole.numel() == ranks * slice.numel(),
              "a collective takes a contiguous 1-D tensor of equal slices, and a slice of the same type");
  if (!whole.is_alias_of(slice)) return;
  const std::int64_t distance = slice.storage_offset() - whole.storage_offset();
  TORCH_CHECK(distance == rank * slice.numel() || distance >= whole.numel() || distance <= -slice.numel(),
              "a slice in place is at its rank's place");
}

// "all-reduce 412 (backward, layer 7)"
std::string name_of(const IssuedCollective& issued) {
  std::string name(record::label_of(issued.kind));
  name += " " + std::to_string(issued.sequence) + " (" + std::string(record::label_of(issued.tag.phase));
  if (issued.tag.layer != record::kNoLayer) name += ", layer " + std::to_string(issued.tag.layer);
  return name + ")";
}

}  // namespace

Collectives::Collectives(int rank, int ranks, Axis axis, CollectiveListener listener)
    : rank_(rank), ranks_(ranks), axis_(axis), listener_(std::move(listener)) {
  TORCH_CHECK(0 <= rank && rank < ranks, "rank ", rank, " of ", ranks);
}

void Collectives::all_reduce(std::span<const at::Tensor> tensors) {
  issue({.kind = CollectiveKind::kAllReduce, .tensors = tensors});
}

void Collectives::reduce_scatter(std::span<const Sliced> tensors) {
  issue({.kind = CollectiveKind::kReduceScatter, .slices = tensors});
}

void Collectives::all_gather(std::span<const Sliced> tensors) {
  issue({.kind = CollectiveKind::kAllGather, .slices = tensors});
}

void Collectives::broadcast(std::span<const at::Tensor> tensors, int root) {
  issue({.kind = CollectiveKind::kBroadcast, .tensors = tensors, .root = root});
}

void Collectives::barrier() { issue({.kind = CollectiveKind::kBarrier}); }

void Collectives::exchange(const Exchange& pair) {
  check(pair);
  IssuedCollective sent = numbered(CollectiveKind::kSend, static_cast<record::Bytes>(pair.send.nbytes()));
  IssuedCollective received = numbered(CollectiveKind::kReceive, static_cast<record::Bytes>(pair.receive.nbytes()));
  run_named(sent, [&] { run(pair, sent, received); });
  if (!listener_.issued) return;
  listener_.issued(std::move(sent));
  listener_.issued(std::move(received));
}

void Collectives::check(const Call& call) const {
  for (const at::Tensor& tensor : call.tensors)
    TORCH_CHECK(tensor.is_contiguous(), "a collective takes contiguous tensors");
  for (const Sliced& tensor : call.slices) check_sliced(tensor, rank_, ranks_);
  TORCH_CHECK(0 <= call.root && call.root < ranks_, "no rank ", call.root);
}

void Collectives::check(const Exchange& pair) const {
  TORCH_CHECK(pair.send.is_contiguous() && pair.receive.is_contiguous(), "an exchange takes contiguous tensors");
  TORCH_CHECK(!pair.send.is_alias_of(pair.receive) || pair.send.storage_offset() != pair.receive.storage_offset(),
              "a rank does not receive into the tensor that it sends");
  for (const int other : {pair.to, pair.from})
    TORCH_CHECK(0 <= other && other < ranks_ && other != rank_, "rank ", rank_, " has no exchange with rank ", other);
}

IssuedCollective Collectives::numbered(CollectiveKind kind, record::Bytes bytes) {
  IssuedCollective issued;
  issued.kind = kind;
  issued.bytes = bytes;
  issued.axis = axis_;
  issued.ranks = ranks_;
  issued.sequence = next_++;
  issued.tag = record::current_tag();
  issued.issued = issued.begin = issued.end = std::chrono::steady_clock::now();
  return issued;
}

// Throws CollectiveError if `call` throws.
void Collectives::run_named(const IssuedCollective& issued, const std::function<void()>& call) {
  if (listener_.begins) listener_.begins();
  try {
    const at::NoGradGuard no_grad;
    call();
  } catch (const std::exception& error) {
    failed_ = true;
    throw CollectiveError("Rank " + std::to_string(rank_) + " could not finish " + name_of(issued) + ": " +
                          cause_of(error) + ".");
  }
}

void Collectives::issue(const Call& call) {
  check(call);
  if (call.tensors.empty() && call.slices.empty() && call.kind != CollectiveKind::kBarrier) return;
  record::Bytes bytes = 0;
  for (const at::Tensor& tensor : call.tensors) bytes += static_cast<record::Bytes>(tensor.nbytes());
  for (const Sliced& tensor : call.slices) bytes += static_cast<record::Bytes>(tensor.whole.nbytes());
  IssuedCollective issued = numbered(call.kind, bytes);
  run_named(issued, [&] { run(call, issued); });
  if (listener_.issued) listener_.issued(std::move(issued));
}

}  // namespace headroom::llama
