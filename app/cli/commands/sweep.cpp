// headroom sweep: records many runs in one file; the ladder sweeps over techniques.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/cli/drive_sweep.h"
#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/cli/tables/sweep_table.h"
#include "app/common/sweep_plan.h"
#include "demos/experiments/demo.h"
#include "demos/record/file/split.h"

namespace headroom::app {

using record::Error;
using record::Params;

namespace {

struct SweepOptions : CommonOptions {
  std::string demo;               // or "ladder"
  std::vector<std::string> over;  // key=value,value,…
  std::optional<std::string> order;
};

void declare_sweep(SweepOptions& options, OptionList& list) {
  list.word("DEMO", options.demo, "Demo to run, or `ladder` to switch on techniques one by one");
  list.text("--over", options.over, "A parameter and its values; several parameters give all combinations",
            "KEY=VALUE,VALUE,…");
  list.text("--order", options.order, "The ladder's switches, in order", "SWITCH,SWITCH,…");
  list.set("Parameters of all runs");
  list.device();
  list.cap();
  list.record("Save the sweep to a recording; the same command resumes it");
  list.restart("Overwrite FILE instead of resuming it");
  list.time_limit("Time limit; exit code 5 if reached");
  list.json();
  list.engine();
}

record::Result<const experiments::DemoInfo*> demo_of(const SweepOptions& options) {
  if (options.demo.empty())
    return Error{"Name a demo or `ladder` first, for example `headroom sweep train_step --over batch=1,4,8`."};
  if (options.demo == "ladder") return &experiments::training_step();
  if (const auto* demo = experiments::find_demo(options.demo)) return demo;
  return unknown_id("demo", options.demo, experiments::demos(), {"ladder"});
}

std::vector<std::string> order_of(const SweepOptions& options) {
  const std::string list = options.order.value_or("");
  return list.empty() ? std::vector<std::string>() : record::split(list, ',');
}

record::Result<SweepPlan> sweep_asked(const SweepOptions& options) {
  const auto named = demo_of(options);
  if (!named) return named.error();
  const experiments::DemoInfo& demo = *named.value();
  const bool ladder = options.demo == "ladder";
  if (ladder && !options.over.empty()) return Error{"The ladder sweeps over its switches: remove --over."};
  if (!ladder && options.order) return Error{"--order applies to the ladder only: use `headroom sweep ladder`."};
  Params params = ladder ? naive_settings() : Params(demo.schema);
  if (auto set = set_params(params, demo.id, options); !set) return set.error();
  if (ladder) return plan_ladder(params, order_of(options));
  const auto axes = experiments::sweep_axes(demo.schema, options.over);
  if (!axes) return axes.error();
  if (axes.value().empty()) return Error{"Name a parameter to sweep over, for example --over batch=1,4,8."};
  SweepPlan plan = plan_over(demo, params, axes.value());
  if (auto kept = check_kept(plan, params, options.set); !kept) return kept.error();
  return plan;
}

record::Result<ExitCode> sweep(const SweepOptions& options) {
  auto plan = sweep_asked(options);
  if (!plan) return plan.error();
  const EngineChoice engine = choose_engine(options.engine);
  if (auto usable = check_files(plan.value(), engine); !usable) return usable.error();
  const InterruptGuard guard;
  const SweepFile file{options.record, options.restart};
  const auto driven = drive_sweep(std::move(plan).value(), engine, file, options.time_limit);
  if (!driven) return driven.error();
  say_what_happened(driven.value(), file);
  const record::Recording& sweep = *driven.value().recording;
  if (options.json)
    put_json(sweep_json(sweep, driven.value().planned));
  else if (!sweep.sweep_points().empty())
    put(sweep_table(sweep));
  return exit_code_of(driven.value());
}

}  // namespace

extern const Command kSweep;
constinit const Command kSweep{.name = "sweep",
                               .summary = "Run a demo with many settings, or the ladder of techniques",
                               .example = "headroom sweep train_step --over batch=1,4,8 --record s.hrec",
                               .make = make_invocation<SweepOptions, declare_sweep, sweep, sweep_asked>};

}  // namespace headroom::app
