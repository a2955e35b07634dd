// The command line's grammar: words in, a command with its options or one sentence out.
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

// Declares the options of one command, in the order of its --help. What it binds is filled by parse().
class OptionList {
 public:
  OptionList(CLI::App& app, CommonOptions& common) : app_(app), common_(common) {}

  // Words without an option in front of them. --set takes all words up to the next option; those that are no key=value
  // come back to here.
  void word(const std::string& name, std::string& value, const std::string& help);
  void words(const std::string& name, std::vector<std::string>& values, const std::string& help);

  void flag(const std::string& name, bool& value, const std::string& help);
  void text(const std::string& name, std::optional<std::string>& value, const std::string& help,
            const std::string& type = {});
  void text(const std::string& name, std::string& value, const std::string& help, const std::string& type = {});
  void texts(const std::string& name, std::vector<std::string>& values, const std::string& help,
             const std::string& type);
  // `what`: "it takes `what` from `low` to `high`".
  void number(const std::string& name, std::optional<int>& value, int low, int high, const std::string& what,
              const std::string& help, const std::string& type);

  // The common options; their help is an argument where it depends on the command.
  void set(const std::string& help);
  void device();
  void cap();
  void record(const std::string& help);
  void time_limit(const std::string& help);
  void quick(const std::string& help);
  void restart(const std::string& help);
  void json();
  void engine();

  // After parsing: reads numbers, gives words back.
  record::Status finish() const;

 private:
  template <class Number>
  void add_number(const std::string& name, std::optional<Number>& value, Number low, Number high,
                  const std::string& what, const std::string& help, const std::string& type);

  CLI::App& app_;
  CommonOptions& common_;
  std::vector<std::function<record::Status()>> finish_;
};

struct CommandLine {
  record::Result<std::unique_ptr<Invocation>> invocation;  // --help and --version print a text
  bool json = false;                                       // errors are wanted as a JSON document, too
};

// Bad usage is an error with one sentence; it names the nearest command or option for one that is not known. `words`: without
// the program's name.
CommandLine parse(const std::vector<std::string>& words);

}  // namespace headroom::app
