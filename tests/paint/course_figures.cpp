// All figures of the course, built from their pages' stored recordings.
#include <map>
#include <memory>
#include <set>
#include <string>

#include "demos/record/run_recordings.h"
#include "lessons/pages/course.h"
#include "lessons/sources.h"
#include "lessons/wording.h"
#include "tests/paint/support.h"
#include "tests/support/course.h"

namespace headroom::tests {
namespace {

struct Stored {
  record::Recording recording;
  std::unique_ptr<record::Ledger> ledger;
};

// Null if the recording is not shipped.
const record::Ledger* stored(const std::string& name) {
  static std::map<std::string, Stored> all;
  const auto [at, fresh] = all.try_emplace(name);
  if (fresh) {
    auto read = record::RunRecordings::read(assets_folder() + "/recordings/" + name + ".hrec");
    if (!read) return nullptr;
    at->second.recording = std::move(read).value().joined();
    at->second.ledger = std::make_unique<record::Ledger>(at->second.recording);
  }
  return at->second.ledger.get();
}

std::vector<const record::Ledger*> ledgers_of(const std::vector<std::string>& names) {
  std::vector<const record::Ledger*> ledgers;
  for (const std::string& name : names)
    if (const record::Ledger* ledger = stored(name)) ledgers.push_back(ledger);
  return ledgers;
}

void add_page(std::vector<Sample>& all, std::set<std::string>& seen, const lessons::Page& page) {
  const auto beside = ledgers_of(page.beside);
  std::vector<std::string> baselines{""};
  baselines.insert(baselines.end(), page.bases.begin(), page.bases.end());
  const record::Params settings = lessons::settings_of(page);
  std::vector<std::string> runs = page.recordings;
  if (runs.empty()) runs.emplace_back();
  for (const std::string& id : page.figures)
    for (const std::string& run : runs)
      for (const std::string& base : baselines) {
        const std::string name = id + " of " + run + " beside " + base;
        const record::Ledger* const shown = run.empty() ? nullptr : stored(run);
        const record::Ledger* const a = base.empty() || base == run ? nullptr : stored(base);
        if (!base.empty() && (a == nullptr || shown == nullptr ||
                              !lessons::same_shape(a->recording().info(), shown->recording().info())))
          continue;
        if (!seen.insert(name).second) continue;
        const lessons::Figure& figure = *lessons::find_figure(id);
        lessons::FigureInput input = lessons::inputs_for(
            figure, {.run = shown, .run_a = a, .settings = &settings, .beside = beside, .sweep = page.sweep});
        Sample sample{name, figure.build(input)};
        if (!sample.figure.head.empty_reason.empty()) continue;
        const lessons::Axis* axis = lessons::guess_axis(sample.figure);
        if (axis != nullptr) {
          input.view.guess = lessons::value_at(*axis, 0.62);
          all.push_back({name + " with a guess", figure.build(input)});
        }
        all.push_back(std::move(sample));
      }
}

}  // namespace

const std::vector<Sample>& figures_of_the_course() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> made;
    std::set<std::string> seen;
    for (const lessons::Page* page : course().pages()) add_page(made, seen, *page);
    return made;
  }();
  return all;
}

}  // namespace headroom::tests
