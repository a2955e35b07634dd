// The command line's grammar: turns words into a command or an error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "demos/record/result.h"

namespace CLI {
class App;
}

namespace headroom::app {

// Declares a command's options in the order of --help. parse() fills the bound variables.
class OptionList {
 public:
  OptionList(CLI::App& app, CommonOptions& common) : app_(app), common_(common) {}

  // Declares positional words. --set consumes all words up to the next option; finish() moves words without "=" back
  // here.
  void word(const std::string& name, std::string& value, const std::string& help);
  void words(const std::string& name, std::vector<std::string>& values, const std::string& help);

  void flag(const std::string& name, bool& value, const std::string& help);
  // `value`: a text, an optional text, or several texts.
  template <class Value>
  void text(const std::string& name, Value& value, const std::string& help, const std::string& type = {});
  // `what` is part of the error: "it takes `what` from `low` to `high`".
  template <class Number>
  void number(const std::string& name, std::optional<Number>& value, Number low, Number high, const std::string& what,
              const std::string& help, const std::string& type);

  // The common options, each with a help text if that depends on the command.
  void set(const std::string& help);
  void device();
  void cap();
  void record(const std::string& help);
  void time_limit(const std::string& help);
  void quick(const std::string& help);
  void restart(const std::string& help);
  void json();
  void engine();

  // Call after parsing: reads numbers and moves words back.
  record::Status finish() const;

 private:
  CLI::App& app_;
  CommonOptions& common_;
  std::vector<std::function<record::Status()>> finish_;
};

struct CommandLine {
  record::Result<std::unique_ptr<Invocation>> invocation;
  bool json = false;  // print errors as JSON, too
};

// `words` exclude the program's name. Bad usage is a one-sentence error that suggests the nearest known name.
CommandLine parse(const std::vector<std::string>& words);

}  // namespace headroom::app
