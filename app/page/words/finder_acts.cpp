// Reads typed words as acts on the page.
#include "app/page/words/finder_acts.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/page/page_facts.h"
#include "app/page/settings/param_scale.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/technique_table.h"
#include "demos/predict/cards/card_names.h"
#include "demos/record/text.h"
#include "lessons/names.h"
#include "lessons/pages/document.h"

namespace headroom::app::page {

namespace {

using record::ParamKind;
using record::Params;
using record::ParamSpec;
using Words = std::vector<std::string>;

// An act, and how far the typed words are from its own: 0 is exact.
struct Candidate {
  Findable act;
  int off = 0;
  std::optional<Params> after = {};  // the settings with it, if it changes them alone
};

Words words_apart(std::string small, std::string_view marks) {
  std::ranges::replace_if(
      small, [&](char c) { return marks.find(c) != std::string_view::npos; }, ' ');
  return lessons::words_of(small);
}

// Points inside numbers, as in "Llama 3.2 1B", are kept.
Words words_of_name(std::string_view name) {
  std::string small = in_small_letters(name);
  const auto is_digit = [&](std::size_t at) { return at < small.size() && small[at] >= '0' && small[at] <= '9'; };
  for (std::size_t i = 0; i < small.size(); ++i)
    if (small[i] == '.' && (i == 0 || !is_digit(i - 1) || !is_digit(i + 1))) small[i] = ' ';
  return words_apart(std::move(small), "-_=(),");
}

// How far each typed word is from some word of the name; empty: one is none of them.
std::optional<int> off(std::span<const std::string> typed, const Words& name) {
  constexpr int kBegins = 1, kNear = 3;
  constexpr std::size_t kLeast = 3;  // letters of a beginning
  int sum = 0;
  for (const std::string& each : typed) {
    int best = kNear + 1;
    for (const std::string& word : name)
      best = std::min(best, word == each                                      ? 0
                            : each.size() >= kLeast && word.starts_with(each) ? kBegins
                            : is_near(each, word)                             ? kNear
                                                                              : kNear + 1);
    if (best > kNear) return std::nullopt;
    sum += best;
  }
  return sum;
}

// The words are the whole name, or tell it by a number: "fused loss", "8b".
std::optional<int> off_from_whole(std::span<const std::string> typed, const Words& name) {
  const bool tells = std::ranges::any_of(typed, [](const std::string& word) {
    return word.size() > 1 && std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; }) &&
           word.find_first_not_of("0123456789") != std::string::npos;
  });
  const bool whole = typed.size() == name.size();
  const std::optional<int> far = whole || tells ? off(typed, name) : std::nullopt;
  return far ? std::optional(*far + (whole ? 0 : 1)) : std::nullopt;
}

Candidate setting_act(const PageModel& page, const ParamSpec& spec, std::string_view value, int distance) {
  Candidate candidate{.act = {.kind = FoundKind::kAct, .detail = std::string(spec.help)}, .off = distance};
  Findable& act = candidate.act;
  Params after = page.settings();
  const record::Status set = after.set(spec.key, value);
  act.title = fmt::format("Set {} to {}", record::in_lower_case(spec.label),
                          set ? shown_value(spec, after) : std::string(value));
  act.why_not = !set                                       ? set.error().message
                : !page.control().fixed_settings().empty() ? page.control().fixed_settings()
                : after == page.settings()                 ? "It is set."
                : !page.settings().in_use(spec.key)        ? "It has no effect with these settings."
                                                           : page.control().why_not(spec.key, value);
  if (act.why_not.empty()) candidate.after = std::move(after);
  act.does = [key = std::string(spec.key), text = std::string(value)](PageModel& now) {
    return now.set_param(key, text);
  };
  return candidate;
}

bool is_number(const ParamSpec& spec) {
  return spec.kind == ParamKind::kInteger || spec.kind == ParamKind::kReal || spec.kind == ParamKind::kBytes;
}

// "24 GiB" as parameters read it: "24GiB".
std::string as_number(std::span<const std::string> words) {
  std::string number;
  for (const std::string& word : words) number += word;
  return !number.empty() && number.front() >= '0' && number.front() <= '9' ? number : std::string();
}

void add_choices(std::vector<Candidate>& all, const PageModel& page, const ParamSpec& spec,
                 std::span<const std::string> value, int distance, bool whole) {
  for (const record::Choice& choice : record::choices_of(spec)) {
    const Words label = words_of_name(choice.label);
    std::optional<int> far = whole ? off_from_whole(value, label) : off(value, label);
    if (const auto by_key = whole ? std::nullopt : off(value, words_of_name(choice.key)))
      far = std::min(far.value_or(*by_key), *by_key);
    if (far) all.push_back(setting_act(page, spec, choice.key, distance + *far));
  }
}

