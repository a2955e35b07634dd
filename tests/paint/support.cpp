#include "tests/paint/support.h"

#include <filesystem>
#include <set>

#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "tests/support/llama_step.h"
#include "tests/support/made_recording.h"
#include "tests/support/made_sweep.h"

namespace headroom::tests {
namespace {

using app::paint::Frame;

void add_views(std::vector<Sample>& all, const std::string& name, const record::Recording& recording,
               const record::Ledger* baseline = nullptr) {
  const record::Ledger run(recording);
  const lessons::Figure& timeline = *lessons::find_figure("memory_timeline");
  const auto add = [&](const std::string& view_name, const lessons::View& view) {
    all.push_back({name + ", " + view_name, timeline.build({.run = &run, .baseline = baseline, .view = view})});
  };
  add("open", {});
  const double end = lessons::axes_of(all.back().figure).x.high;
  add("hidden without a guess", {.guess_open = true, .hidden = true});
  const double top = lessons::axes_of(all.back().figure).y.high;  // the visible axis; later data may be higher
  add("hidden", {.guess = top * 0.6, .guess_open = true, .hidden = true});
  add("hidden with the guess at the top", {.cursor = end * 0.1, .guess = top, .guess_open = true, .hidden = true});
  for (const double share : {0.0, 0.1, 0.3, 0.5, 0.62, 0.9, 1.0}) {
    add("answered " + std::to_string(share), {.cursor = end * share, .guess = top * share, .asked = true});
  }
  add("a part", {.begin = end * 0.2, .end = end * 0.4});
  const lessons::Figure& losses = *lessons::find_figure("loss_curves");
  all.push_back({name + ", losses", losses.build({.run = &run})});
  static const record::Recording kLonger = made_recording({.steps = 40});
  static const record::Ledger kRunA(kLonger);
  all.push_back({name + ", losses beside run A", losses.build({.run = &run, .baseline = &kRunA})});
  const lessons::Figure& bars = *lessons::find_figure("peak_by_category");
  all.push_back({name + ", bars", bars.build({.run = &run})});
}

void add_sweeps(std::vector<Sample>& all) {
  for (const record::Recording& sweep :
       {made_report_sweep(), made_report_sweep({.llama_1b = false}), made_ladder(), made_loss_sweep(),
        made_batch_sweep(1), made_batch_sweep(2), made_checkpoint_sweep()}) {
    const record::Ledger run(sweep);
    for (const char* id : {"sweep_curve", "ladder_waterfall", "report_batch", "report_sequence", "needle_ratio"}) {
      lessons::FigureData figure = lessons::find_figure(id)->build({.run = &run});
      if (figure.head.empty_reason.empty())
        all.push_back({sweep.info().provenance.at("sweep") + ", " + id, std::move(figure)});
    }
  }
}

void add_closed_forms(std::vector<Sample>& all) {
  const auto add = [&](const char* id, std::vector<const char*> own, std::vector<const char*> of_step = {}) {
    const lessons::Figure& figure = *lessons::find_figure(id);
    record::Params params(figure.schema), step(experiments::training_step().schema);
    std::string name = id;
    const auto set = [&](record::Params& where, const char* setting) {
      if (!where.set_assignment(setting)) throw std::invalid_argument(setting);
      name += std::string(", ") + setting;
    };
    for (const char* setting : own) set(params, setting);
    for (const char* setting : of_step) set(step, setting);
    all.push_back({name, figure.build({.params = &params, .settings = of_step.empty() ? nullptr : &step})});
  };
  add("static_bytes", {});
  add("static_bytes", {"parameters=1000000000000", "state_of=sgd"});
  add("zero_bars", {});
  add("zero_bars", {"parameters=1000000000000", "precision=fp32", "ranks=1024", "zero_group=8", "accumulate=256"});
  for (const char* config : {"config=gpt2_xl_zero3", "config=blenderbot_zero2", "config=fsdp_mixed"})
    for (const char* table : {"table=places", "table=lines"}) add("config_bytes", {config, table});
  add("config_bytes", {"config=gpt2_xl_zero3_param", "parameters=1000000000000", "gpus=1024"});
  add("needle_ratio", {});
  add("needle_ratio", {"vocabulary=256000", "copies=5"});
  record::Params longest(experiments::shape_schema().schema);
  if (!longest.set("seq", "131072")) throw std::invalid_argument("seq");
  all.push_back(
      {"needle_ratio, the longest sequence", lessons::find_figure("needle_ratio")->build({.settings = &longest})});
  for (const char* frame : {"frame=1", "frame=8", "frame=12", "frame=99"}) {
    add("checkpoint_schedule", {frame});
    add("checkpoint_schedule", {frame, "nodes=16", "keep=every", "k=4"});
    add("checkpoint_schedule", {frame, "nodes=32", "keep=all"});
    add("flce_chunks", {frame});
    add("flce_chunks", {frame}, {"batch=64", "loss=flce", "loss_chunk=65536"});
    add("flce_chunks", {frame}, {"batch=1", "seq=100", "loss=flce", "weight_gradient=fp32"});
    add("flce_chunks", {frame}, {"loss=flce", "loss_mode=lean"});
  }
}

std::vector<Sample> make_samples() {
  std::vector<Sample> all;
  const record::Recording plain = llama_recording({.cap = 24 * record::kGiB});
  const record::Ledger baseline(plain);
  add_views(all, "1B", plain);
  add_views(all, "1B with checkpointing before 1B", llama_recording({.checkpointing = true}), &baseline);
  add_views(all, "1B with a cap below what run A takes",
            llama_recording({.checkpointing = true, .cap = 14 * record::kGiB}), &baseline);
  add_views(all, "1B out of memory", llama_recording({.batch = 8, .steps = 1, .cap = 24 * record::kGiB}));
  add_views(all, "1B, cap below its weights", llama_recording({.steps = 1, .cap = record::kGiB}));
  add_views(all, "1B live", llama_recording({.source = record::Source::kLive, .stop_after = 1300}));
  for (const record::DeviceKind device : {record::DeviceKind::kCpu, record::DeviceKind::kGpu}) {
    for (const bool checkpointing : {false, true}) {
      for (const bool out_of_memory : {false, true}) {
        const MadeRun run{.device = device, .checkpointing = checkpointing, .out_of_memory = out_of_memory};
        add_views(all, "tiny " + std::to_string(checkpointing) + std::to_string(out_of_memory), made_recording(run));
      }
    }
  }
  record::Recording one;
  const record::MemEvent event{.storage = 1, .requested = 1000, .block = 1024};
  one.append(std::span(&event, 1));
  add_views(all, "one event", one);
  add_views(all, "empty", record::Recording());
  add_sweeps(all);
  add_closed_forms(all);
  std::set<std::filesystem::path> stored;
  for (const auto& file : std::filesystem::directory_iterator(assets_folder() + "/recordings")) stored.insert(file);
  for (const auto& path : stored) {
    if (path.extension() == ".hrec") add_views(all, path.stem().string(), record::Recording::read(path).value());
  }
  return all;
}

}  // namespace

const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = make_samples();
  return kSamples;
}

