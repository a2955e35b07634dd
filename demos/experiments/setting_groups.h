// The many settings of a training step in groups, so that a list of them stays readable. Constant data.
#pragma once

#include <span>
#include <string_view>

namespace headroom::experiments {

struct SettingGroup {
  std::string_view title;  // "Optimizer"
  std::span<const std::string_view> keys;
};

// Of a demo, in the order in which they are shown; none: its settings are few. A key that stands in no group belongs to
// the first.
std::span<const SettingGroup> setting_groups(std::string_view demo);

}  // namespace headroom::experiments
