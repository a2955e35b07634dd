// A command, defined in the file of its name (`present` in window.cpp) and listed in CMakeLists.txt.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "app/common/exit_codes.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

class OptionList;

// Base of each command's options. A command declares only the common options that it uses.
struct CommonOptions {
  std::vector<std::string> set;  // key=value
  std::optional<std::string> device, cap, record;
  std::optional<double> time_limit;  // seconds
  bool quick = false, restart = false, json = false;
  std::string engine;
};

// Sets a parameter that has its own option; fails if the demo lacks the parameter.
record::Status set_flag(record::Params& params, std::string_view demo, std::string_view key,
                        const std::optional<std::string>& value);
// Applies --set, --device and --cap.
record::Status set_params(record::Params& params, std::string_view demo, const CommonOptions& options);

record::Error unknown_name(std::string_view what, std::string_view name, std::span<const std::string_view> known);
// unknown_id("demo", "train_stop", demos()): There is no demo "train_stop"; the nearest is train_step, …
// `known`: pointers to records with an id. `names`: further names.
template <class Known>
record::Error unknown_id(std::string_view what, std::string_view name, const Known& known,
                         std::vector<std::string_view> names = {}) {
  for (const auto* each : known) names.push_back(each->id);
  return unknown_name(what, name, names);
}

// A command with its parsed options.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void declare(OptionList& list) = 0;
  virtual CommonOptions& common() = 0;
  // Checks that all names exist, without opening the user's files or starting anything. run() repeats the check.
  virtual record::Status check() const = 0;
  virtual record::Result<ExitCode> run() const = 0;
};

struct Command {
  std::string_view name;  // empty: `headroom` alone
  std::string_view summary;
  std::string_view example;
  std::unique_ptr<Invocation> (*make)();
};

// All commands in the order of --help.
std::span<const Command* const> commands();

// Makes Command::make from declare(options, list), run(options) and an optional check(options), which may return a
// value. check() accepts a device that this machine lacks.
template <class Options, auto kDeclare, auto kRun, auto kCheck = nullptr>
std::unique_ptr<Invocation> make_invocation() {
  class Typed final : public Invocation {
   public:
    void declare(OptionList& list) override { kDeclare(options_, list); }
    CommonOptions& common() override { return options_; }
    record::Status check() const override {
      if constexpr (std::is_null_pointer_v<decltype(kCheck)>)
        return record::Ok{};
      else if (const auto checked = kCheck(options_); checked || checked.error().kind == record::ErrorKind::kRefused)
        return record::Ok{};
      else
        return checked.error();
    }
    record::Result<ExitCode> run() const override { return kRun(options_); }

   private:
    Options options_;
  };
  return std::make_unique<Typed>();
}

}  // namespace headroom::app
