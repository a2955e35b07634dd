// Maps a recording's ids to numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "demos/record/mixed64.h"

namespace headroom::record {

// Recorders count ids up, so most ids index an array. All other ids are hashed.
class IdTable {
 public:
  std::optional<std::uint32_t> find(std::uint64_t id) const {
    if (id < counted_.size() && counted_[id] != kNone) return counted_[id];
    if (others_.empty()) return std::nullopt;
    const auto found = others_.find(id);
    return found == others_.end() ? std::nullopt : std::optional(found->second);
  }

  // Requires a new `id` and number < 2^32 - 1.
  void set(std::uint64_t id, std::uint32_t number) {
    if (id >= kSpacing * (entries_++ + kFirstIds)) {
      others_.emplace(id, number);
      return;
    }
    if (id >= counted_.size()) counted_.resize(id + 1, kNone);
    counted_[id] = number;
  }

  void erase(std::uint64_t id) {
    if (id < counted_.size()) counted_[id] = kNone;
    others_.erase(id);
  }

 private:
  // The array needs at most 16 bytes per id.
  static constexpr std::uint64_t kSpacing = 4, kFirstIds = 1024;
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  // Ids share buckets only by chance, even if they were chosen to collide.
  struct Mixed {
    std::size_t operator()(std::uint64_t id) const noexcept { return mixed64(id); }
  };

  std::uint64_t entries_ = 0;
  std::vector<std::uint32_t> counted_;
  std::unordered_map<std::uint64_t, std::uint32_t, Mixed> others_;
};

}  // namespace headroom::record
