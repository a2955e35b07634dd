// Tasks: open until a run or a computed step meets them, and reached from then on.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/common/assets.h"
#include "app/common/session.h"
#include "app/page/page_model.h"
#include "tests/gui/support/reader.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/support/catch.h"
#include "tests/support/wait.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kNoEngine = "A test has no engine.";

// The page with the closed form and its question answered.
std::unique_ptr<PageModel> opened(const lessons::Page& page) {
  PageSources sources;
  sources.why_no_engine = kNoEngine;
  auto model = std::make_unique<PageModel>(page, *lessons::demo_or_schema(page), std::move(sources));
  const std::filesystem::path assets = std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets";
  if (!page.shows.empty()) {
    auto run = app::load_recording(app::recording_path(assets, page.shows));
    REQUIRE(run);
    model->add_run(run.value(), RunOnShow::From::kPage);
  }
  model->question().skip();
  model->poll(0, false);
  return model;
}

void set(PageModel& model, const Settings& settings) {
  for (const auto& [key, value] : settings) {
    INFO(key << "=" << value);
    REQUIRE(model.set_param(key, value).ok());
  }
  model.poll(0, false);
}

bool reached(const PageModel& model) { return model.task().state() == Task::State::kReached; }

// Settings, then rungs to switch off, that reach a page's task. Only the last change reaches it.
struct Way {
  const char* page;
  Settings settings;
  std::vector<const char*> off = {};
  const char* by = "by closed form";
};
const std::vector<Way>& ways() {
  static const std::vector<Way> all{
      {"will_it_fit", {{"loss", "flce"}, {"batch", "8"}}},
      {"ladder", {}, {"adamw_8bit", "offload_checkpoints", "offload_parameters", "offload_optimizer"}, "measured"},
      {"chunk", {{"batch", "8"}, {"loss_chunk", "2048"}}},
      {"checkpointing", {{"batch", "17"}, {"checkpointing", "selective"}}},
      {"memory_over_batch",
       {{"model", "llama-3.2-1b"},
        {"precision", "bf16_mixed"},
        {"seq", "4096"},
        {"batch", "4"},
        {"checkpointing", "layer"},
        {"loss", "flce"}}},
      {"low_rank", {{"adapters", "qlora"}, {"model", "llama-3-8b"}, {"checkpointing", "layer"}}},
  };
  return all;
}

void turn_off(PageModel& model, const char* rung) {
  const auto& switches = model.ladder().switches();
  const auto at = std::ranges::find(switches, rung, &Ladder::Switch::id);
  REQUIRE(at != switches.end());
  model.ladder().turn(static_cast<std::size_t>(at - switches.begin()));
  model.poll(0, false);
  model.poll(0, false);
}

lessons::Page page_with(lessons::TaskBlock task) {
  lessons::Page page;
  page.id = "made";
  page.demo = "train_step";
  page.figures = {"memory_timeline"};
  page.more.resize(1);
  page.more[0].blocks.push_back({&lessons::kTaskBlock, std::move(task)});
  return page;
}

lessons::TaskBlock task_of_size(record::Bytes card, std::string largest = {}) {
  lessons::TaskBlock task;
  task.words = "Find it.";
  task.done = "The peak is {peak.bytes}.";
  task.goal.fits = lessons::TaskCard{record::format_bytes(card, 0), card, {}};
  task.goal.largest = std::move(largest);
  return task;
}

}  // namespace

TEST_CASE("each task of the course starts open, and its page's controls can reach it", "[window][task]") {
  std::size_t pages = 0;
  for (const lessons::Page* page : tests::course().pages()) pages += lessons::task_of(*page) != nullptr ? 1 : 0;
  CHECK(pages == ways().size());
  for (const Way& way : ways()) {
    INFO(way.page);
    const auto model = opened(tests::page(way.page));
    REQUIRE(model->task().open());
    CHECK_FALSE(model->task().progress().empty());
    for (const auto& setting : way.settings) {
      CHECK_FALSE(reached(*model));
      set(*model, {setting});
    }
    for (const char* rung : way.off) {
      CHECK_FALSE(reached(*model));
      turn_off(*model, rung);
    }
    INFO(model->task().progress());
    CHECK(reached(*model));
    CHECK(model->task().shown_by() == way.by);
    CHECK(model->task().done().markdown.find("…") == std::string::npos);
  }
}