const lessons::FigureData& plain_timeline() { return samples().front().figure; }

const app::paint::FontWidths& widths() {
  static const app::paint::FontWidths kWidths = app::paint::FontWidths::load(assets_folder()).value();
  return kWidths;
}

std::string assets_folder() { return std::string(HEADROOM_SOURCE_DIR) + "/assets"; }

std::vector<Frame> frames() {
  Frame wide;
  wide.width = 1128, wide.height = 600;
  wide.parts.header = false;
  wide.measure = &widths();
  Frame compact = wide;
  compact.width = 840, compact.height = 420;
  compact.compact = true;
  compact.parts.levels = false;
  compact.palette = &app::paint::kDark;
  Frame large = wide;
  large.width = 1800, large.height = 900, large.scale = 2;
  large.palette = &app::paint::kHighContrast;
  Frame file;
  file.measure = &widths();
  file.whole_pixels = false;
  Frame column = file;
  column.width = 320, column.height = 280;
  column.compact = true;
  return {wide, compact, large, file, column};
}

std::vector<std::string> texts_of(const app::paint::Scene& scene, app::paint::Layer layer) {
  std::vector<std::string> texts;
  each<app::paint::Text>(scene, [&](app::paint::Layer of, const app::paint::Text& text) {
    if (of == layer) texts.push_back(text.text);
  });
  return texts;
}

}  // namespace headroom::tests
