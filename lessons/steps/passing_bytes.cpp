#include "lessons/steps/passing_bytes.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "demos/llama/operators.h"

namespace headroom::lessons {
namespace {

using llama::Op;
using record::Bytes;
using record::Category;

struct Change {
  std::uint64_t event = 0;
  std::size_t category = 0;
  Bytes bytes = 0;  // negative: freed
};

// An operator's tensors are of one of these kinds.
enum class Part : std::uint8_t { kOther, kGathered, kSummed, kShareOfGradient };

// By operator of the recording.
std::vector<Part> parts_of(const record::Recording& recording) {
  std::vector<Part> parts;
  for (const std::string& op : recording.operators())
    parts.push_back(op == llama::name_of(Op::kGatheredWeights)   ? Part::kGathered
                    : op == llama::name_of(Op::kSummedGradients) ? Part::kSummed
                    : op == llama::name_of(Op::kGradientShares)  ? Part::kShareOfGradient
                                                                 : Part::kOther);
  return parts;
}

std::optional<Category> passing_category(const record::Storage& storage, Part part, bool has_shares) {
  if (part == Part::kGathered) return Category::kWeights;
  const bool whole = has_shares && storage.category == Category::kGradients && part != Part::kShareOfGradient;
  return part == Part::kSummed || whole ? std::optional(Category::kGradients) : std::nullopt;
}

// Births and deaths of passing tensors that are alive at some of the events `first` … `last`, by event.
std::vector<Change> changes_of(const record::Ledger& run, std::uint64_t first, std::uint64_t last) {
  const std::vector<Part> parts = parts_of(run.recording());
  const bool has_shares = std::ranges::count(parts, Part::kShareOfGradient) > 0;
  std::vector<Change> changes;
  for (const record::Storage& each : run.storages()) {
    if (each.died <= first || each.born > last) continue;
    const Part part = each.op < parts.size() ? parts[each.op] : Part::kOther;
    const auto category = passing_category(each, part, has_shares);
    if (!category) continue;
    const auto k = static_cast<std::size_t>(*category);
    changes.push_back({each.born, k, each.block});
    changes.push_back({each.died, k, -each.block});
  }
  std::ranges::stable_sort(changes, {}, &Change::event);
  return changes;
}

}  // namespace

void add_passing(Timeline& panel, const std::vector<record::Column>& columns, const record::Ledger& run) {
  if (run.recording().info().ranks < 2 || columns.empty()) return;
  const std::vector<Change> changes = changes_of(run, columns.front().high_event, columns.back().high_event);
  if (changes.empty()) return;
  record::ByCategory held{}, most{};
  std::size_t next = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (; next < changes.size() && changes[next].event <= columns[i].high_event; ++next)
      held[changes[next].category] += changes[next].bytes;
    for (std::size_t k = 0; k < held.size(); ++k) {
      panel.stack[i].passing[k] = std::min(held[k], panel.stack[i].high[k]);
      most[k] = std::max(most[k], panel.stack[i].passing[k]);
    }
  }
  const auto name = [&](Category category, std::string_view passing) {
    const auto k = static_cast<std::size_t>(category);
    if (most[k] > 0) panel.passing[k] = passing;
  };
  name(Category::kWeights, "gathered");
  name(Category::kGradients, "being summed");
}

}  // namespace headroom::lessons
