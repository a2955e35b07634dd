// headroom page: prints a page as text: its words, the figures' tables, and last the answer with all replies.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/cli/shown_course.h"
#include "app/common/assets.h"
#include "app/common/session.h"
#include "app/paint/files/writers.h"
#include "app/paint/layout/layout.h"
#include "lessons/base_run.h"
#include "lessons/pages/blocks/figure.h"
#include "lessons/pages/blocks/task.h"
#include "lessons/pages/blocks/widget.h"
#include "lessons/pages/numbers/live_numbers.h"
#include "lessons/shown_unit.h"
#include "lessons/sources.h"
#include "lessons/wording.h"

namespace headroom::app {

namespace {

using lessons::Page;

struct PageOptions : CommonOptions {
  std::string id;
  bool data = false;
};

void declare_page(PageOptions& options, OptionList& list) {
  list.word("ID", options.id, "The page, by name or by number, e.g. 6.1 (default: the contents)");
  list.flag("--data", options.data, "Print all rows of the figures' tables, with their sources");
}

constexpr std::size_t kFewRows = 12;

// A CSV table's header and first rows, without its provenance lines.
std::string first_rows(const std::string& csv, std::string_view page) {
  std::string text;
  std::size_t rows = 0;
  for (std::size_t at = 0; at < csv.size();) {
    const std::size_t end = std::min(csv.find('\n', at), csv.size() - 1) + 1;
    const std::string_view line = std::string_view(csv).substr(at, end - at);
    at = end;
    if (!line.starts_with('#') && rows++ <= kFewRows) text += line;
  }
  if (rows > kFewRows + 1) text += fmt::format("… {} more rows: headroom page {} --data\n", rows - kFewRows - 1, page);
  return text;
}

std::shared_ptr<const record::Recording> stored_run(const std::string& name) {
  const auto assets = find_assets();
  if (!assets || name.empty()) return nullptr;
  auto loaded = load_stored(assets.value(), name);
  return loaded ? std::move(loaded).value() : nullptr;
}

std::shared_ptr<const record::Recording> stored_sweep(const Page& page) {
  for (const std::string& name : page.recordings)
    if (auto run = stored_run(name); run != nullptr && !run->sweep_points().empty()) return run;
  return nullptr;
}

// Run A, as the window first pins it.
std::shared_ptr<const record::Recording> base_of(const Page& page, const record::Recording& run) {
  std::vector<std::shared_ptr<const record::Recording>> bases;
  for (const std::string& name : page.bases)
    if (auto base = stored_run(name)) bases.push_back(std::move(base));
  std::vector<const record::RunInfo*> infos;
  for (const auto& base : bases) infos.push_back(&base->info());
  const auto nearest = lessons::nearest_base(run.info(), infos);
  return nearest ? bases[*nearest] : nullptr;
}

// The run's settings as far as this program knows them, otherwise the page's.
record::Params settings_of(const Page& page, const record::Recording* run) {
  record::Params params = lessons::settings_of(page);
  if (run != nullptr)
    for (const auto& [key, value] : run->info().params)
      if (params.has(key)) (void)params.set(key, std::string_view(value));
  return params;
}

class PageWriter {
 public:
  PageWriter(const Page& page, const lessons::Course& course, const lessons::NumberInput& numbers, bool all_data)
      : page_(page), course_(course), numbers_(numbers), all_data_(all_data) {
    for (const std::string& name : page.beside)
      if (const auto run = beside_runs_.emplace_back(stored_run(name)); run != nullptr)
        beside_.push_back(beside_ledgers_.emplace_back(std::make_unique<record::Ledger>(*run)).get());
    if (!page.sweep.empty()) sweep_ = stored_sweep(page);
    if (sweep_ != nullptr) sweep_ledger_ = std::make_unique<record::Ledger>(*sweep_);
  }

