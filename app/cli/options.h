// What the user asked for: the command line, parsed.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "demos/record/result.h"

namespace headroom::app {

struct WindowOptions {
  std::string engine;
};

struct ListOptions {
  bool json = false;
};

struct RunOptions {
  std::string demo;
  std::vector<std::string> set;  // key=value
  std::optional<std::string> device, cap, data;
  std::optional<std::string> record;
  std::optional<double> time_limit;  // seconds
  bool fail_on_oom = false;
  bool trace = false;
  bool json = false;
  std::string engine;
};

struct BenchOptions {
  std::vector<std::string> kernels;  // empty: all
  std::vector<std::string> set;      // key=value
  std::optional<std::string> device;
  std::optional<std::string> record;
  std::optional<double> time_limit;  // seconds, a kernel that was named
  bool quick = false;
  bool json = false;
  std::string engine;
};

struct SweepOptions {
  std::string demo;               // or "ladder"
  std::vector<std::string> over;  // key=value,value,…
  std::optional<std::string> order;
  std::vector<std::string> set;  // key=value
  std::optional<std::string> device, cap;
  std::optional<std::string> record;
  bool restart = false;
  std::optional<double> time_limit;  // seconds, of all points together
  bool json = false;
  std::string engine;
};

struct ReportOptions {
  std::string out;
  std::vector<std::string> set;  // key=value
  std::optional<std::string> device;
  bool quick = false;
  bool restart = false;
  std::optional<double> time_limit;  // seconds, of all points together
  bool json = false;
  std::string engine;
};

struct FiguresOptions {
  std::vector<std::string> ids;
  std::optional<int> chapter;  // from 1
  std::optional<std::string> from;
  std::optional<std::string> against;  // run A
  std::string out;
  std::string format = "svg";  // several with commas
  std::vector<std::string> set;
  std::string theme = "light";
  std::optional<std::string> width;
  bool json = false;
  std::string engine;
};

struct DoctorOptions {
  bool json = false;
  std::string engine;
};

// A text to print as it is: --help, --version.
struct PrintText {
  std::string text;
};

using Command = std::variant<PrintText, WindowOptions, ListOptions, RunOptions, SweepOptions, BenchOptions,
                             ReportOptions, FiguresOptions, DoctorOptions>;

// Bad usage is an error with one sentence; it names the nearest command or option for one that is not known.
record::Result<Command> parse_command_line(int argc, const char* const* argv);

}  // namespace headroom::app
