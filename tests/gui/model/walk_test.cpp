// Walks the whole course without drawing: pages, questions (right and wrong), tour steps and exported figures. Figures
// on the course's map must depend on data.
#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/common/assets.h"
#include "app/common/session.h"
#include "app/page/page_model.h"
#include "app/page/words/acts.h"
#include "app/paint/files/export.h"
#include "app/paint/files/writers.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::app::page;
using app::paint::Format;

namespace {

const std::filesystem::path kAssets = std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets";

// Adds runs in the window's order: the page's own run first, then the others by name.
std::unique_ptr<PageModel> open(const lessons::Page& page, std::string fixed_settings = "A test has no engine.") {
  PageSources sources;
  sources.fixed_settings = std::move(fixed_settings);
  auto model = std::make_unique<PageModel>(page, *lessons::demo_or_schema(page), std::move(sources));
  for (const std::string& name : lessons::recordings_in_turn(page)) {
    auto recording = app::load_recording(app::recording_path(kAssets, name));
    if (!recording) FAIL(recording.error().message);
    const bool base = std::find(page.bases.begin(), page.bases.end(), name) != page.bases.end();
    model->add_run(recording.value(), RunOnShow::From::kPage, name, base);
  }
  for (const std::string& name : page.beside)
    model->runs().add_beside(app::load_recording(app::recording_path(kAssets, name)).value());
  return model;
}

// The page's reply: the guess's distance from the current run's number.
std::string reply_to_number(const lessons::Page& page, const record::Ledger& run, double guess, bool right) {
  Question question(&*page.question);
  question.set_guess(guess);
  question.lock();
  if (!question.compare(run)) return {};
  CHECK(question.right() == right);
  const Question::Distance distance = distance_of(*question.reveal());
  return std::string(distance.head) + " " + distance.value + std::string(distance.unit);
}

// True if the reply contains a number or a word of the page.
bool names_something(const lessons::Page& page, const std::string& reply) {
  if (reply.find_first_of("0123456789") != std::string::npos) return true;
  const std::string words = lessons::markdown_of(page.front) + page.question->ask + page.question->because;
  std::istringstream all(reply);
  for (std::string word; all >> word;) {
    while (!word.empty() && std::ispunct(static_cast<unsigned char>(word.back())) != 0) word.pop_back();
    if (word.size() >= 5 && words.find(word) != std::string::npos) return true;
  }
  return false;
}

void check_shown(PageModel& model, const lessons::TourView& view) {
  INFO("zoom " << view.zoom << ", cursor " << view.cursor << ", pin " << view.pin);
  CHECK(model.figure(400).head.empty_reason.empty());
  if (!view.zoom.empty()) CHECK(model.figures().view().zoomed() == (view.zoom != "all"));
  if (!view.cursor.empty()) CHECK(model.figures().view().cursor().has_value());
  if (view.pin == "none") CHECK(model.run_a().pinned() == nullptr);
  if (view.pin == "base") CHECK(model.run_a().pinned() != nullptr);
  if (view.pin.empty() || view.pin == "none" || view.pin == "base") return;
  REQUIRE(model.run_a().pinned() != nullptr);
  CHECK(model.run_a().pinned()->name == view.pin);
}

std::vector<lessons::Act> links_of(const lessons::Page& page) {
  std::string words = lessons::markdown_of(page.front) + lessons::markdown_of(page.more);
  if (page.question) words += page.question->because;
  return lessons::mark_links(words).acts;
}

// Taught pages and figures, without duplicates.
std::set<std::pair<std::string, std::string>> taught() {
  std::set<std::pair<std::string, std::string>> all;
  for (const lessons::CourseItem& item : tests::course().items())
    if (!item.page.empty()) all.emplace(item.page, item.figure);
  return all;
}

// The figure's numbers, without source lines.
std::string numbers_of(PageModel& model) {
  std::istringstream all(app::paint::to_csv(model.figure(400)));
  std::string numbers;
  for (std::string line; std::getline(all, line);)
    if (!line.starts_with('#')) numbers += line + '\n';
  return numbers;
}

// Numbers get twice the current value and the minimum.
std::vector<std::string> other_values(const record::ParamSpec& spec, const record::Params& now) {
  std::vector<std::string> values;
  for (const record::Choice& choice : record::choices_of(spec)) values.emplace_back(choice.key);
  if (values.empty() && spec.kind == record::ParamKind::kInteger)
    for (const std::int64_t value : {2 * now.integer(spec.key), static_cast<std::int64_t>(spec.minimum)})
      values.push_back(std::to_string(value));
  return values;
}

// True if a control, another run or a setting changes the numbers.
bool takes_data(PageModel& model, int tab) {
  model.show_tab(tab);
  const std::string before = numbers_of(model);
  const auto changed_by = [&](const record::Params& params, const auto& set) {
    for (const record::ParamSpec& spec : params.schema())
      for (const std::string& value : other_values(spec, params))
        if (set(spec.key, value) && numbers_of(model) != before) return true;
    return false;
  };
  const record::Params controls = model.figures().params();
  if (changed_by(controls, [&](auto key, auto& value) { return model.figures().set_param(key, value).ok(); }))
    return true;
  const record::Params settings = model.settings();
  if (changed_by(settings, [&](auto key, auto& value) { return model.set_param(key, value).ok(); })) return true;
  for (int run = 0; run < static_cast<int>(model.runs().all().size()); ++run) {
    model.show_run(run);
    model.show_tab(tab);
    if (numbers_of(model) != before) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every item of the course's map is shown by a figure with data", "[window][walk]") {
  const auto pages = tests::course().pages();
  const auto all = taught();
  CHECK(all.size() > 30);
  for (const auto& [id, figure] : all) {
    INFO(id << ", " << figure);
    const auto page = std::ranges::find(pages, id, &lessons::Page::id);
    REQUIRE(page != pages.end());
    const auto at = std::ranges::find((*page)->figures, figure);
    REQUIRE(at != (*page)->figures.end());
    const auto model = open(**page, "");
    model->question().skip();
    CHECK(takes_data(*model, static_cast<int>(at - (*page)->figures.begin())));
  }
}

TEST_CASE("every question has different replies to right and wrong answers", "[window][walk]") {
  for (const lessons::Page* page : tests::course().pages()) {
    if (!page->question) continue;
    INFO(page->id);
    if (const auto* number = lessons::number_of(&*page->question)) {
      const auto model = open(*page);
      REQUIRE(model->on_show() != nullptr);
      const double is = number->answer->of(*model->on_show()->ledger);
      CHECK(is > 0);
      CHECK(reply_to_number(*page, *model->on_show()->ledger, is, true) == "exact to 1%");
      CHECK(reply_to_number(*page, *model->on_show()->ledger, is / 3, false) == "off by 3.0×");
      continue;
    }
    std::set<std::string> replies;
    std::size_t answers = 1;
    if (Question asked(&*page->question); asked.choices() != nullptr) answers = asked.choices()->choices.size();
    for (std::size_t i = 0; i < answers; ++i) {
      Question question(&*page->question);
      question.choose(i);
      question.lock();
      CHECK(question.state() == Question::State::kAnswered);
      CHECK(question.right() == question.reply().empty());
      CHECK((question.right() || names_something(*page, std::string(question.reply()))));
      replies.insert(std::string(question.reply()));
    }
    if (Question order(&*page->question); order.items() != nullptr) {
      for (std::size_t place = 0; place < order.order().size(); ++place)
        for (std::size_t at = place; at < order.order().size(); ++at)
          if (order.order()[at] == place) order.move(at, place);
      order.lock();
      CHECK(order.right());
      replies.insert(std::string(order.reply()));
      ++answers;
    }
    CHECK(replies.size() == answers);
  }
}

TEST_CASE("every step of every tour shows its view", "[window][walk]") {
  for (const lessons::Page* page : tests::course().pages()) {
    INFO(page->id);
    std::unique_ptr<PageModel> model;
    for (const lessons::TourStep& step : page->more) {
      const lessons::TourView& view = step.view;
      if (view.zoom.empty() && view.cursor.empty() && view.pin.empty()) continue;
      if (model == nullptr) model = open(*page);
      model->question().skip();
      model->show_view(view);
      check_shown(*model, view);
    }
  }
}

TEST_CASE("every link of every page does what its text says", "[window][walk]") {
  std::size_t links = 0;
  for (const lessons::Page* page : tests::course().pages()) {
    INFO(page->id);
    std::unique_ptr<PageModel> model;
    for (const lessons::Act& act : links_of(*page)) {
      ++links;
      if (model == nullptr) model = open(*page, "");
      model->question().skip();
      INFO(in_words(act, *model));
      const record::Status done = perform(act, *model);
      if (!done) FAIL_CHECK(done.error().message);
      for (const lessons::Setting& setting : act.settings)
        CHECK(model->settings().as_text(setting.key) == setting.value);
      if (!act.sets()) check_shown(*model, act.view);
    }
  }
  CHECK(links > 20);
}

TEST_CASE("every figure of every page is written in every format", "[window][walk]") {
  app::paint::ExportOptions options;
  options.assets = kAssets;
  for (const lessons::Page* page : tests::course().pages()) {
    const auto model = open(*page);
    model->question().skip();
    for (int tab = 0; tab < static_cast<int>(page->figures.size()); ++tab) {
      INFO(page->id << ", " << page->figures[static_cast<std::size_t>(tab)]);
      model->show_tab(tab);
      for (int run = 0; run < static_cast<int>(model->runs().all().size()); ++run) {
        if (model->figure(400).head.empty_reason.empty()) break;
        model->show_run(run);
        model->show_tab(tab);
      }
      const lessons::FigureData& figure = model->figure(400);
      CHECK(figure.head.empty_reason == "");
      if (!figure.head.empty_reason.empty()) continue;
      for (const auto format : {Format::kSvg, Format::kPdf, Format::kPng, Format::kCsv, Format::kJson}) {
        const auto bytes = app::paint::render(figure, format, options);
        if (!bytes) FAIL(bytes.error().message);
        CHECK(bytes.value().size() > 100);
      }
    }
  }
}