  std::string text() {
    add(fmt::format("{}\n{}", page_.title, page_.lesson.claim));
    if (!page_.lesson.goal.empty())
      add(fmt::format("After this page: {} ({} minutes)", page_.lesson.goal, page_.lesson.minutes));
    blocks(page_.front);
    if (page_.question) question(*page_.question);
    if (page_.question) add("The answer is below the figures.");
    for (const lessons::TourStep& step : page_.more) blocks(step.blocks);
    if (page_.lesson.second) add("Second question: " + second(page_.lesson.second->ask));
    for (const std::string& id : page_.figures) figure(id, {});
    for (const std::string& id : page_.widgets) add(lessons::words_of_widget(id));
    if (page_.question) answer(*page_.question);
    if (page_.lesson.second) second_answer(*page_.lesson.second);
    // Without numbers, which need the reader's step; there is none here.
    if (const auto* task = lessons::task_of(page_))
      add("Once the task is done: " + lessons::without_links(lessons::with_texts(task->done, {})));
    if (!page_.lesson.notes.empty()) add("For the presenter: " + words(page_.lesson.notes));
    sources();
    return text_;
  }

 private:
  void add(const std::string& words) { text_ += (text_.empty() ? "" : "\n") + words + "\n"; }
  std::string words(const std::string& markdown) const {
    return lessons::without_links(lessons::with_numbers(markdown, numbers_));
  }

  void blocks(const std::vector<lessons::Block>& blocks) {
    for (const lessons::Block& block : blocks)
      if (const auto* shown = block.as<lessons::FigureBlock>())
        figure(shown->figure, shown->settings);
      else
        add(words(block.printed()));
  }

  void question(const lessons::QuestionSpec& question) {
    add("Question: " + words(question.ask));
    if (const auto* choice = std::get_if<lessons::ChoiceQuestion>(&question.kind)) {
      for (const lessons::AnswerChoice& each : choice->choices) add("( ) " + words(each.words));
    } else if (const auto* order = std::get_if<lessons::OrderQuestion>(&question.kind)) {
      std::vector<std::string> items = order->items;
      std::ranges::sort(items);  // as in the window
      for (const std::string& item : items) add("- " + words(item));
    }
  }

  void answer(const lessons::QuestionSpec& question) {
    if (const auto* number = std::get_if<lessons::NumberQuestion>(&question.kind)) {
      add(fmt::format("The answer is {}, measured in a run{}.", number->answer->name, value_of(*number->answer)));
    } else if (const auto* choice = std::get_if<lessons::ChoiceQuestion>(&question.kind)) {
      for (const lessons::AnswerChoice& each : choice->choices)
        if (each.right) add("The answer: " + words(each.words));
      for (const lessons::AnswerChoice& each : choice->choices)
        if (!each.right) add(fmt::format("Not: {}\n    {}", words(each.words), words(each.reply)));
    } else if (const auto* order = std::get_if<lessons::OrderQuestion>(&question.kind)) {
      add("The answer:");
      for (std::size_t i = 0; i < order->items.size(); ++i) add(fmt::format("{}. {}", i + 1, words(order->items[i])));
      add("Another order: " + words(order->reply));
    }
    add(words(question.because));
  }

  // Fills in the numbers of the first attempt.
  std::string second(const std::string& markdown) const {
    return lessons::without_links(
        lessons::with_drawn(markdown, *page_.lesson.second, lessons::settings_of_attempt(page_, 0)));
  }

  void second_answer(const lessons::SecondQuestion& question) {
    const double key = lessons::key_of(question, lessons::settings_of_attempt(page_, 0));
    add(fmt::format("The answer to the second question, by formula (± {:.3g} % counts as right): {}. {}",
                    100 * question.tolerance, lessons::amount_text(key, lessons::unit_for(question.answer->unit, key)),
                    second(question.because)));
  }

  // ": 212.8 MiB" for the page's run; empty without a run or answer.
  std::string value_of(const lessons::Answer& answer) const {
    const double value = numbers_.run == nullptr ? -1 : answer.of(*numbers_.run);
    if (value < 0) return {};
    const lessons::ShownUnit unit = lessons::unit_for(answer.unit, value);
    return fmt::format(": {:.1f} {}", value / unit.size, unit.name);
  }

