// The command line's grammar, by CLI11; its errors become sentences.
#include "app/cli/options.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "demos/record/text.h"
#include "headroom_build.h"

namespace headroom::app {

using record::Error;

namespace {

constexpr std::string_view kFooter = R"(
Exit codes: 0 done (running out of memory is a result), 1 a figure or check failed, 2 cannot start as asked,
3 no suitable device or a refused combination, 4 out of memory with --fail-on-oom, 5 time limit, 6 output not
written, 7 the engine failed, 130 interrupted. With --json stdout holds exactly one JSON document.

Examples:
  headroom                                                the window
  headroom run train_step --set model=tiny batch=4 --record a.hrec
  headroom sweep train_step --over batch=1,4,8 --record s.hrec
  headroom bench rms_norm swiglu --record b.hrec
  headroom figures memory_timeline --from a.hrec --out out --format svg,pdf)";

// What CLI11 fills; numbers come as text, so that a bad one gets a sentence of its own.
struct Parsed {
  WindowOptions window;
  ListOptions list;
  RunOptions run;
  SweepOptions sweep;
  BenchOptions bench;
  ReportOptions report;
  FiguresOptions figures;
  DoctorOptions doctor;
  std::string time_limit, sweep_limit, bench_limit, report_limit, chapter;
  std::string engine;  // may stand before or behind the command
  bool version = false;
};

struct Grammar {
  CLI::App app{"Headroom shows where GPU memory goes when a Llama trains.", "headroom"};
  CLI::App *list = nullptr, *run = nullptr, *sweep = nullptr, *bench = nullptr, *report = nullptr, *figures = nullptr,
           *doctor = nullptr;
};

void add_json(CLI::App& command, bool& json) { command.add_flag("--json", json, "One JSON document on stdout"); }

void add_engine(CLI::App& command, std::string& engine) {
  command.add_option("--engine", engine, "The engine to use, e.g. \"ssh HOST headroom-engine\"")->type_name("COMMAND");
}

void declare_run(Grammar& grammar, RunOptions& options, std::string& time_limit, std::string& engine) {
  grammar.run = grammar.app.add_subcommand("run", "Run a demo once and sum it up");
  CLI::App& run = *grammar.run;
  run.add_option("DEMO", options.demo, "What to run; `headroom list` shows the demos and their keys");
  run.add_option("--set", options.set, "Parameters of the demo")->type_name("KEY=VALUE");
  run.add_option("--device", options.device, "Where to run: auto (the GPU where there is one), cpu or cuda");
  run.add_option("--cap", options.cap, "Let the device have no more memory than this, e.g. 24GiB")->type_name("SIZE");
  run.add_option("--data", options.data, "UTF-8 text to train on (default: the text that ships with Headroom)")
      ->type_name("FILE");
  run.add_option("--record", options.record, "Keep the run as a recording")->type_name("FILE");
  run.add_option("--time-limit", time_limit, "Cancel the run after this long; exit code 5")->type_name("SECONDS");
  run.add_flag("--trace", options.trace, "Record every kernel and launch, too; the speed then does not count");
  run.add_flag("--fail-on-oom", options.fail_on_oom, "Exit code 4 when memory runs out");
  add_json(run, options.json);
  add_engine(run, engine);
}

void declare_sweep(Grammar& grammar, SweepOptions& options, std::string& time_limit, std::string& engine) {
  grammar.sweep = grammar.app.add_subcommand("sweep", "Run a demo with many settings, or the ladder of techniques");
  CLI::App& sweep = *grammar.sweep;
  sweep.add_option("DEMO", options.demo, "What to run; or `ladder`: one technique after the other switched on");
  sweep.add_option("--over", options.over, "A parameter and its values; several for all combinations")
      ->type_name("KEY=VALUE,VALUE,…");
  sweep.add_option("--order", options.order, "The ladder's switches, from the first")->type_name("SWITCH,SWITCH,…");
  sweep.add_option("--set", options.set, "Parameters of all runs")->type_name("KEY=VALUE");
  sweep.add_option("--device", options.device, "Where to run: auto (the GPU where there is one), cpu or cuda");
  sweep.add_option("--cap", options.cap, "Let the device have no more memory than this, e.g. 24GiB")->type_name("SIZE");
  sweep.add_option("--record", options.record, "Keep the sweep as a recording; the same command goes on with it")
      ->type_name("FILE");
  sweep.add_flag("--restart", options.restart, "Replace what FILE has instead of going on with it");
  sweep.add_option("--time-limit", time_limit, "Stop after this long; exit code 5")->type_name("SECONDS");
  add_json(sweep, options.json);
  add_engine(sweep, engine);
}

void declare_report(Grammar& grammar, ReportOptions& options, std::string& time_limit, std::string& engine) {
  grammar.report =
      grammar.app.add_subcommand("report", "Run the report's experiment again, beside its published points");
  CLI::App& report = *grammar.report;
  report
      .add_option("--out", options.out, "Folder for figures, tables and recordings; the same command goes on with it")
      ->type_name("FOLDER");
  report.add_option("--set", options.set, "Parameters of all runs, other than the report's")->type_name("KEY=VALUE");
  report.add_option("--device", options.device, "Where to run: auto (the GPU where there is one), cpu or cuda");
  report.add_flag("--quick", options.quick, "The tiny model on the CPU, in less than two minutes");
  report.add_flag("--restart", options.restart, "Measure anew what FOLDER has instead of going on with it");
  report.add_option("--time-limit", time_limit, "Stop after this long; exit code 5")->type_name("SECONDS");
  add_json(report, options.json);
  add_engine(report, engine);
}

void declare_bench(Grammar& grammar, BenchOptions& options, std::string& time_limit, std::string& engine) {
  grammar.bench = grammar.app.add_subcommand("bench", "Time kernels: fused, eager, and beside a copy");
  CLI::App& bench = *grammar.bench;
  bench.add_option(
      "KERNEL", options.kernels,
      "What to time (default: all); `headroom list` shows the kernels, `step` is a whole training step beside "
      "its kernels, `train_step` one beside what no step can be faster than");
  bench.add_option("--set", options.set, "Parameters of the demo `bench`: panel, storage, rows, width, …")
      ->type_name("KEY=VALUE");
  bench.add_option("--device", options.device, "Where to run: auto (the GPU where there is one), cpu or cuda");
  bench.add_option("--record", options.record, "Keep the measurements as a recording")->type_name("FILE");
  bench.add_option("--time-limit", time_limit, "Stop after this long for each KERNEL; exit code 5")
      ->type_name("SECONDS");
  bench.add_flag("--quick", options.quick, "One shape a kernel and few repeats");
  add_json(bench, options.json);
  add_engine(bench, engine);
}

void declare_figures(Grammar& grammar, FiguresOptions& options, std::string& chapter, std::string& engine) {
  grammar.figures = grammar.app.add_subcommand("figures", "Write figures of the chapters to files");
  CLI::App& figures = *grammar.figures;
  figures.add_option("ID", options.ids, "Figures to write (default: all); `headroom list` shows them");
  figures.add_option("--chapter", chapter, "Only the figures of this chapter")->type_name("NUMBER");
  figures.add_option("--from", options.from, "Draw this recording (default: the stored ones of the pages)")
      ->type_name("FILE");
  figures.add_option("--against", options.against, "Run A, drawn behind each run and compared with it")
      ->type_name("FILE");
  figures.add_option("--out", options.out, "Folder to write to; made if missing")->type_name("FOLDER");
  figures.add_option("--format", options.format, "svg, pdf, png, csv, json, several with commas (default: svg)")
      ->type_name("LIST");
  figures.add_option("--set", options.set, "Parameters of the figures")->type_name("KEY=VALUE");
  figures.add_option("--theme", options.theme, "light or dark (default: light)");
  figures.add_option("--width", options.width, "Width: 900 (pixels), 3.33in or 85mm")->type_name("WIDTH");
  add_json(figures, options.json);
  add_engine(figures, engine);
}

void declare(Grammar& grammar, Parsed& parsed) {
  CLI::App& app = grammar.app;
  app.footer(std::string(kFooter));
  app.require_subcommand(0, 1);
  app.add_flag("--version", parsed.version, "Print the version");
  add_engine(app, parsed.engine);
  grammar.list = app.add_subcommand("list", "Chapters, figures, demos with their keys, kernels");
  add_json(*grammar.list, parsed.list.json);
  declare_run(grammar, parsed.run, parsed.time_limit, parsed.engine);
  declare_sweep(grammar, parsed.sweep, parsed.sweep_limit, parsed.engine);
  declare_bench(grammar, parsed.bench, parsed.bench_limit, parsed.engine);
  declare_report(grammar, parsed.report, parsed.report_limit, parsed.engine);
  declare_figures(grammar, parsed.figures, parsed.chapter, parsed.engine);
  grammar.doctor = app.add_subcommand("doctor", "What this machine has, what is missing and how to mend it");
  add_json(*grammar.doctor, parsed.doctor.json);
  add_engine(*grammar.doctor, parsed.engine);
  // Unknown words are collected rather than refused, so that the message can name the nearest known one.
  app.allow_extras();
  for (CLI::App* command : app.get_subcommands({})) command->allow_extras();
}

std::string help_command(const CLI::App* command) {
  return command == nullptr ? "headroom --help" : fmt::format("headroom {} --help", command->get_name());
}

// "--recrod" → "There is no option "--recrod" of headroom run; the nearest is --record."
Error unknown_word(CLI::App& app, CLI::App* command, const std::string& word) {
  std::vector<std::string> known;
  const bool option = word.size() > 1 && word.front() == '-';
  if (option) {
    for (const CLI::Option* each : (command != nullptr ? *command : app).get_options())
      for (const std::string& name : each->get_lnames()) known.push_back("--" + name);
  } else if (command == nullptr) {
    for (const CLI::App* each : app.get_subcommands({})) known.push_back(each->get_name());
  } else {
    return {fmt::format("headroom {} has no use for {}: `{}` shows what it takes.", command->get_name(),
                        record::quoted(word), help_command(command))};
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string name = word.substr(0, word.find('='));
  return {fmt::format("There is no {} {}; the nearest is {}, and `{}` shows all.", option ? "option" : "command",
                      record::quoted(name), record::nearest(name, views), help_command(command))};
}

template <class Number>
record::Result<Number> number_from(std::string_view option, const std::string& text, Number low, Number high,
                                   std::string_view what) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  if (!whole || !(number >= low) || !(number <= high))
    return Error{fmt::format("{} {}: it takes {} from {} to {}.", option, record::quoted(text), what, low, high)};
  return number;
}

// The text of --time-limit; empty: none.
record::Result<std::optional<double>> time_limit_from(const std::string& text) {
  if (text.empty()) return std::optional<double>();
  auto limit = number_from<double>("--time-limit", text, 0.001, 1e9, "a number of seconds");
  if (!limit) return limit.error();
  return std::optional<double>(limit.value());
}

// An option that takes all words up to the next one may have swallowed a DEMO that stands behind it.
void give_back_demo(std::string& demo, std::vector<std::string>& words) {
  if (!demo.empty() || words.empty() || words.back().find('=') != std::string::npos) return;
  demo = words.back();
  words.pop_back();
}

record::Result<Command> finish(Grammar& grammar, Parsed& parsed) {
  if (grammar.run->parsed()) {
    RunOptions& run = parsed.run;
    run.engine = parsed.engine;
    give_back_demo(run.demo, run.set);
    auto limit = time_limit_from(parsed.time_limit);
    if (!limit) return limit.error();
    run.time_limit = limit.value();
    return Command{run};
  }
  if (grammar.sweep->parsed()) {
    SweepOptions& sweep = parsed.sweep;
    sweep.engine = parsed.engine;
    give_back_demo(sweep.demo, sweep.set);
    give_back_demo(sweep.demo, sweep.over);
    auto limit = time_limit_from(parsed.sweep_limit);
    if (!limit) return limit.error();
    sweep.time_limit = limit.value();
    return Command{sweep};
  }
  if (grammar.report->parsed()) {
    ReportOptions& report = parsed.report;
    report.engine = parsed.engine;
    auto limit = time_limit_from(parsed.report_limit);
    if (!limit) return limit.error();
    report.time_limit = limit.value();
    return Command{report};
  }
  if (grammar.bench->parsed()) {
    BenchOptions& bench = parsed.bench;
    bench.engine = parsed.engine;
    // --set takes all words up to the next option, kernels included.
    for (auto word = bench.set.begin(); word != bench.set.end();) {
      if (word->find('=') != std::string::npos) {
        ++word;
        continue;
      }
      bench.kernels.push_back(*word);
      word = bench.set.erase(word);
    }
    auto limit = time_limit_from(parsed.bench_limit);
    if (!limit) return limit.error();
    bench.time_limit = limit.value();
    return Command{bench};
  }
  if (grammar.figures->parsed()) {
    parsed.figures.engine = parsed.engine;
    if (!parsed.chapter.empty()) {
      auto chapter = number_from<int>("--chapter", parsed.chapter, 1, 999, "a chapter's number");
      if (!chapter) return chapter.error();
      parsed.figures.chapter = chapter.value();
    }
    return Command{parsed.figures};
  }
  if (grammar.list->parsed()) return Command{parsed.list};
  parsed.doctor.engine = parsed.window.engine = parsed.engine;
  if (grammar.doctor->parsed()) return Command{parsed.doctor};
  return Command{parsed.window};
}

}  // namespace

record::Result<Command> parse_command_line(int argc, const char* const* argv) {
  Parsed parsed;
  Grammar grammar;
  declare(grammar, parsed);
  CLI::App& app = grammar.app;
  CLI::App* command = nullptr;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (CLI::App* each : app.get_subcommands()) command = each;
    return Command{PrintText{command != nullptr ? command->help("headroom") : app.help()}};
  } catch (const CLI::ParseError& error) {
    for (CLI::App* each : app.get_subcommands()) command = each;
    return Error{fmt::format("{}; `{}` shows how it is used.", error.what(), help_command(command))};
  }
  for (CLI::App* each : app.get_subcommands()) command = each;
  if (parsed.version) return Command{PrintText{fmt::format("headroom {} ({})\n", build::kVersion, build::revision())}};
  if (const auto rest = app.remaining(/*recurse=*/true); !rest.empty()) return unknown_word(app, command, rest.front());
  return finish(grammar, parsed);
}

}  // namespace headroom::app