TEST_CASE("a task lists missing settings, excess bytes and larger values that fit", "[window][task]") {
  const auto model = opened(tests::page("will_it_fit"));
  CHECK(model->task().progress() == "Still to set: Loss: a chunk of logits at a time");
  set(*model, {{"loss", "flce"}, {"batch", "12"}});
  CHECK(model->task().progress().starts_with("GeForce RTX 4090: "));
  CHECK(model->task().progress().ends_with(" too much (by closed form)"));
  set(*model, {{"batch", "2"}});
  CHECK(model->task().progress() == "GeForce RTX 4090: fits, but batch 3 fits as well (by closed form)");
  set(*model, {{"batch", "8"}});
  CHECK(reached(*model));
  CHECK(model->task().progress().empty());
  set(*model, {{"batch", "1"}});
  CHECK(reached(*model));

  const auto chunk = opened(tests::page("chunk"));
  set(*chunk, {{"batch", "8"}, {"loss_chunk", "8192"}});
  CHECK(chunk->task().progress().starts_with("Peak 2"));
  CHECK(chunk->task().progress().find(" above 21.5 GiB (by closed form)") != std::string::npos);
}

TEST_CASE("a reached task survives a restart with its numbers", "[window][task]") {
  const auto model = opened(tests::page("will_it_fit"));
  CHECK(model->task().remembered().empty());
  set(*model, {{"loss", "flce"}, {"batch", "8"}});
  const std::string words = model->task().remembered(), done = model->task().done().markdown;
  CHECK(words.starts_with("reached; by closed form; 2"));
  const auto again = opened(tests::page("will_it_fit"));
  CHECK(again->recall("", {}, "", "solved").size() == 1);
  CHECK(again->task().open());
  CHECK(again->recall("", {}, "", words).empty());
  CHECK(reached(*again));
  CHECK(again->task().done().markdown == done);
  CHECK(again->task().remembered() == words);
  CHECK(opened(tests::page("recipe"))->recall("", {}, "", words).size() == 1);  // that page sets no task
}

TEST_CASE("a task is not checked while the question is open or a switch is held", "[window][task]") {
  PageSources sources;
  sources.why_no_engine = kNoEngine;
  const lessons::Page& page = tests::page("low_rank");
  PageModel model(page, *lessons::demo_or_schema(page), std::move(sources));
  set(model, {{"model", "llama-3-8b"}, {"seq", "1024"}, {"adapters", "qlora"}, {"checkpointing", "layer"}});
  CHECK(model.task().open());
  CHECK(model.task().progress().empty());
  model.question().skip();
  model.poll(0, false);
  CHECK(reached(model));

  const auto held = opened(page);
  set(*held, {{"model", "llama-3-8b"}, {"adapters", "qlora"}});
  CHECK(held->task().open());
  record::Params turned = held->settings();
  REQUIRE(turned.set("checkpointing", "layer"));
  const WayOut way{.what = nullptr, .turned = turned};
  held->hold(way);
  held->poll(0, false);
  CHECK(held->task().open());
  held->release();
  held->poll(0, false);
  CHECK(held->task().open());
}

TEST_CASE("a run under the task's own limit takes precedence over a prediction", "[window][task]") {
  const record::Bytes limit = 300 * record::kMiB;
  const auto run_of = [&](int batch, bool out_of_memory) {
    auto run = std::make_shared<record::Recording>(*small_run({.out_of_memory = out_of_memory}));
    record::RunInfo info = run->info();
    info.params["batch"] = std::to_string(batch);
    info.cap = limit;
    run->set_info(info);
    return run;
  };
  const lessons::Page page = page_with(task_of_size(limit, "batch"));
  PageModel model(page, demo(), PageSources{.why_no_engine = kNoEngine, .stored = {run_of(4, false)}});
  model.poll(0, false);
  const std::string next = model.task().progress();
  INFO(next);
  CHECK(model.task().open());
  CHECK(next == "300 MiB: fits, but batch 5 fits as well (by closed form)");
  model.add_run(run_of(5, true), RunOnShow::From::kPage);
  model.show_run(0);
  model.poll(0, false);
  CHECK(reached(model));
  CHECK(model.task().shown_by() == "measured");
  CHECK(model.task().done().markdown == "The peak is 220.00 MiB.");
}

TEST_CASE("a pending prediction is awaited, and then counts", "[window][task]") {
  ScriptedPredictions predictions(small_run({.source = record::Source::kPredicted}));
  ScriptedBackend runner(small_run());
  const lessons::Page page = page_with(task_of_size(record::kGiB, "batch"));
  PageModel model(page, demo(),
                  PageSources{.runner = &runner, .predictions = &predictions.service, .stored = {small_run()}});
  model.show(Layer::kMeasured, false);
  model.poll(0, false);
  CHECK(model.task().open());
  const auto wait_until = [&](const auto& there) {
    return tests::wait_until(there, [&] { model.poll(0, predictions.service.poll()); });
  };
  // This test's planner gives every batch the same answer.
  const std::string next = "1 GiB: fits, but batch 5 fits as well (predicted)";
  CHECK(wait_until([&] { return model.task().progress() == next; }));
  REQUIRE(model.set_param("batch", "256").ok());  // there is no larger batch
  CHECK(wait_until([&] { return reached(model); }));
  CHECK(model.task().shown_by() == "predicted");
}
