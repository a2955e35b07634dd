// headroom doctor: reports what this machine has, what is missing, and how to fix it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/drive.h"
#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/cli/shown_course.h"
#include "app/common/assets.h"
#include "app/common/session.h"
#include "app/common/settings.h"
#include "demos/experiments/technique_table.h"
#include "demos/nvml/nvml.h"
#include "demos/protocol/launchers.h"
#include "headroom_build.h"

namespace headroom::app {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// kNote: something is missing that only some uses need.
enum class Health { kOk, kNote, kProblem };

std::string_view key_of(Health health) {
  constexpr std::array<std::string_view, 3> kKeys{"ok", "note", "problem"};
  return kKeys[static_cast<std::size_t>(health)];
}

struct Check {
  std::string name;
  Health health = Health::kOk;
  std::string value;
  std::string cure;
};

Check check_system() {
  std::string system = "Linux";
  std::ifstream release("/etc/os-release");
  for (std::string line; std::getline(release, line);)
    if (line.starts_with("PRETTY_NAME=")) {
      system = line.substr(line.find('=') + 1);
      std::erase(system, '"');
    }
  const auto memory = static_cast<record::Bytes>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  return {"system", Health::kOk,
          fmt::format("{}, {} cores, {} of memory", system, std::thread::hardware_concurrency(),
                      record::format_bytes(memory, 1)),
          ""};
}

// CUDA 13's minimum driver branch on Linux (CUDA release notes).
constexpr int kOldestDriver = 580;

Check check_driver() {
  auto driver = nvml::Driver::open();
  if (!driver)
    return {"driver", Health::kNote, "no NVIDIA driver found: CPU runs and recordings work, GPU runs do not",
            fmt::format("if this machine has an NVIDIA GPU, install driver {} or newer and restart", kOldestDriver)};
  const std::string version = driver->version();
  std::string value = "NVIDIA " + version;
  bool any = false;
  for (unsigned i = 0; i < driver->device_count(); ++i) {
    if (!driver->select(i)) continue;
    any = true;
    const auto memory = driver->memory().value_or(nvml::Driver::Memory{});
    value += fmt::format("; {}, {} ({} free)", driver->name(), record::format_bytes(memory.total, 1),
                         record::format_bytes(memory.free, 1));
  }
  if (!any)
    return {"driver", Health::kNote, value + ", but it reports no GPU: CPU runs and recordings work",
            "if this machine has an NVIDIA GPU, check that `nvidia-smi` lists it and that this container may use it"};
  if (std::atoi(version.c_str()) < kOldestDriver)
    return {"driver", Health::kNote, value + ", too old for CUDA 13",
            fmt::format("install driver {} or newer", kOldestDriver)};
  return {"driver", Health::kOk, std::move(value), ""};
}

// How the GPUs of a run of several ranks reach each other. NCCL's multicast is off in our engines, because it can take
// GPUs of shared hosts out of service.
Check check_ranks(const std::map<std::string, std::string>& engine) {
  auto driver = nvml::Driver::open();
  const unsigned count = driver ? driver->device_count() : 0;
  if (count < 2)
    return {"ranks", Health::kOk,
            fmt::format("{} GPU{}: runs of several ranks use the CPU (device=cpu)", count, count == 1 ? "" : "s"), ""};
  std::string value = fmt::format("up to {} GPUs", count), apart;
  int fewest_links = 0;
  bool known = true;
  for (unsigned i = 0; i < count; ++i) {
    if (!driver->select(i)) continue;
    fewest_links = i == 0 ? driver->nvlinks() : std::min(fewest_links, driver->nvlinks());
    for (unsigned other = 0; other < count; ++other) {
      if (other == i) continue;
      const std::optional<bool> reaches = driver->reaches(other);
      known = known && reaches.has_value();
      if (apart.empty() && reaches == false) apart = fmt::format("{} and {}", i, other);
    }
  }
  value += fewest_links > 0 ? fmt::format(", {} NVLinks each", fewest_links) : ", no NVLinks";
  if (const std::string nccl = record::fact_of(engine, "nccl"); !nccl.empty())
    value += fmt::format("; NCCL {}, multicast off", nccl);
  if (apart.empty())
    return {"ranks", Health::kOk,
            value + (known ? "; all read each other's memory"
                           : "; the driver does not say if they read each other's memory"),
            ""};
  return {"ranks", Health::kNote,
          fmt::format("{}; GPUs {} do not read each other's memory, so sums are slow", value, apart),
          "compare `nvidia-smi topo -p2p r`; a container needs all GPUs, and the host's IOMMU may have to be off"};
}

// Empty if this process is not one of several ranks.
std::vector<Check> check_launcher() {
  const auto launch = protocol::read_launch(protocol::environment_variable);
  if (!launch)
    return {{"launcher", Health::kProblem, launch.error().message,
             "correct the variable, or unset it if no launcher started this process"}};
  if (!launch.value()) return {};
  const auto& [place, launcher, disagreement] = *launch.value();
  const std::string value = fmt::format("{}: rank {} of {}", launcher, place.rank, place.ranks);
  if (disagreement.empty()) return {{"launcher", Health::kOk, value, ""}};
  return {{"launcher", Health::kNote, fmt::format("{}; {}", value, disagreement),
           "nothing to do if one launcher started the other; otherwise unset the variables of one"}};
}

struct EngineReport {
  Check check;
  bool elsewhere = false;
  std::vector<protocol::DeviceFacts> devices;
  std::map<std::string, std::string> facts;
};

EngineReport ask_engine(const std::string& asked) {
  Session session(choose_engine(asked));
  if (!session.has_engine()) return {.check = {"engine", Health::kNote, session.why_no_engine(), "./run"}};
  const std::string name = as_typed(*session.engine().command);
  backend::Backend& engine = *session.runner();
  if (const auto ready = wait_for_engine(engine); !ready)
    return {.check = {"engine", Health::kProblem, fmt::format("{}: {}", name, ready.error().message),
                      fmt::format("run `{}` by hand to see its messages, or rebuild with ./run", name)}};
  EngineReport report{.check = {"engine", Health::kOk, name, ""},
                      .elsewhere = session.engine().elsewhere(),
                      .devices = engine.devices(),
                      .facts = engine.facts()};
  for (const char* key : {"torch", "cuda", "driver", "revision"})
    if (const std::string fact = record::fact_of(report.facts, key); !fact.empty())
      report.check.value += fmt::format("; {} {}", key, fact);
  return report;
}

Check check_devices(const EngineReport& engine, const Check& driver) {
  std::string value;
  bool gpu = false;
  for (const auto& device : engine.devices) {
    value += fmt::format("{}{} ({})", value.empty() ? "" : "; ", device.name, record::format_bytes(device.memory, 1));
    gpu = gpu || device.kind == record::DeviceKind::kGpu;
  }
  if (engine.devices.empty()) return {"devices", Health::kNote, "none: no engine is available", "./run"};
  if (!gpu && !engine.elsewhere && driver.health == Health::kOk)
    return {"devices", Health::kProblem, value + ": the driver reports a GPU, but the engine cannot use it",
            "rebuild with ./run; check CUDA_VISIBLE_DEVICES"};
  return {"devices", Health::kOk, value, ""};
}

std::size_t count_files(const fs::path& folder, std::initializer_list<std::string_view> extensions) {
  std::size_t count = 0;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    count +=
        static_cast<std::size_t>(std::count(extensions.begin(), extensions.end(), entry.path().extension().string()));
  return count;
}

std::vector<Check> check_assets() {
  const auto assets = find_assets();
  if (!assets) return {{"assets", Health::kProblem, assets.error().message, "git checkout assets"}};
  const fs::path& folder = assets.value();
  const std::size_t recordings = stored_recordings(folder).size();
  const std::size_t fonts = count_files(folder / "fonts", {".ttf", ".otf"});
  return {{"assets", Health::kOk, folder.string(), ""},
          {"fonts", fonts > 0 ? Health::kOk : Health::kProblem,
           fmt::format("{} in {}", fonts, (folder / "fonts").string()), fonts > 0 ? "" : "git checkout assets/fonts"},
          {"recordings", recordings > 0 ? Health::kOk : Health::kNote,
           fmt::format("{} in {}", recordings, (folder / "recordings").string()),
           recordings > 0 ? "" : "git checkout assets/recordings"}};
}

// One check for all pages, plus one per text error that hides its page.
std::vector<Check> check_pages() {
  const auto course = load_checked_course();
  if (!course) return {};  // check_assets() reports it
  std::vector<Check> checks{{"pages", Health::kOk, fmt::format("{} can be read", course.value().pages().size()), ""}};
  for (const lessons::Problem& problem : course.value().problems())
    checks.push_back({"page", Health::kProblem, problem.text(),
                      "correct that line in assets/text, or run git checkout assets/text"});
  return checks;
}

// In a source tree, the lines `technique ID` of its scripts whose ID the table lacks.
std::vector<Check> check_scripts() {
  const auto assets = find_assets();
  if (!assets) return {};  // check_assets() reports it
  const fs::path tools = assets.value().parent_path() / "tools";
  std::error_code none;
  std::vector<Check> checks;
  for (const auto& entry : fs::recursive_directory_iterator(tools, none)) {
    if (entry.path().extension() != ".sh") continue;
    std::ifstream script(entry.path());
    int number = 1;
    for (std::string line; std::getline(script, line); ++number) {
      std::istringstream words(line);
      std::string first, id;
      if (!(words >> first >> id) || first != "technique" || experiments::find_technique(id) != nullptr) continue;
      checks.push_back({"script", Health::kProblem,
                        fmt::format("{}:{}: the table of techniques has no {}.", entry.path().string(), number, id),
                        "name a technique that `headroom list` shows"});
    }
  }
  return checks;
}

Check check_window() {
  std::error_code ignored;
  if (!fs::exists(executable_folder() / "headroom-window", ignored))
    return {"window", Health::kNote, "not in this build: only the command line works", "./run"};
  for (const char* variable : {"WAYLAND_DISPLAY", "DISPLAY"})
    if (const char* display = std::getenv(variable); display != nullptr && *display != '\0')
      return {"window", Health::kOk, fmt::format("{}={}", variable, display), ""};
  return {"window", Health::kNote,
          "no display (neither DISPLAY nor WAYLAND_DISPLAY is set): `headroom run` and `headroom figures` work "
          "without one",
          "start the window on a desktop, or over `ssh -X`"};
}

Check check_settings() {
  fs::path folder = settings_path().parent_path();
  std::error_code ignored;
  const std::string shown = folder.string();
  while (!folder.empty() && !fs::exists(folder, ignored)) folder = folder.parent_path();
  if (!folder.empty() && fs::is_directory(folder, ignored) && access(folder.c_str(), W_OK) == 0)
    return {"settings", Health::kOk, shown, ""};
  return {"settings", Health::kNote,
          fmt::format("{} cannot be written: settings are kept until the window closes",
                      shown.empty() ? "the home folder" : shown),
          "set XDG_CONFIG_HOME to a folder that you can write to"};
}

Check check_disk() {
  std::error_code failed;
  const fs::path here = fs::current_path(failed);
  const auto space = fs::space(here, failed);
  if (failed) return {"disk", Health::kNote, "cannot read the current folder", "change to another folder"};
  const auto free = static_cast<record::Bytes>(space.available);
  const std::string value = fmt::format("{} free in {}", record::format_bytes(free, 1), here.string());
  if (free >= 100 * record::kMiB) return {"disk", Health::kOk, value, ""};
  return {"disk", Health::kNote, value, "free at least 100 MiB before recording"};
}

void put_checks(const std::vector<Check>& checks) {
  for (const Check& check : checks) {
    put(fmt::format("{:<8} {:<11} {}\n", key_of(check.health), check.name, check.value));
    if (!check.cure.empty()) put(fmt::format("{:<8} {:<11} to fix it: {}\n", "", "", check.cure));
  }
}

json report_json(const std::vector<Check>& checks, const EngineReport& engine, bool well) {
  json document = {{"ok", well},
                   {"version", build::kVersion},
                   {"revision", build::revision()},
                   {"checks", json::array()},
                   {"devices", json::array()},
                   {"engine", engine.facts}};
  for (const Check& check : checks)
    document["checks"].push_back(
        {{"name", check.name}, {"status", key_of(check.health)}, {"value", check.value}, {"cure", check.cure}});
  for (const auto& device : engine.devices)
    document["devices"].push_back({{"key", device.key},
                                   {"name", device.name},
                                   {"memory_bytes", device.memory},
                                   {"free_bytes", device.free_memory}});
  return document;
}

void declare_doctor(CommonOptions&, OptionList& list) {
  list.json();
  list.engine();
}

record::Result<ExitCode> doctor(const CommonOptions& options) {
  const InterruptGuard guard;
  const EngineReport engine = ask_engine(options.engine);
  if (interrupted()) return ExitCode::kInterrupted;
  std::vector<Check> checks{{"headroom", Health::kOk, fmt::format("{} ({})", build::kVersion, build::revision()), ""},
                            check_system()};
  const Check driver = check_driver();
  for (Check& check : check_launcher()) checks.push_back(std::move(check));
  checks.insert(checks.end(), {engine.check, driver, check_devices(engine, driver), check_ranks(engine.facts)});
  for (Check& check : check_assets()) checks.push_back(std::move(check));
  for (Check& check : check_pages()) checks.push_back(std::move(check));
  for (Check& check : check_scripts()) checks.push_back(std::move(check));
  checks.insert(checks.end(), {check_window(), check_settings(), check_disk()});

  const bool well =
      std::none_of(checks.begin(), checks.end(), [](const Check& check) { return check.health == Health::kProblem; });
  if (options.json)
    put_json(report_json(checks, engine, well));
  else
    put_checks(checks);
  return well ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

extern const Command kDoctor;
constinit const Command kDoctor{.name = "doctor",
                                .summary = "Check what this machine has, what is missing and how to fix it",
                                .example = "",
                                .make = make_invocation<CommonOptions, declare_doctor, doctor>};

}  // namespace headroom::app
