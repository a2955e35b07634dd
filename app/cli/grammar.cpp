// The command line's grammar, on top of CLI11.
#include "app/cli/grammar.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/cli/commands/window.h"
#include "app/cli/output.h"
#include "demos/record/text.h"
#include "headroom_build.h"

namespace headroom::app {

using record::Error;
using record::Ok;
using record::Status;

namespace {

constexpr std::string_view kFooter = R"(
Exit codes: 0 done (running out of memory is a result), 1 a figure or check failed, 2 cannot start as asked,
3 no suitable device or a refused combination, 4 out of memory with --fail-on-oom, 5 time limit, 6 output not
written, 7 the engine failed, 130 interrupted. With --json stdout holds exactly one JSON document.

Examples:)";

const std::string kJson = "--json";

bool is_assignment(const std::string& word) { return word.find('=') != std::string::npos; }

// Handles --help and --version.
struct PrintText final : Invocation {
  explicit PrintText(std::string printed) : text(std::move(printed)) {}
  void declare(OptionList&) override {}
  CommonOptions& common() override { return options; }
  Status check() const override { return Ok{}; }
  record::Result<ExitCode> run() const override {
    put(text);
    return ExitCode::kDone;
  }

  CommonOptions options;
  std::string text;
};

std::unique_ptr<Invocation> print(std::string text) { return std::make_unique<PrintText>(std::move(text)); }

struct Declared {
  CLI::App* app;
  std::unique_ptr<Invocation> invocation;
  OptionList options;
};

struct Grammar {
  CLI::App app{"Headroom shows where GPU memory goes when a Llama trains.", "headroom"};
  bool version = false;
  std::vector<Declared> commands;
};

std::string footer() {
  std::string text(kFooter);
  for (const Command* command : commands())
    if (!command->example.empty()) text += fmt::format("\n  {}", command->example);
  return text;
}

void declare(Grammar& grammar) {
  CLI::App& app = grammar.app;
  app.require_subcommand(0, 1);
  app.footer(footer());  // inherited by commands added later
  app.add_flag("--version", grammar.version, "Print the version");
  for (const Command* command : commands()) {
    CLI::App* const declared =
        command->name.empty() ? &app : app.add_subcommand(std::string(command->name), std::string(command->summary));
    auto invocation = command->make();
    OptionList options(*declared, invocation->common());
    grammar.commands.push_back({declared, std::move(invocation), std::move(options)});
    grammar.commands.back().invocation->declare(grammar.commands.back().options);
    // Collect unknown words, so that the error can name the nearest known one.
    declared->allow_extras();
  }
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
    return {fmt::format("headroom {} does not accept {}: `{}` lists what it accepts.", command->get_name(),
                        record::quoted(word), help_command(command))};
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string name = word.substr(0, word.find('='));
  return {fmt::format("There is no {} {}; the nearest is {}, and `{}` lists all.", option ? "option" : "command",
                      record::quoted(name), record::nearest(name, views), help_command(command))};
}

record::Result<std::unique_ptr<Invocation>> take_parsed(Grammar& grammar, const CLI::App* command) {
  const auto declared = [&](const CLI::App* app) {
    return std::find_if(grammar.commands.begin(), grammar.commands.end(),
                        [&](const auto& each) { return each.app == app; });
  };
  const auto program = declared(&grammar.app), chosen = command == nullptr ? program : declared(command);
  if (auto finished = chosen->options.finish(); !finished) return finished.error();
  // --engine may also precede the command.
  CommonOptions& options = chosen->invocation->common();
  if (options.engine.empty()) options.engine = program->invocation->common().engine;
  return std::move(chosen->invocation);
}

// The only word is a file's name: `headroom a.hrec`. Commands precede files.
bool names_file(const std::vector<std::string>& words) {
  std::error_code ignored;
  return words.size() == 1 && std::ranges::find(commands(), words.front(), &Command::name) == commands().end() &&
         std::filesystem::is_regular_file(words.front(), ignored);
}

record::Result<std::unique_ptr<Invocation>> parse_words(std::vector<std::string> words) {
  if (names_file(words)) return open_recording(words.front());
  Grammar grammar;
  declare(grammar);
  CLI::App& app = grammar.app;
  const auto command = [&]() -> CLI::App* {
    const auto parsed = app.get_subcommands();
    return parsed.empty() ? nullptr : parsed.back();
  };
  std::reverse(words.begin(), words.end());  // CLI11 expects them reversed
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return print(command() != nullptr ? command()->help("headroom") : app.help());
  } catch (const CLI::ParseError& error) {
    return Error{fmt::format("{}; `{}` shows how to use it.", error.what(), help_command(command()))};
  }
  if (grammar.version) return print(fmt::format("headroom {} ({})\n", build::kVersion, build::revision()));
  if (const auto rest = app.remaining(/*recurse=*/true); !rest.empty())
    return unknown_word(app, command(), rest.front());
  return take_parsed(grammar, command());
}

}  // namespace

