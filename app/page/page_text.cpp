// Joins the text between figures, widgets and tables.
#include "app/page/page_text.h"

namespace headroom::app::page {

namespace {

PageParts parts_of(const std::vector<lessons::Block>& blocks, const lessons::NumberInput& numbers) {
  PageParts parts;
  std::vector<lessons::Block> words;
  const auto end_words = [&] {
    if (!words.empty())
      parts.emplace_back(lessons::mark_links(lessons::with_numbers(lessons::markdown_of(words), numbers)));
    words.clear();
  };
  for (const lessons::Block& block : blocks) {
    if (const auto* figure = std::get_if<lessons::FigureBlock>(&block)) {
      end_words();
      parts.emplace_back(*figure);
    } else if (const auto* widget = std::get_if<lessons::WidgetBlock>(&block)) {
      end_words();
      parts.emplace_back(*widget);
    } else if (const auto* table = std::get_if<lessons::TableBlock>(&block)) {
      end_words();
      parts.emplace_back(*table);
    } else if (const auto* task = std::get_if<lessons::TaskBlock>(&block)) {
      end_words();
      parts.emplace_back(TaskWords{lessons::mark_links(lessons::with_numbers(task->words, numbers))});
    } else {
      words.push_back(block);
    }
  }
  end_words();
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