// "batch 8", "checkpointing layer", "4096 tokens"; a choice also without its setting's name, "8b".
std::vector<Candidate> settings_named(const Words& typed, const PageModel& page) {
  std::vector<Candidate> all;
  for (const ParamSpec& spec : page.settings().schema()) {
    const Words label = words_of_name(spec.label), key = words_of_name(spec.key), unit = words_of_name(spec.unit);
    for (std::size_t i = 1; i < typed.size(); ++i) {
      const std::span<const std::string> first = std::span(typed).first(i), rest = std::span(typed).subspan(i);
      const std::optional<int> by_label = off(first, label), by_key = off(first, key);
      const bool named = by_label || by_key;
      const int distance = std::min(by_label.value_or(99), by_key.value_or(99));
      if (named && is_number(spec) && !as_number(rest).empty())
        all.push_back(setting_act(page, spec, as_number(rest), distance));
      if (is_number(spec) && !unit.empty() && off(rest, unit) == 0 && !as_number(first).empty())
        all.push_back(setting_act(page, spec, as_number(first), 0));
      if (named) add_choices(all, page, spec, rest, distance, false);
    }
    if (spec.kind == ParamKind::kChoice) add_choices(all, page, spec, typed, 0, true);
  }
  return all;
}

Candidate technique_act(const PageModel& page, const experiments::Technique& what, bool on, int distance) {
  const Params& now = page.settings();
  const auto turned = on ? experiments::turned_on(what, now) : experiments::turned_off(what, now);
  Candidate candidate{.act = {.kind = FoundKind::kAct,
                              .title = fmt::format("{} {}", lessons::capitalised(what.button()), on ? "on" : "off"),
                              .detail = what.reason},
                      .off = distance};
  Findable& act = candidate.act;
  if (experiments::is_on(what, now) == on)
    act.why_not = on ? "It is on." : "It is off.";
  else if (!turned)
    act.why_not = "It has no effect with these settings.";
  else
    act.why_not = experiments::refused_combination(*turned).value_or("");
  if (!act.why_not.empty()) return candidate;
  candidate.after = turned;
  act.does = [after = *turned](PageModel& open) -> record::Status {
    open.adopt(after);
    return record::Ok{};
  };
  return candidate;
}

// "lora", which turns it off if it is on; "fused loss on".
std::vector<Candidate> techniques_named(const Words& words, const PageModel& page) {
  std::vector<Candidate> all;
  Words typed = words;
  if (!has_step_settings(page)) return all;
  const std::string last = typed.back();
  const bool says = typed.size() > 1 && (last == "on" || last == "off");
  if (says) typed.pop_back();
  for (const experiments::Technique& what : experiments::techniques()) {
    std::optional<int> best;
    for (const std::string_view name : {std::string_view(what.label), std::string_view(what.button())})
      if (const auto far = off_from_whole(typed, words_of_name(name))) best = std::min(best.value_or(*far), *far);
    if (!best) continue;
    const bool on = says ? last == "on" : !experiments::is_on(what, page.settings());
    all.push_back(technique_act(page, what, on, *best));
  }
  return all;
}

// "4090", "card h100". A card of a GPU has no meaning for a run on the CPU, so the run moves to the GPU.
std::vector<Candidate> cards_named(const Words& words, const PageModel& page) {
  std::vector<Candidate> all;
  Words typed = words;
  if (typed.size() > 1 && typed.front() == "card") typed.erase(typed.begin());
  for (const predict::Card* card : predict::find_cards(fmt::format("{}", fmt::join(typed, " ")))) {
    if (!card->memory) continue;
    Params after = page.settings();
    const bool fixed = !page.control().fixed_settings().empty();
    if (!fixed && after.has("cap")) (void)after.set("cap", "0");
    if (!fixed && after.has("device")) (void)after.set("device", record::setting_of(record::DeviceKind::kGpu));
    Candidate& one = all.emplace_back(
        Candidate{.act = {.kind = FoundKind::kAct,
                          .title = fmt::format("Card: {}, {}", card->name, record::format_bytes(*card->memory, 0)),
                          .detail = "Checks whether the step fits on it"}});
    if (chosen_card(page) == card && after == page.settings()) one.act.why_not = "It is the card.";
    one.act.does = [card, after](PageModel& open) -> record::Status {
      open.adopt(after);
      open.choose_card(card);
      return record::Ok{};
    };
  }
  return all;
}

// A new kind of act is a function here. Earlier ones win if two lead to the same settings.
constexpr std::vector<Candidate> (*kKinds[])(const Words&, const PageModel&) = {
    cards_named,
    techniques_named,
    settings_named,
};

}  // namespace

std::vector<Findable> acts_for(std::string_view typed, const PageModel& page) {
  constexpr std::size_t kMost = 5;
  std::string small = in_small_letters(typed);
  std::erase(small, ',');  // "4,096"
  const Words words = words_apart(std::move(small), "-_=()");
  if (words.empty()) return {};
  std::vector<Candidate> all;
  for (const auto kind : kKinds)
    for (Candidate& each : kind(words, page)) {
      const auto same = [&](const Candidate& other) {
        return other.act.title == each.act.title || (each.after && each.after == other.after);
      };
      if (std::ranges::none_of(all, same)) all.push_back(std::move(each));
    }
  std::ranges::stable_sort(all, {}, &Candidate::off);
  std::erase_if(all, [far = all.empty() ? 0 : all.front().off](const Candidate& each) { return each.off > far; });
  const bool any = std::ranges::any_of(all, [](const Candidate& each) { return each.act.why_not.empty(); });
  std::vector<Findable> acts;
  for (Candidate& each : all)
    if (each.act.why_not.empty() == any && acts.size() < kMost) acts.push_back(std::move(each.act));
  return acts;
}

}  // namespace headroom::app::page
