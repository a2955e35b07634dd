#include "lessons/steps/kept_measured.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "demos/record/timeline.h"

namespace headroom::lessons {

namespace {

using record::Bytes;
using Blocks = std::vector<const record::Storage*>;

// The last event before the loss in the last whole step.
std::optional<std::uint64_t> end_of_forward(const record::Recording& run) {
  const auto step = record::last_whole_step(run);
  if (!step) return std::nullopt;
  const auto& marks = run.marks();
  for (std::size_t i = step->first_mark; i < step->last_mark && i < marks.size(); ++i)
    if (marks[i].phase == record::Phase::kLoss && marks[i].event_index > step->first) return marks[i].event_index - 1;
  return std::nullopt;
}

bool may_be(const record::Recording& run, const record::Storage& block, const predict::KeptTensor& tensor) {
  const llama::Operator* const op = llama::find_operator(run.op_name(block.op));
  return op != nullptr && std::ranges::find(tensor.operators, op->op) != tensor.operators.end();
}

// Bytes per tensor of one layer. Each block matches at most once.
std::vector<Bytes> matched(const record::Recording& run, const std::vector<predict::KeptTensor>& tensors,
                           Blocks blocks) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return tensors[a].bytes > tensors[b].bytes; });
  std::vector<Bytes> found(tensors.size(), -1);
  for (const std::size_t i : order) {
    const auto distance = [&](const record::Storage* block) {
      if (!may_be(run, *block, tensors[i])) return HUGE_VAL;
      return std::abs(std::log(static_cast<double>(block->block) / static_cast<double>(tensors[i].bytes)));
    };
    const auto nearest = std::ranges::min_element(blocks, {}, distance);
    if (nearest == blocks.end() || !may_be(run, **nearest, tensors[i])) continue;
    found[i] = (*nearest)->block;
    blocks.erase(nearest);
  }
  return found;
}

}  // namespace

std::optional<KeptMeasured> kept_measured(const record::Ledger& ledger, const std::vector<predict::KeptTensor>& tensors,
                                          std::int64_t layers) {
  const record::Recording& run = ledger.recording();
  const auto event = end_of_forward(run);
  if (!event) return std::nullopt;
  std::map<std::int64_t, Blocks> kept;
  for (const record::Storage* block : ledger.alive(*event))
    if (block->category == record::Category::kActivations && block->layer != record::kNoLayer && block->block > 0)
      kept[block->layer].push_back(block);
  KeptMeasured measured{.all = std::vector<Bytes>(tensors.size(), 0)};
  measured.activations = ledger.at(*event).by_category[static_cast<std::size_t>(record::Category::kActivations)];
  for (const auto& [layer, blocks] : kept) {
    const std::vector<Bytes> found = matched(run, tensors, blocks);
    for (std::size_t i = 0; i < found.size(); ++i) measured.all[i] += std::max<Bytes>(found[i], 0);
    if (layer != layers / 2) continue;
    measured.tensors = found;
    for (const record::Storage* block : blocks) measured.layer += block->block;
  }
  if (measured.tensors.empty()) return std::nullopt;
  return measured;
}

}  // namespace headroom::lessons