  // Prints the figure's rows as in `headroom figures --format csv`, or only the first.
  void figure(const std::string& id, const std::vector<lessons::Setting>& settings) {
    const lessons::Figure& shown = *lessons::find_figure(id);
    record::Params params(shown.schema);
    for (const lessons::Setting& setting : settings) (void)params.set(setting.key, std::string_view(setting.value));
    lessons::FigureInput input = lessons::inputs_for(shown, {.run = numbers_.run,
                                                             .sweep_run = sweep_ledger_.get(),
                                                             .settings = numbers_.settings,
                                                             .beside = beside_,
                                                             .sweep = page_.sweep});
    input.params = &params;
    const lessons::FigureData data = shown.build(input);
    add(fmt::format("Figure: {}. {}.", shown.title, shown.caption));
    if (!data.head.empty_reason.empty())
      add(data.head.empty_reason);
    else
      add(all_data_ ? paint::to_csv(data) : first_rows(paint::to_csv(data), page_.id));
  }

  void sources() {
    if (page_.sources.empty()) return;
    std::string list = "Sources";
    for (const std::string& key : page_.sources) list += "\n- " + course_.references().find(key)->second.text();
    add(list);
  }

  const Page& page_;
  const lessons::Course& course_;
  lessons::NumberInput numbers_;
  bool all_data_;
  std::vector<std::shared_ptr<const record::Recording>> beside_runs_;
  std::vector<std::unique_ptr<record::Ledger>> beside_ledgers_;
  std::vector<const record::Ledger*> beside_;
  std::shared_ptr<const record::Recording> sweep_;
  std::unique_ptr<record::Ledger> sweep_ledger_;
  std::string text_;
};

std::string contents(const lessons::Course& course) {
  std::string text;
  for (const lessons::Chapter& chapter : course.chapters()) {
    text += fmt::format("{}{} {}\n", text.empty() ? "" : "\n", chapter.number, chapter.title);
    for (std::size_t i = 0; i < chapter.pages.size(); ++i)
      text += fmt::format("  {:<5} {:<24} {}\n", lessons::page_number(chapter, i), chapter.pages[i]->id,
                          chapter.pages[i]->title);
  }
  return text;
}

record::Result<const Page*> find(const lessons::Course& course, const std::string& id) {
  if (const Page* page = course.find_page(id)) return page;
  for (const lessons::Chapter& chapter : course.chapters())
    for (std::size_t i = 0; i < chapter.pages.size(); ++i)
      if (lessons::page_number(chapter, i) == id) return chapter.pages[i];
  // A page that failed to load reports why.
  for (const lessons::Problem& problem : course.problems())
    if (problem.file == id + ".md") return record::Error{problem.text()};
  return unknown_id("page", id, course.pages());
}

record::Status check_page(const PageOptions& options) {
  const auto course = load_course();
  if (!course) return course.error();
  if (options.id.empty()) return record::Ok{};
  const auto page = find(course.value(), options.id);
  return page ? record::Status(record::Ok{}) : page.error();
}

record::Result<ExitCode> page(const PageOptions& options) {
  const auto course = load_course();
  if (!course) return course.error();
  if (options.id.empty()) {
    put(contents(course.value()));
    return ExitCode::kDone;
  }
  const auto found = find(course.value(), options.id);
  if (!found) return found.error();
  const Page& shown = *found.value();
  const auto run = stored_run(shown.shows);
  const auto ledger = run == nullptr ? nullptr : std::make_unique<record::Ledger>(*run);
  const auto base = run == nullptr ? nullptr : base_of(shown, *run);
  const auto base_ledger = base == nullptr ? nullptr : std::make_unique<record::Ledger>(*base);
  const record::Params settings = settings_of(shown, run.get());
  put(PageWriter(shown, course.value(), {&settings, ledger.get(), base_ledger.get()}, options.data).text());
  return ExitCode::kDone;
}

}  // namespace

extern const Command kPage;
constinit const Command kPage{.name = "page",
                              .summary = "Print a page of the course as text, with the tables of its figures",
                              .example = "headroom page where_memory_goes",
                              .make = make_invocation<PageOptions, declare_page, page, check_page>};

}  // namespace headroom::app
