// Finds the counterparts of the report's figures on the pages.
#include "app/cli/export/chosen_figures.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "app/cli/shown_course.h"
#include "app/common/assets.h"
#include "app/common/session.h"
#include "lessons/pages/document.h"
#include "lessons/sources.h"

namespace headroom::app {

namespace fs = std::filesystem;
using lessons::Page;

namespace {

constexpr std::string_view kItem = "figure.";

// `numbers`: "13", or "06_12_15" if several figures share the counterpart.
struct Counterpart {
  std::string numbers;
  const lessons::CourseItem* item;
};

std::vector<Counterpart> counterparts(const std::vector<lessons::CourseItem>& items) {
  std::vector<Counterpart> all;
  for (const lessons::CourseItem& item : items) {
    if (!item.id.starts_with(kItem) || item.page.empty()) continue;
    const std::string number = fmt::format("{:0>2}", item.id.substr(kItem.size()));
    const auto same = std::ranges::find_if(all, [&](const Counterpart& each) {
      return each.item->page == item.page && each.item->figure == item.figure && each.item->set == item.set;
    });
    if (same == all.end())
      all.push_back({number, &item});
    else
      same->numbers += "_" + number;
  }
  return all;
}

bool draws(const lessons::Figure& figure, const record::Recording& recording) {
  const record::Ledger ledger(recording);
  return figure.build(lessons::inputs_for(figure, {.run = &ledger})).head.empty_reason.empty();
}

// Uses the page's first recording that the figure can draw, or else the page's settings.
record::Status take_run(RunFigures& run, const Page& page, const fs::path& assets) {
  for (const std::string& name : lessons::recordings_in_turn(page)) {
    auto recording = load_stored(assets, name);
    if (!recording) return recording.error();
    if (recording.value() == nullptr || !draws(*run.figures.front(), *recording.value())) continue;
    run.name = name;
    run.recording = std::move(recording).value();
    return record::Ok{};
  }
  run.name = page.id;
  run.settings = lessons::settings_of(page);
  run.sweep = page.sweep;
  return record::Ok{};
}

record::Result<RunFigures> drawn(const Counterpart& part, const lessons::Course& course, const fs::path& assets) {
  const Page& page = *course.find_page(part.item->page);
  RunFigures run{.name = {},
                 .recording = nullptr,
                 .figures = {lessons::find_figure(part.item->figure)},
                 .prefix = fmt::format("report_{}__", part.numbers)};
  run.controls = lessons::words_of(part.item->set);
  for (const std::string& name : page.beside) {
    auto recording = load_stored(assets, name);
    if (!recording) return recording.error();
    if (recording.value() != nullptr) run.beside.push_back(std::move(recording).value());
  }
  if (auto taken = take_run(run, page, assets); !taken) return taken.error();
  return run;
}

}  // namespace

record::Result<std::vector<RunFigures>> report_figures() {
  const auto course = load_course();
  if (!course) return course.error();
  const auto assets = find_assets();
  if (!assets) return assets.error();
  std::vector<RunFigures> runs;
  for (const Counterpart& part : counterparts(course.value().items())) {
    auto run = drawn(part, course.value(), assets.value());
    if (!run) return run.error();
    runs.push_back(std::move(run).value());
  }
  return runs;
}

}  // namespace headroom::app
