// Writes, parses and applies links.
#include "app/page/link.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "app/common/plan/card_words.h"
#include "app/page/page_facts.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/record/text.h"
#include "lessons/pages/document.h"
#include "lessons/pages/page_reader.h"

namespace headroom::app::page {

namespace {

using lessons::Setting;
using record::ParamRole;
using record::ParamSpec;

constexpr std::string_view kScheme = "headroom:", kCard = "card";

std::string encoded(std::string_view text) {
  std::string code;
  for (const char c : text) {
    const bool plain =
        static_cast<unsigned char>(c) > ' ' && std::string_view("%&#?=").find(c) == std::string_view::npos;
    code += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return code;
}

std::string decoded(std::string_view code) {
  std::string text;
  for (std::size_t i = 0; i < code.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = code.data() + i + 1;
    const bool escaped =
        code[i] == '%' && i + 2 < code.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    text += escaped ? static_cast<char>(byte) : code[i];
    if (escaped) i += 2;
  }
  return text;
}

// Cuts the part before `sign`, and the sign, off `rest`. Returns the part.
std::string_view cut(std::string_view& rest, char sign, bool& there) {
  const std::size_t at = std::min(rest.find(sign), rest.size());
  const std::string_view part = rest.substr(0, at);
  there = at < rest.size();
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

std::vector<Setting> settings_in(std::string_view pairs, std::vector<std::string>& refused) {
  std::vector<Setting> settings;
  while (!pairs.empty()) {
    bool there = false;
    const std::string_view pair = cut(pairs, '&', there);
    const std::size_t sign = pair.find('=');
    if (sign != std::string_view::npos)
      settings.push_back({decoded(pair.substr(0, sign)), decoded(pair.substr(sign + 1))});
    else if (!pair.empty())
      refused.push_back(fmt::format("A link needs KEY=VALUE, not {}.", record::quoted(pair)));
  }
  return settings;
}

std::string as_text(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& each : settings)
    text += fmt::format("{}{}={}", text.empty() ? "?" : "&", encoded(each.key), encoded(each.value));
  return text;
}

// Links omit files and run settings such as length and seed.
bool is_state(const ParamSpec& spec) {
  return spec.kind != record::ParamKind::kFile &&
         (spec.role != ParamRole::kRun || spec.key == "cap" || spec.key == "device");
}

// Resets conflicting settings, the last ones first.
void leave_out_conflicts(record::Params& wanted, std::vector<Setting> taken, const record::Params& begin,
                         std::vector<std::string>& refused) {
  while (const experiments::Conflict* conflict = experiments::conflict_in(wanted)) {
    const auto last = std::find_if(taken.rbegin(), taken.rend(), [&](const Setting& each) {
      return each.key == conflict->key || each.key == conflict->other;
    });
    if (last == taken.rend()) return;
    refused.push_back(fmt::format("{}={} is ignored: {}", last->key, last->value,
                                  experiments::refused_combination(wanted).value_or("")));
    (void)wanted.set(last->key, std::string_view(begin.as_text(last->key)));
    taken.erase(std::next(last).base());
  }
}

// A page without a setting of that name has a card.
bool names_card(const PageModel& page, const Setting& each) { return each.key == kCard && !page.settings().has(kCard); }

void apply_card(const Link& link, PageModel& page, std::vector<std::string>& refused) {
  for (const Setting& each : link.settings) {
    if (!names_card(page, each)) continue;
    if (const auto card = table_card(each.value); card)
      page.choose_card(card.value());
    else
      refused.push_back(card.error().message);
  }
}

void apply_settings(const Link& link, PageModel& page, std::vector<std::string>& refused) {
  if (!link.state) return;
  if (const std::string& why = page.control().fixed_settings(); !why.empty()) {
    if (!link.settings.empty()) refused.push_back("The link's settings are ignored. " + why);
    return;
  }
  const record::Params begin = begin_of(page);
  record::Params wanted = page.settings();
  for (const ParamSpec& spec : begin.schema())
    if (is_state(spec)) (void)wanted.set(spec.key, std::string_view(begin.as_text(spec.key)));
  std::vector<Setting> taken;
  for (const Setting& each : link.settings) {
    if (names_card(page, each)) continue;
    const record::Status set = wanted.set(each.key, std::string_view(each.value));
    if (set)
      taken.push_back(each);
    else
      refused.push_back(set.error().message);
  }
  leave_out_conflicts(wanted, taken, begin, refused);
  if (first_run(page) != nullptr && page.settings().as_text("device") == "auto" &&
      wanted.as_text("device") == record::setting_of(device_of(page)))
    (void)wanted.set("device", "auto");
  page.adopt(wanted);
}

void apply_figure(const Link& link, PageModel& page, std::vector<std::string>& refused) {
  const std::vector<std::string>& figures = page.page().figures;
  const auto found = std::ranges::find(figures, link.figure);
  if (!link.figure.empty() && found == figures.end())
    refused.push_back(lessons::unknown("figure", link.figure, {figures.begin(), figures.end()}));
  if (!link.figure.empty() && found != figures.end()) page.show_tab(static_cast<int>(found - figures.begin()));
  if (link.figure.empty() && link.state && !page.question().hides()) page.show_tab(0);
  if (!link.state || (!link.figure.empty() && found == figures.end())) return;
  const record::Params defaults(page.figures().shown().schema);
  for (const ParamSpec& spec : defaults.schema())
    if (page.figures().params().as_text(spec.key) != defaults.as_text(spec.key))
      (void)page.figures().set_param(spec.key, defaults.as_text(spec.key));
  for (const Setting& each : link.figure_settings)
    if (const record::Status set = page.figures().set_param(each.key, each.value); !set)
      refused.push_back(set.error().message);
}

}  // namespace

bool is_link(std::string_view text) { return lessons::trimmed(text).starts_with(kScheme); }

Link parse_link(std::string_view text) {
  Link link;
  std::string_view rest = lessons::trimmed(text);
  if (link.state = is_link(rest); link.state) rest.remove_prefix(kScheme.size());
  bool there = false, step = false;
  std::string_view page = cut(rest, '#', there);
  std::string_view path = cut(page, '?', there);
  link.state = link.state || there;
  link.settings = settings_in(page, link.refused);
  link.page = decoded(cut(path, '/', step));
  if (step && std::from_chars(path.data(), path.data() + path.size(), link.step).ptr != path.data() + path.size())
    link.refused.push_back(fmt::format("{} is not the number of a step.", record::quoted(path)));
  link.step = step && link.step > 0 ? link.step - 1 : -1;
  link.figure = decoded(cut(rest, '?', there));
  link.state = link.state || there;
  link.figure_settings = settings_in(rest, link.refused);
  return link;
}

std::string link_to(const PageModel& page, int step) {
  std::vector<Setting> settings, of_figure;
  const record::Params begin = begin_of(page);
  for (const ParamSpec& spec : begin.schema())
    if (std::string value = value_of(page, spec);
        is_state(spec) && page.settings().in_use(spec.key) && value != begin.as_text(spec.key))
      settings.push_back({std::string(spec.key), std::move(value)});
  if (const predict::Card* const card = chosen_card(page);
      card != nullptr && card != lessons::card_named(page.page().card))
    settings.push_back({std::string(kCard), card->name});
  const record::Params defaults(page.figures().shown().schema);
  for (const ParamSpec& spec : defaults.schema())
    if (std::string value = page.figures().params().as_text(spec.key); value != defaults.as_text(spec.key))
      of_figure.push_back({std::string(spec.key), std::move(value)});
  std::string text = std::string(kScheme) + encoded(page.page().id);
  if (step >= 0) text += fmt::format("/{}", step + 1);
  text += as_text(settings);
  if (page.figures().tab() > 0 || !of_figure.empty())
    text += "#" + encoded(page.figures().shown().id) + as_text(of_figure);
  return text;
}

std::string link_to_bench(const std::vector<std::string>& settings, const std::string& card) {
  std::vector<Setting> all;
  for (const std::string& each : settings) {
    const std::size_t sign = std::min(each.find('='), each.size());
    all.push_back({each.substr(0, sign), each.substr(std::min(sign + 1, each.size()))});
  }
  if (!card.empty()) all.push_back({std::string(kCard), card});
  return std::string(kScheme) + as_text(all);
}

std::vector<std::string> apply(const Link& link, PageModel& page) {
  std::vector<std::string> refused = link.refused;
  apply_settings(link, page, refused);
  apply_card(link, page, refused);
  apply_figure(link, page, refused);
  const std::size_t steps = page.page().more.size();
  if (link.step >= static_cast<int>(steps))
    refused.push_back(
        fmt::format("The page has {} steps of Read more, and the link asks for step {}.", steps, link.step + 1));
  return refused;
}

}  // namespace headroom::app::page
