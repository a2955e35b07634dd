// Steps of undo and redo.
#include "app/page/settings_history.h"

namespace headroom::app::page {

void SettingsHistory::remember(std::string_view key, const record::Params& before) {
  constexpr std::size_t kMost = 100;
  after_.clear();
  if (key.empty() || key != remembered_key_ || before_.empty()) before_.push_back(before);
  if (before_.size() > kMost) before_.erase(before_.begin());
  remembered_key_ = key;
}

std::optional<record::Params> SettingsHistory::step(std::vector<record::Params>& from, std::vector<record::Params>& to,
                                                    const record::Params& now) {
  if (from.empty()) return std::nullopt;
  record::Params wanted = std::move(from.back());
  from.pop_back();
  to.push_back(now);
  remembered_key_.clear();
  return wanted;
}

}  // namespace headroom::app::page
