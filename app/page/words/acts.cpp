// Checks, describes and performs links.
#include "app/page/words/acts.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/page/page_model.h"
#include "app/page/settings/param_scale.h"
#include "demos/experiments/combinations.h"
#include "lessons/names.h"
#include "lessons/pages/words.h"

namespace headroom::app::page {

namespace {

std::string settings_in_words(const std::vector<lessons::Setting>& settings, record::Params params) {
  for (const lessons::Setting& setting : settings) (void)params.set(setting.key, std::string_view(setting.value));
  std::vector<std::string> parts;
  for (const lessons::Setting& setting : settings)
    for (const record::ParamSpec& spec : params.schema())
      if (setting.key == spec.key) parts.push_back(fmt::format("{} to {}", spec.label, shown_value(spec, params)));
  return fmt::format("Sets {}", fmt::join(parts, ", "));
}

std::string run_in_words(const std::string& pin, const PageModel& page) {
  if (pin == "none") return "unpins run A";
  if (pin == "base") return "compares with the page's run A";
  const int run = page.runs().named(pin);
  return "compares with " + (run < 0 ? pin : page.runs()[run].label);
}

std::string view_in_words(const lessons::TourView& view, const PageModel& page) {
  std::vector<std::string> parts;
  if (const int run = page.runs().named(view.run); run >= 0) parts.push_back("shows " + page.runs()[run].label);
  if (!view.zoom.empty()) parts.push_back(view.zoom == "all" ? "shows the whole step" : "zooms to " + view.zoom);
  if (const auto kind = lessons::category_of_term(view.highlight))
    parts.push_back(fmt::format("lights {}", record::label_of(*kind)));
  if (!view.cursor.empty()) parts.push_back(fmt::format("moves the cursor to the {}", view.cursor));
  if (!view.pin.empty()) parts.push_back(run_in_words(view.pin, page));
  return lessons::capitalised(fmt::format("{}", fmt::join(parts, ", ")));
}

}  // namespace

std::string why_no_act(const lessons::Act& act, const PageModel& page) {
  if (!act.page.empty()) return {};
  if (act.shows()) return page.question().hides() ? "The figure shows this once you have answered." : "";
  record::Params wanted = page.settings();
  for (const lessons::Setting& setting : act.settings)
    if (const auto set = wanted.set(setting.key, std::string_view(setting.value)); !set)
      return "This link changes nothing. " + set.error().message;
  return page.control().fixed_settings();
}

std::string in_words(const lessons::Act& act, const PageModel& page) {
  if (!act.page.empty()) return "Opens that page";
  if (act.shows()) return view_in_words(act.view, page);
  std::string words = settings_in_words(act.settings, page.settings());
  if (const auto peak = page.forecast().previewed_peak())
    words += fmt::format(". The dashed line is its prediction: a peak of {}", record::format_bytes(*peak));
  return words;
}

record::Status perform(const lessons::Act& act, PageModel& page) {
  if (std::string why = why_no_act(act, page); !why.empty()) return record::Error{std::move(why)};
  if (act.shows()) page.show_view(act.view);
  // A setting may be allowed only after another one, so refused ones are tried again.
  record::Status refused = record::Ok{};
  const auto is_set = [&](const lessons::Setting& setting) {
    const record::Status set = page.set_param(setting.key, setting.value);
    if (!set) refused = set;
    return static_cast<bool>(set);
  };
  for (std::vector<lessons::Setting> left = act.settings; !left.empty();) {
    if (std::erase_if(left, is_set) > 0) continue;
    // Some settings are allowed only together.
    record::Params together = page.settings();
    for (const lessons::Setting& setting : left)
      if (!together.set(setting.key, std::string_view(setting.value))) return refused;
    if (experiments::conflict_in(together) != nullptr) return refused;
    page.adopt(together);
    break;
  }
  return record::Ok{};
}

}  // namespace headroom::app::page
