// Words of the verdict, and the button that tries its border.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/window/draw/controls.h"
#include "app/window/views/figure_card.h"
#include "app/window/views/verdict_parts.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

using predict::Verdict, record::Bytes;

namespace {

// The largest batch that ran and the smallest that did not, under the card's limit; 0 if none.
struct Tried {
  std::int64_t ran = 0, ended = 0;

  bool any() const { return ran > 0 || ended > 0; }
  bool against(std::int64_t predicted) const { return ran > predicted + 1 || (ended > 0 && ended <= predicted); }
  std::string words() const {
    if (ended == 0) return fmt::format("tried: {} ran", ran);
    return ran == 0 ? fmt::format("tried: {} ran out of memory", ended)
                    : fmt::format("tried: {} ran, {} ran out of memory", ran, ended);
  }
};

Tried tried_batches(page::PageModel& page) {
  Tried tried;
  for (const page::SettingMark& run : page::marks_of(page, "batch")) {
    const auto batch = static_cast<std::int64_t>(run.value);
    if (run.kind == page::SettingMark::Kind::kFits) tried.ran = std::max(tried.ran, batch);
    if (run.kind == page::SettingMark::Kind::kOutOfMemory)
      tried.ended = tried.ended == 0 ? batch : std::min(tried.ended, batch);
  }
  return tried;
}

std::string words_of_largest(const StepPlan& plan, const Tried& tried) {
  const CardPlan& on = plan.cards.front();
  if (!on.largest_batch) return "";
  if (*on.largest_batch == 0 && !tried.any()) return "not even one sequence fits";
  const std::string batch = largest_text(plan.params, "batch", *on.largest_batch);
  const std::string_view up_to = batch.ends_with("more") ? "batch" : "up to batch";
  if (tried.any())
    return fmt::format("{} {} {}; {}", tried.against(*on.largest_batch) ? "predicted" : "fits", up_to, batch,
                       tried.words());
  std::string words = fmt::format("fits {} {}", up_to, batch);
  if (on.largest_sequence && *on.largest_sequence > 0)
    words += fmt::format(", or {} tokens", largest_text(plan.params, "seq", *on.largest_sequence));
  return words;
}

}  // namespace

// The figure's unit, or else one that suits the peak.
PeakUnit peak_unit(const PageFrame& frame, Bytes peak) {
  return {lessons::unit_of_bytes(frame.page.figure(frame.figure.columns()), static_cast<double>(peak))};
}

// "does not fit by 8.0 GiB"
std::string verdict_words(const StepPlan& plan, const PeakUnit& unit) {
  const predict::Fit& fit = plan.cards.front().fit;
  const Bytes taken = plan.reserved > 0 ? plan.reserved : plan.allocated;
  switch (fit.verdict) {
    case Verdict::kFits:
      if (taken > fit.limit) return "fits, but only just";  // free segments are returned before the card is full
      return fmt::format("fits, {} free", record::format_bytes(fit.limit - taken, 1));
    case Verdict::kTooClose:
      return "too close to tell";
    case Verdict::kDoesNotFit:
      return taken > fit.limit ? fmt::format("does not fit by {} {}", unit.number(taken - fit.limit), unit.name)
                               : "does not fit";
  }
  return "";
}

// Uses the danger color if the step does not fit. Returns the right edge.
float draw_pill(float x, float center_y, Verdict verdict, const std::string& words, bool current) {
  const Rect pill{x, center_y - px(13), x + text_width(Face::kSemiBold, 13, words) + px(24), center_y + px(13)};
  const bool bad = current && verdict == Verdict::kDoesNotFit;
  fill(pill, bad ? theme().danger_soft : theme().state.selected, 13);
  if (bad)
    outline(pill, theme().danger, 13);
  else if (verdict == Verdict::kTooClose)
    dashed_outline(pill, theme().control, 13);
  text_in(Face::kSemiBold, 13, pill, bad ? theme().danger : current ? theme().text : theme().text3, words, 0.5f);
  return pill.x1;
}

// "measured 13.1, as predicted to the byte", "measured 13.2, 0.4 % more"; empty without a run.
std::string measured_words(Bytes predicted, Bytes measured, const PeakUnit& unit) {
  if (measured <= 0) return {};
  if (measured == predicted) return fmt::format("measured {}, as predicted to the byte; ", unit.number(measured));
  const Bytes apart = std::abs(measured - predicted);
  const double percent = 100 * static_cast<double>(apart) / static_cast<double>(predicted);
  const std::string by = percent < 0.1 ? record::format_bytes(apart, 0) : fmt::format("{:.1g} %", percent);
  return fmt::format("measured {}, {} {}; ", unit.number(measured), by, measured > predicted ? "more" : "less");
}

// "of tensors", "; the allocator reserves 22.8", ", the process takes 0.7 more (as on H200)"
std::vector<std::string> parts_words(const StepPlan& plan, const PeakUnit& unit) {
  const CardPlan& on = plan.cards.front();
  const predict::ProcessBytes& process = on.card.process;
  if (!plan.why_formula.empty()) return {"of tensors"};  // the badge explains the rest
  std::vector<std::string> parts{"of tensors"};
  if (plan.reserved > 0) {
    const bool gives_back = plan.reserved > on.fit.limit && on.fit.verdict != Verdict::kDoesNotFit;
    parts.push_back(
        fmt::format("; the allocator {} {}", gives_back ? "would reserve" : "reserves", unit.number(plan.reserved)));
    if (gives_back) parts.emplace_back(" and free cached memory to fit");
  }
  if (process.bytes > 0)
    parts.push_back(fmt::format(", the process takes {} ± {} more (as on {})", unit.number(process.bytes),
                                unit.number(process.margin), process.source));
  return parts;
}

Largest largest_words(PageFrame& frame, const StepPlan& plan) {
  const Tried tried = tried_batches(frame.page);
  const auto& largest = plan.cards.front().largest_batch;
  return {words_of_largest(plan, tried), largest && tried.against(*largest)};
}

// A button that runs the largest batch predicted to fit, then the next larger one. Returns the left edge.
float draw_try(PageFrame& frame, const Rect& row) {
  page::PageModel& page = frame.page;
  if (!page::why_no_engine(page).empty()) return row.x1;
  const std::optional<double> seconds = page::estimated_trial_seconds(page);
  const std::string why_not = page::why_no_trial(page);
  const bool asks = frame.state.asked.trial && why_not.empty();
  const std::string words = page.trying() ? "Trying" : asks ? "Try, " + seconds_words(seconds) + "?" : "Try it";
  const std::string tip =
      why_not.empty() ? "Run the largest batch predicted to fit, and the next one, within the card's free memory"
                      : why_not;
  const ButtonText text{words, Icon::kNone, "", tip};
  const Rect at{row.x1 - button_width(text), row.center_y() - px(13), row.x1, row.center_y() + px(13)};
  if (button("try", at, text, ButtonKind::kSecondary, why_not.empty() && !page.trying())) {
    frame.state.asked.trial = !asks && seconds.value_or(0) > kLongRun;
    if (!frame.state.asked.trial) page.try_border(frame.now);
  }
  return at.x0 - px(12);
}

// The badge's tooltip explains the closed form. Returns the right edge.
float draw_formula_badge(float x, const Rect& row, const std::string& why) {
  const float end = source_badge(x, row.center_y(), record::Source::kFormula);
  if (pointed({x, row.y0, end, row.y1})) tooltip("Only tensors, by the closed form: " + why);
  return end;
}

}  // namespace headroom::app::window
