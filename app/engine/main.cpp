// headroom-engine: owns every tensor and stream, and talks to the app over stdin and stdout.
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/common/assets.h"
#include "demos/engine/live/probes/cpu_probe.h"
#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/probes/meta_probe.h"
#include "demos/engine/live/probes/ring.h"
#include "demos/engine/live/run/device_facts.h"
#include "demos/engine/live/run/link.h"
#include "demos/engine/live/run/run_feed.h"
#include "demos/engine/live/run/worker.h"
#include "demos/engine/live/trace/kernel_trace.h"
#include "headroom_build.h"

namespace headroom::app {
namespace {

constexpr int kBadUsage = 2;
// Events are sent every 30 ms, and an answer for Llama 3.2 1B has about 20,000. Over time the whole ring is touched, so
// a ring of 16 MiB replaces the usual 64 MiB.
constexpr std::size_t kPlannerEvents = std::size_t{1} << 18;
constexpr int kFault = 70;  // a bug: an unhandled exception

constexpr std::string_view kUsage =
    "headroom-engine runs demos for headroom and headroom-window, which start it themselves.\n  headroom-engine       "
    "     speak the protocol on stdin and stdout\n  headroom-engine --plan     the same, but predict on meta tensors; "
    "never uses a GPU\n  headroom-engine --trace    the same, and trace each kernel of a run, which slows the run\n  "
    "headroom-engine --facts    print devices and versions as JSON\n  headroom-engine --version  print version and "
    "revision\n";

// Keeps the real stdout for frames; library output goes to stderr.
int take_stdout() {
  const int frames = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (frames < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "the engine's output");
  }
  return frames;
}

// If memory runs out, the Linux kernel should kill the engine first.
void be_first_victim() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

void print_facts() {
  const live::MachineFacts machine = live::machine_facts(/*look_for_gpu=*/true);
  nlohmann::json devices = nlohmann::json::array();
  for (const protocol::DeviceFacts& device : machine.devices) {
    devices.push_back({{"kind", record::key_of(device.kind)},
                       {"key", device.key},
                       {"name", device.name},
                       {"memory", device.memory},
                       {"free_memory", device.free_memory}});
  }
  const nlohmann::json facts{{"devices", devices}, {"facts", machine.facts}};
  std::puts(facts.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

// The course's text, which never changes, so that losses are comparable across versions.
std::filesystem::path text_to_train_on() {
  const auto assets = find_assets();
  return assets ? course_text(assets.value()) : "assets/data/course.txt";
}

void read_rank(live::MachineFacts& machine) {
  const auto launch = protocol::read_launch(protocol::environment_variable);
  if (!launch)
    machine.rank_trouble = launch.error().message;
  else if (launch.value())
    machine.rank = launch.value()->place;
}

int serve(live::EngineRole role, bool trace) {
  using namespace live;
  const int frames = take_stdout();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);  // the app handles Ctrl-C: it cancels, or closes our stdin
  be_first_victim();

  // Both must exist before any tensor. They are never freed, because hanging threads may still use them.
  const bool planner = role == EngineRole::kPlanner;
  if (planner) mallopt(M_MMAP_THRESHOLD, 256 * 1024);  // bytes; freed event lists return to the system
  auto& sink = *new EventSink(planner ? kPlannerEvents : EventRing::kDefaultCapacity);
  auto& feed = *new RunFeed;
  Probes probes{.cpu = &CpuProbe::install(sink), .meta = nullptr, .kernels = nullptr};
  if (trace) probes.kernels = &KernelTrace::install();  // before the first CUDA call
  if (planner) probes.meta = &MetaProbe::install(sink);
  MachineFacts machine = machine_facts(/*look_for_gpu=*/!planner);
  if (planner)
    add_planned_devices(machine);
  else
    read_rank(machine);
  auto& worker = *new Worker(role, probes, sink, feed, machine, text_to_train_on());

  Link link(STDIN_FILENO, frames, worker, feed, sink);
  return link.run({.pid = getpid(), .devices = machine.devices, .facts = machine.facts});
}

int run(const std::vector<std::string_view>& arguments) {
  const std::string_view option = arguments.size() == 1 ? arguments.front() : std::string_view();
  if (option == "--version") {
    std::printf("headroom-engine %s (%s)\n", build::kVersion.data(), build::revision().data());
    return 0;
  }
  if (option == "--facts") {
    print_facts();
    return 0;
  }
  if (option == "--help") {
    std::fputs(kUsage.data(), stdout);
    return 0;
  }
  const bool serves = arguments.size() < 2 && (option.empty() || option == "--plan" || option == "--trace");
  if (!serves || isatty(STDIN_FILENO) || isatty(STDOUT_FILENO)) {
    std::fputs(kUsage.data(), stderr);
    return kBadUsage;
  }
  return serve(option == "--plan" ? live::EngineRole::kPlanner : live::EngineRole::kRunner, option == "--trace");
}

}  // namespace
}  // namespace headroom::app

int main(int argc, char** argv) {
  int code = headroom::app::kFault;
  try {
    code = headroom::app::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headroom-engine: %s\n", error.what());
  }
  std::fflush(nullptr);
  // Exit at once: static destructors of CUDA libraries may wait for a device that no longer answers.
  std::_Exit(code);
}
