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

void Collectives::check(const Call& call) const {
  for (const at::Tensor& tensor : call.tensors)
    TORCH_CHECK(tensor.is_contiguous(), "a collective takes contiguous tensors");
  for (const Sliced& tensor : call.slices) check_sliced(tensor, rank_, ranks_);
  TORCH_CHECK(0 <= call.root && call.root < ranks_, "no rank ", call.root);
}

void Collectives::issue(const Call& call) {
  check(call);
  if (call.tensors.empty() && call.slices.empty() && call.kind != CollectiveKind::kBarrier) return;
  IssuedCollective issued;
  issued.kind = call.kind;
  issued.axis = axis_;
  issued.ranks = ranks_;
  for (const at::Tensor& tensor : call.tensors) issued.bytes += static_cast<record::Bytes>(tensor.nbytes());
  for (const Sliced& tensor : call.slices) issued.bytes += static_cast<record::Bytes>(tensor.whole.nbytes());
  issued.sequence = next_++;
  issued.tag = record::current_tag();
  issued.issued = issued.begin = issued.end = std::chrono::steady_clock::now();
  if (listener_.begins) listener_.begins();
  try {
    const at::NoGradGuard no_grad;
    run(call, issued);
  } catch (const std::exception& error) {
    failed_ = true;
    throw CollectiveError("Rank " + std::to_string(rank_) + " could not finish " + name_of(issued) + ": " +
                          cause_of(error) + ".");
  }
  if (listener_.issued) listener_.issued(std::move(issued));
}

}  // namespace headroom::llama
