// An engine without torch that uses the real protocol and sends recordings made by hand. HEADROOM_SCRIPT selects how
// runs end: completed, out_of_memory, cancelled (runs until it is cancelled), killed, refused, long (a big recording);
// silent_death exits before the greeting. Recordings have the rank that a launcher's variables give, and the GPU that
// CUDA_VISIBLE_DEVICES names.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "demos/protocol/launchers.h"
#include "demos/protocol/messages.h"
#include "demos/record/run_recordings.h"
#include "tests/cli/support/recordings.h"

using namespace headroom;

namespace {

void send(const protocol::Message& message) {
  const auto frame = protocol::encode(message);
  for (std::size_t sent = 0; sent < frame.size();) {
    const ssize_t count = write(STDOUT_FILENO, frame.data() + sent, frame.size() - sent);
    if (count <= 0) std::_Exit(1);
    sent += static_cast<std::size_t>(count);
  }
}

void set_rank(record::RunInfo& info) {
  if (const auto visible = protocol::environment_variable("CUDA_VISIBLE_DEVICES"))
    info.provenance["visible"] = *visible;
  const auto launch = protocol::read_launch(protocol::environment_variable);
  if (!launch || !launch.value()) return;
  const protocol::RankPlace& place = launch.value()->place;
  info.rank = place.rank;
  info.ranks = place.ranks;
  info.provenance[std::string(record::kRunName)] = place.run;
}

void send_chunks(std::uint64_t run, const record::Recording& recording) {
  const auto chunk = [run](std::vector<std::byte> bytes) { send(protocol::Chunk{run, std::move(bytes)}); };
  const std::array<std::string, 2> names{std::string(recording.op_name(1)), std::string(recording.op_name(2))};
  chunk(record::encode(recording.info()));
  chunk(record::encode_operators(1, names));
  constexpr std::size_t kBatch = 4096;
  const std::span<const record::MemEvent> events(recording.events());
  for (std::size_t first = 0; first < events.size(); first += kBatch)
    chunk(record::encode_rows(events.subspan(first, std::min(kBatch, events.size() - first))));
  chunk(record::encode_rows(recording.marks()));
  chunk(record::encode_rows(recording.metrics()));
}

class Engine {
 public:
  explicit Engine(std::string_view script) : script_(script) {}

  void operator()(const protocol::StartRun& start) {
    run_ = start.run;
    if (script_ == "refused")
      return finish({record::OutcomeKind::kRefused, "head_dim=7 is odd, but RoPE turns pairs: use an even width.", {}});
    const bool out_of_memory = script_ == "out_of_memory";
    record::Recording recording = out_of_memory       ? tests::out_of_memory_recording()
                                  : script_ == "long" ? tests::large_recording(100'000)
                                                      : tests::small_recording();
    record::RunInfo info = recording.info();
    info.demo = start.demo;
    info.params = start.params;
    info.source = record::Source::kLive;
    set_rank(info);
    recording.set_info(info);
    send_chunks(run_, recording);
    send(protocol::Progress{run_, 1, 2, 0.5, 1'000'000'000, "step 1 of 2"});
    if (script_ == "killed") std::raise(SIGKILL);
    if (script_ != "cancelled") finish(*recording.outcome());
  }
  void operator()(const protocol::Cancel&) { finish({record::OutcomeKind::kCancelled, "Cancelled after step 1.", {}}); }
  template <class Other>
  void operator()(const Other&) {}

 private:
  void finish(record::Outcome outcome) { send(protocol::RunFinished{run_, std::move(outcome)}); }

  std::string_view script_;
  std::uint64_t run_ = 0;
};

}  // namespace

int main() {
  const char* named = std::getenv("HEADROOM_SCRIPT");
  const std::string script = named != nullptr ? named : "completed";
  if (script == "silent_death") return 3;

  protocol::Hello hello;
  hello.pid = getpid();
  hello.devices = {{record::DeviceKind::kCpu, "cpu", "CPU, 2 cores", 8 * record::kGiB, 4 * record::kGiB}};
  hello.facts = {{"torch", "2.11.0"}, {"revision", "0123456789ab"}};
  send(hello);

  Engine engine(script);
  protocol::FrameReader frames;
  std::array<std::byte, 65536> buffer;
  for (ssize_t count = 0; (count = read(STDIN_FILENO, buffer.data(), buffer.size())) > 0;) {
    frames.feed(std::span(buffer).first(static_cast<std::size_t>(count)));
    for (auto body = frames.next(); !body.empty(); body = frames.next())
      if (auto message = protocol::decode(body)) std::visit(engine, message.value());
  }
}
