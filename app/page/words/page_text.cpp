// Joins the words between figures, widgets and tables.
#include "app/page/words/page_text.h"

#include "app/page/settings/param_scale.h"

namespace headroom::app::page {

namespace {

// The scope in words; empty if the settings are in the scope.
std::string about(const std::vector<lessons::Setting>& scope, const record::Params& settings) {
  record::Params there = settings;
  for (const lessons::Setting& each : scope) (void)there.set(each.key, std::string_view(each.value));
  std::string words;
  if (there == settings) return words;
  for (const lessons::Setting& each : scope)
    for (const record::ParamSpec& spec : there.schema())
      if (spec.key == each.key) words += (words.empty() ? "" : ", ") + value_in_words(spec, there);
  return words;
}

PageParts parts_of(const std::vector<lessons::Block>& blocks, const lessons::NumberInput& numbers) {
  PageParts parts;
  for (std::size_t i = 0; i < blocks.size();) {
    const lessons::Block& first = blocks[i];
    std::string words = first.words();
    for (++i; first.type->flows && i < blocks.size() && blocks[i].type->flows && blocks[i].scope == first.scope; ++i)
      words += "\n\n" + blocks[i].words();
    parts.push_back({&first, lessons::mark_links(lessons::with_numbers(words, numbers)),
                     numbers.settings == nullptr ? std::string() : about(first.scope, *numbers.settings)});
  }
  return parts;
}

}  // namespace

PageText text_of(const lessons::Page& page, const lessons::NumberInput& numbers) {
  PageText text;
  text.body = parts_of(page.front, numbers);
  for (const lessons::TourStep& step : page.more) text.more.push_back(parts_of(step.blocks, numbers));
  if (page.question) {
    text.ask = lessons::with_numbers(page.question->ask, numbers);
    text.because = lessons::mark_links(lessons::with_numbers(page.question->because, numbers));
  }
  return text;
}

}  // namespace headroom::app::page
