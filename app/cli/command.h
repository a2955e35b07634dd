// A command of the command line: a record in a separate file, listed in CMakeLists.txt.
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

// The options that several commands have. Each command declares those that it uses; its own options derive from this.
struct CommonOptions {
  std::vector<std::string> set;  // key=value
  std::optional<std::string> device, cap, record;
  std::optional<double> time_limit;  // seconds
  bool quick = false, restart = false, json = false;
  std::string engine;
};

// Sets a parameter that has its own option; one that the demo does not have is an error.
record::Status set_flag(record::Params& params, std::string_view demo, std::string_view key,
                        const std::optional<std::string>& value);
// Applies --set, --device and --cap.
record::Status set_params(record::Params& params, std::string_view demo, const CommonOptions& options);

// A command and the options that a command line gave it.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void declare(OptionList& list) = 0;
  virtual CommonOptions& common() = 0;
  // Whether the catalogues have what the line names: demos, settings and their values, figures, kernels. Opens no file of
  // the user's and starts nothing; run() checks the same first.
  virtual record::Status check() const = 0;
  virtual record::Result<ExitCode> run() const = 0;
};

struct Command {
  std::string_view name;     // empty: what `headroom` does without a command
  std::string_view summary;  // for --help, as is the example
  std::string_view example;
  std::unique_ptr<Invocation> (*make)();
};

// All commands, in the order of --help. Written from the list in CMakeLists.txt.
std::span<const Command* const> commands();

// Makes Command::make of a command's options and its functions declare(options, list), run(options) and, where there is
// something to check, check(options).
template <class Options, auto kDeclare, auto kRun, auto kCheck = nullptr>
std::unique_ptr<Invocation> make_invocation() {
  class Typed final : public Invocation {
   public:
    void declare(OptionList& list) override { kDeclare(options_, list); }
    CommonOptions& common() override { return options_; }
    record::Status check() const override {
      if constexpr (std::is_null_pointer_v<decltype(kCheck)>)
        return record::Ok{};
      else
        return kCheck(options_);
    }
    record::Result<ExitCode> run() const override { return kRun(options_); }

   private:
    Options options_;
  };
  return std::make_unique<Typed>();
}

}  // namespace headroom::app