void OptionList::word(const std::string& name, std::string& value, const std::string& help) {
  app_.add_option(name, value, help);
  finish_.push_back([&value, &set = common_.set]() -> Status {
    if (!value.empty() || set.empty() || is_assignment(set.back())) return Ok{};
    value = set.back();
    set.pop_back();
    return Ok{};
  });
}

void OptionList::words(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  app_.add_option(name, values, help);
  finish_.push_back([&values, &set = common_.set]() -> Status {
    const auto others = std::stable_partition(set.begin(), set.end(), is_assignment);
    values.insert(values.end(), others, set.end());
    set.erase(others, set.end());
    return Ok{};
  });
}

void OptionList::flag(const std::string& name, bool& value, const std::string& help) {
  app_.add_flag(name, value, help);
}

template <class Value>
void OptionList::text(const std::string& name, Value& value, const std::string& help, const std::string& type) {
  CLI::Option* const option = app_.add_option(name, value, help);
  if (!type.empty()) option->type_name(type);
}
template void OptionList::text(const std::string&, std::string&, const std::string&, const std::string&);
template void OptionList::text(const std::string&, std::optional<std::string>&, const std::string&, const std::string&);
template void OptionList::text(const std::string&, std::vector<std::string>&, const std::string&, const std::string&);

// CLI11 reads text, so that bad numbers get our message.
template <class Number>
void OptionList::number(const std::string& name, std::optional<Number>& value, Number low, Number high,
                        const std::string& what, const std::string& help, const std::string& type) {
  const auto read = std::make_shared<std::string>();
  text(name, *read, help, type);
  finish_.push_back([=, &value]() -> Status {
    if (read->empty()) return Ok{};
    Number given{};
    const auto parsed = std::from_chars(read->data(), read->data() + read->size(), given);
    const bool whole = parsed.ec == std::errc{} && parsed.ptr == read->data() + read->size();
    if (!whole || !(given >= low) || !(given <= high))
      return Error{fmt::format("{} {}: use {} from {} to {}.", name, record::quoted(*read), what, low, high)};
    value = given;
    return Ok{};
  });
}

template void OptionList::number(const std::string&, std::optional<int>&, int, int, const std::string&,
                                 const std::string&, const std::string&);

void OptionList::set(const std::string& help) { text("--set", common_.set, help, "KEY=VALUE"); }

void OptionList::device() {
  text("--device", common_.device, "Device to run on: auto (the GPU if there is one), cpu or cuda");
}

void OptionList::cap() { text("--cap", common_.cap, "Limit the device's memory, e.g. to 24GiB", "SIZE"); }

void OptionList::record(const std::string& help) { text("--record", common_.record, help, "FILE"); }

void OptionList::time_limit(const std::string& help) {
  number("--time-limit", common_.time_limit, 0.001, 1e9, "a number of seconds", help, "SECONDS");
}

void OptionList::quick(const std::string& help) { flag("--quick", common_.quick, help); }

void OptionList::restart(const std::string& help) { flag("--restart", common_.restart, help); }

void OptionList::json() { flag(kJson, common_.json, "Print one JSON document on stdout"); }

void OptionList::engine() {
  text("--engine", common_.engine, "The engine to use, e.g. \"ssh HOST headroom-engine\"", "COMMAND");
}

Status OptionList::finish() const {
  for (const auto& each : finish_)
    if (auto done = each(); !done) return done;
  return Ok{};
}

CommandLine parse(const std::vector<std::string>& words) {
  // Needed even if parsing fails, to show the error as JSON.
  const bool as_json = std::find(words.begin(), words.end(), kJson) != words.end();
  return {parse_words(words), as_json};
}

}  // namespace headroom::app
