// Reads and checks links that act.
#include "lessons/pages/acts.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/record/text.h"
#include "lessons/pages/page_reader.h"

namespace headroom::lessons {

namespace {

constexpr std::string_view kSet = "set:", kView = "view:", kPage = "page:";

struct ViewPart {
  std::string_view key;
  std::string TourView::*member;
};
constexpr std::array<ViewPart, 5> kViewParts{{{"run", &TourView::run},
                                              {"zoom", &TourView::zoom},
                                              {"highlight", &TourView::highlight},
                                              {"cursor", &TourView::cursor},
                                              {"pin", &TourView::pin}}};

void check_settings(const std::vector<Setting>& settings, const Page& page, const Complain& complain) {
  record::Params params = settings_of(page);
  for (const Setting& setting : settings)
    if (const auto set = params.set(setting.key, std::string_view(setting.value)); !set)
      return complain(set.error().message);
  if (const auto why = experiments::refused_combination(params)) return complain(*why);
  for (const Setting& setting : settings)
    if (!params.in_use(setting.key))
      complain(fmt::format("The link sets {}, which has no effect with the other settings.", setting.key));
}

}  // namespace

bool is_act(std::string_view target) {
  return target.starts_with(kSet) || target.starts_with(kView) || target.starts_with(kPage);
}

record::Status set_in_view(TourView& view, const Setting& part) {
  for (const ViewPart& each : kViewParts) {
    if (each.key != part.key) continue;
    view.*each.member = part.value;
    return record::Ok{};
  }
  return record::Error{unknown("part of a view", part.key, names_of(kViewParts, &ViewPart::key))};
}

record::Result<Act> parse_act(std::string_view target) {
  if (target.starts_with(kPage)) {
    Act act;
    act.page = target.substr(kPage.size());
    if (act.page.empty()) return record::Error{"The link page: names no page."};
    return act;
  }
  const bool sets = target.starts_with(kSet);
  std::string pairs(target.substr(sets ? kSet.size() : kView.size()));
  if (sets) std::ranges::replace(pairs, '&', ' ');
  const std::vector<std::string> words = words_of(pairs);
  if (words.empty()) return record::Error{fmt::format("The link {} does nothing.", target)};
  Act act;
  for (const std::string& word : words) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos)
      return record::Error{fmt::format("A link takes KEY=VALUE, not {}.", record::quoted(word))};
    const Setting pair{word.substr(0, sign), word.substr(sign + 1)};
    if (sets)
      act.settings.push_back(pair);
    else if (const auto set = set_in_view(act.view, pair); !set)
      return set.error();
  }
  return act;
}

std::string assignment_of(const Act& act) {
  std::string text;
  for (const Setting& setting : act.settings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", setting.key, setting.value);
  return text;
}

void check_view(const TourView& view, const Page& page, const Complain& complain) {
  const auto check = [&](std::string_view kind, const std::string& value, const std::vector<std::string_view>& known) {
    if (!value.empty() && std::ranges::find(known, value) == known.end()) complain(unknown(kind, value, known));
  };
  std::vector<std::string_view> phases{"all"}, kinds, runs{"base", "none"};
  for (int i = 0; i < record::kNumPhases; ++i) phases.push_back(record::key_of(static_cast<record::Phase>(i)));
  for (int i = 0; i < record::kNumCategories; ++i) kinds.push_back(record::key_of(static_cast<record::Category>(i)));
  runs.insert(runs.end(), page.recordings.begin(), page.recordings.end());
  check("run to show", view.run, {page.recordings.begin(), page.recordings.end()});
  check("phase", view.zoom, phases);
  check("kind of memory", view.highlight, kinds);
  check("place of the cursor", view.cursor, {"begin", "peak", "end"});
  check("run to pin", view.pin, runs);
}

void check_act(const Act& act, const Page& page, const Complain& complain) {
  if (act.shows())
    check_view(act.view, page, complain);
  else if (act.sets() && demo_or_schema(page) != nullptr)
    check_settings(act.settings, page, complain);
}

}  // namespace headroom::lessons
