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

bool has_shares_of_gradients(const record::Recording& recording) {
  return std::ranges::count(recording.operators(), llama::name_of(Op::kGradientShares)) > 0;
}

std::optional<Category> passing_category(const record::Storage& storage, const record::Recording& recording,
                                         bool has_shares) {
  const std::string_view op = recording.op_name(storage.op);
  if (op == llama::name_of(Op::kGatheredWeights)) return Category::kWeights;
  if (op == llama::name_of(Op::kSummedGradients)) return Category::kGradients;
  const bool whole = storage.category == Category::kGradients && op != llama::name_of(Op::kGradientShares);
  return has_shares && whole ? std::optional(Category::kGradients) : std::nullopt;
}

std::vector<Change> changes_of(const record::Ledger& run) {
  const record::Recording& recording = run.recording();
  const bool has_shares = has_shares_of_gradients(recording);
  std::vector<Change> changes;
  for (const record::Storage& each : run.storages()) {
    const auto category = passing_category(each, recording, has_shares);
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
  if (run.recording().info().ranks < 2) return;
  const std::vector<Change> changes = changes_of(run);
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
