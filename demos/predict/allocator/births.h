// The live storages at an event of a trace, and their replacements when a part repeats.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "demos/record/rows/mem_event.h"

namespace headroom::predict {

// The allocation event of each live storage, with its current category.
using Births = std::unordered_map<std::uint64_t, record::MemEvent>;

inline void take(const record::MemEvent& event, Births& alive) {
  if (event.kind == record::EventKind::kAlloc) {
    alive[event.storage] = event;
  } else if (event.kind == record::EventKind::kFree) {
    alive.erase(event.storage);
  } else if (const auto of = alive.find(event.storage);
             event.kind == record::EventKind::kRelabel && of != alive.end()) {
    of->second.category = event.category;
  }
}

// Maps the storages that a part of a trace frees to those that the part leaves in their place.
using Successors = std::unordered_map<std::uint64_t, std::uint64_t>;

// Returns nullopt if the part cannot be repeated.
inline std::optional<Successors> successors(const Births& before, const Births& after) {
  const auto only_in = [](const Births& these, const Births& those) {
    std::vector<std::uint64_t> storages;
    for (const auto& [storage, birth] : these)
      if (!those.contains(storage)) storages.push_back(storage);
    std::ranges::sort(storages);  // storages are numbered in order of birth
    return storages;
  };
  const std::vector<std::uint64_t> freed = only_in(before, after), left = only_in(after, before);
  if (freed.size() != left.size()) return std::nullopt;
  Successors result;
  for (std::size_t i = 0; i < freed.size(); ++i) {
    const record::MemEvent &a = before.at(freed[i]), &b = after.at(left[i]);
    const bool same_use = a.requested == b.requested && a.category == b.category && a.op == b.op &&
                          a.stream == b.stream && a.device == b.device;
    if (!same_use) return std::nullopt;
    result[freed[i]] = left[i];
  }
  return result;
}

}  // namespace headroom::predict
