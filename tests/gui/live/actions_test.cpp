// After any sequence of actions, each frame's figure has the displayed settings or is hatched. The real engine answers
// late.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/harness.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::page::PageModel;

namespace {

constexpr int kActions = 500, kActionsPerPage = 20;
// Frames, at 60 per second, in which an outdated picture may lack its hatch.
constexpr int kMostUnnoticed = 12;

// The first setting that differs from the figure's; empty if none does.
std::string differs(const lessons::FigureData& figure, const PageModel& page) {
  constexpr std::string_view kPrefix = "set.";
  std::map<std::string, std::string> carried;
  for (const auto& [key, value] : figure.head.provenance)
    if (key.starts_with(kPrefix)) carried[key.substr(kPrefix.size())] = value;
  if (carried.empty()) return "no settings at all";
  const record::Params& wanted = page.settings();
  const record::Params built = record::Params::known_of(wanted.schema(), carried);
  for (const record::ParamSpec& spec : wanted.schema()) {
    const bool resolved = spec.key == "attention" && wanted.as_text(spec.key) == "auto";  // the figure names the kernel
    const bool counts = spec.role != record::ParamRole::kRun && wanted.in_use(spec.key) && !resolved;
    if (counts && built.as_text(spec.key) != wanted.as_text(spec.key))
      return fmt::format("{}={} and not {}", spec.key, built.as_text(spec.key), wanted.as_text(spec.key));
  }
  const auto device = figure.head.provenance.find("device");
  if (device == figure.head.provenance.end() || device->second != record::key_of(device_of(page)))
    return "another device";
  return {};
}

// Checks every frame as it is drawn.
class Watch {
 public:
  void look(app::window::App& app) {
    PageModel& page = app.page();
    if (!settings_drive(page) || page.question().hides()) return forget();
    const int before = page.figures().revision();
    const lessons::FigureData& figure = page.figure(app.view().figure().columns());
    if (!figure.head.empty_reason.empty()) return forget();
    ++frames_;
    // Empty if the drawn picture was up to date.
    const std::string wrong =
        page.figures().revision() == before ? differs(figure, page) : "changed after it was drawn";
    if (wrong.empty() || awaits_prediction(page)) return forget();
    if (++unnoticed_ == kMostUnnoticed && trouble_.empty())
      trouble_ = fmt::format("{}, {}: {}", page.page().id, figure.head.id, wrong);
  }
  static bool settled(app::window::App& app) {
    PageModel& page = app.page();
    if (!settings_drive(page) || page.question().hides()) return true;
    const lessons::FigureData& figure = page.figure(app.view().figure().columns());
    return !figure.head.empty_reason.empty() || differs(figure, page).empty();
  }

  const std::string& trouble() const { return trouble_; }
  int frames() const { return frames_; }

 private:
  void forget() { unnoticed_ = 0; }

  int unnoticed_ = 0, frames_ = 0;
  std::string trouble_;
};

class ActionReader {
 public:
  // Does one random action; returns its description.
  std::string act(PageModel& page) {
    switch (pick(13)) {
      case 0:
        return turn(page);
      case 1:
        turn_last(page);
        return "turns the last switch over";
      case 2:
        return page.undo() ? "undoes" : "has nothing to undo";
      case 3:
        return page.undo(+1) ? "redoes" : "has nothing to redo";
      case 4:
        if (page.runs().all().empty()) return "has no run";
        page.show_run(static_cast<int>(pick(page.runs().all().size())));
        return fmt::format("looks at run {}", page.runs().shown());
      case 5:
        toggle_pin(page);
        return "pins";
      case 6:
        page.show_tab(static_cast<int>(pick(page.page().figures.size())));
        return fmt::format("looks at figure {}", page.figures().tab());
      case 7:
        page.show_run(0);
        return "goes back to the page's run";
      case 8:
        return turn_layer(page);
      case 9:
        return hold(page);
      default:
        return set(page);
    }
  }

 private:
  std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_()) % count; }

  std::string turn(PageModel& page) {
    const auto ways = page.verdict().shown_ways();
    if (ways.empty()) return "has no switch";
    const app::page::WayOut& way = *ways[pick(ways.size())];
    const std::string name(way.what->label);
    app::page::turn(page, way);
    return "turns " + name;
  }

  std::string turn_layer(PageModel& page) {
    const auto layer = static_cast<app::page::Layer>(pick(3));
    page.show(layer, !page.layer(layer).shown);
    return fmt::format("turns layer {}", static_cast<int>(layer));
  }

  std::string hold(PageModel& page) {
    if (page.history().holding()) {
      page.release();
      return "lets the switch go";
    }
    const auto ways = page.verdict().shown_ways();
    if (ways.empty()) return "has no switch to hold";
    page.hold(*ways[pick(ways.size())]);
    return "holds a switch";
  }

  std::string set(PageModel& page) {
    const record::Schema schema = page.settings().schema();
    const record::ParamSpec& spec = schema[pick(schema.size())];
    std::string value;
    if (const auto choices = record::choices_of(spec); !choices.empty())
      value = choices[pick(choices.size())].key;
    else if (spec.kind == record::ParamKind::kInteger)
      value = std::to_string(1 << pick(6));
    else
      return "leaves " + std::string(spec.key);
    const record::Status done = page.set_param(spec.key, value);
    return fmt::format("sets {}={}{}", spec.key, value, done ? "" : ", refused");
  }

  std::minstd_rand random_{20261124};
};

void wait_until_settled(const Actor& actor) {
  actor.wait_until([&] { return Watch::settled(actor.app); });
}

}  // namespace

TEST_CASE("no figure shows outdated settings after 500 random actions", "[gui][live]") {
  Watch watch;
  Stage stage = shipped("where_memory_goes");
  stage.engine = HEADROOM_BIN_DIR "/headroom-engine";
  stage.after_frame = [&](app::window::App& app) { watch.look(app); };
  perform("a restless reader", stage, [&](Actor& actor) {
    ActionReader reader;
    std::string done;
    std::size_t next = 0;
    const auto pages = actor.app.course().pages();
    for (int action = 0; action < kActions && watch.trouble().empty(); ++action) {
      if (action % kActionsPerPage == 0) {
        actor.jump(pages[next % pages.size()]->id);
        actor.question().skip();
        done = actor.page().page().id + ":";
        ++next;
      }
      const std::string what = reader.act(actor.page());
      done += " " + what + ";";
      actor.frames(3);
      if (action % 4 != 0) continue;
      wait_until_settled(actor);
      if (!Watch::settled(actor.app)) actor.ctx->LogError("never settles: %s", done.c_str());
      IM_CHECK(Watch::settled(actor.app));
    }
    if (!watch.trouble().empty()) actor.ctx->LogError("%s after %s", watch.trouble().c_str(), done.c_str());
    IM_CHECK(watch.trouble().empty());
  });
  CHECK(watch.frames() > kActions / 2);
}
