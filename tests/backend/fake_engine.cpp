// A test engine without LibTorch that speaks the protocol and misbehaves as a run's parameter `mode` (see play) or its
// own arguments (see main) ask. "sigkill@2:wait" is the mode sigkill for rank 2 and the mode wait for all other ranks.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/protocol/messages.h"
#include "tests/backend/fake_run.h"

using namespace headroom;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

int frames_out = STDOUT_FILENO;

int number_in(const char* variable, int otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}
const int rank = number_in("HEADROOM_RANK", 0), ranks = number_in("HEADROOM_RANKS", 1);

std::string text_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::string mode_of_rank(const std::string& mode) {
  const std::size_t at = mode.find('@'), colon = mode.find(':');
  if (at == std::string::npos || colon == std::string::npos) return mode;
  return std::stoi(mode.substr(at + 1)) == rank ? mode.substr(0, at) : mode.substr(colon + 1);
}

// Ranks see each other's files in the store.
void leave(const std::string& name) { std::ofstream(text_in("HEADROOM_STORE") + "/" + name); }
void wait_until_left(const std::string& name) {
  while (!std::ifstream(text_in("HEADROOM_STORE") + "/" + name)) ::usleep(1'000);
}

void write_all(const std::vector<std::byte>& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(frames_out, bytes.data() + done, bytes.size() - done);
    if (count < 0) std::_Exit(0);  // the app is gone
    done += static_cast<std::size_t>(count);
  }
}

void send(const protocol::Message& message) { write_all(protocol::encode(message)); }

void send_body(std::string_view body) {
  std::vector<std::byte> frame(4);
  for (std::size_t i = 0; i < 4; ++i) frame[i] = static_cast<std::byte>(body.size() >> (8 * i));
  for (const char c : body) frame.push_back(static_cast<std::byte>(c));
  write_all(frame);
}

struct Run {
  protocol::StartRun start;
  std::string mode;
  int part = 0;
};

void send_chunk(const Run& run, std::vector<std::byte> bytes) {
  send(protocol::Chunk{.run = run.start.run, .bytes = std::move(bytes)});
}

void send_part(const Run& run) {
  for (auto& chunk : tests::fake_part(run.part)) send_chunk(run, std::move(chunk));
  send(protocol::Progress{.run = run.start.run,
                          .step = run.part,
                          .steps = tests::kFakeParts,
                          .fraction = static_cast<double>(run.part) / tests::kFakeParts,
                          .time_left = 1'000'000,
                          .doing = "part " + std::to_string(run.part)});
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

// Called after the run's third part.
void misbehave(const Run& run) {
  if (run.mode == "sigkill") ::raise(SIGKILL);
  if (run.mode == "sigkill_after_echo") {
    wait_until_left("echo");
    ::raise(SIGKILL);
  }
  if (run.mode == "echo") {
    send(protocol::RunFinished{
        .run = run.start.run,
        .outcome = {.kind = record::OutcomeKind::kFailed, .message = "Connection closed by peer."}});
    leave("echo");
  }
  if (run.mode == "sigsegv") {
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would report it and exit instead
    ::raise(SIGSEGV);
  }
  if (run.mode == "exit_3") {
    std::fputs("first words\nCUDA error: an illegal memory access was encountered\n\n", stderr);
    std::_Exit(3);
  }
  if (run.mode == "close_output") {
    ::close(frames_out);
    hang();
  }
  if (run.mode == "hang" || run.mode == "hang_for_ever") hang();
  if (run.mode == "malformed") send_body("this is no MessagePack");
  if (run.mode == "unknown_kind") send_body("\x82\xa7version\x01\xa4kind\xa5sleep");
  while (run.mode == "flood") send_body("this is no MessagePack");  // never reads
  if (run.mode == "broken_stream") write_all(std::vector<std::byte>(8, std::byte{0xff}));
  if (run.mode == "damaged_chunk") {
    auto bytes = tests::fake_part(run.part)[1];
    bytes[bytes.size() / 2] ^= std::byte{0x10};
    send_chunk(run, std::move(bytes));
  }
  if (run.mode == "other_run") {
    Run other = run;
    other.start.run += 1000;
    send_part(other);
    send(protocol::RunFinished{.run = other.start.run, .outcome = {.kind = record::OutcomeKind::kFailed}});
  }
  if (run.mode == "junk") {
    std::vector<char> noise(3 << 20, '#');
    for (std::size_t i = 99; i < noise.size(); i += 100) noise[i] = '\n';
    std::fwrite(noise.data(), 1, noise.size(), stderr);
    std::puts("a library prints to stdout");  // stdout is stderr, as in the engine
    std::fflush(stdout);
  }
}

// Plays the run's next part. False once the run is over.
bool play(Run& run) {
  if (run.mode == "refuse") {
    send(protocol::Refusal{.run = run.start.run, .reason = "The batch is too large."});
    return false;
  }
  if (run.mode == "unread") {
    send(protocol::Refusal{.run = 0, .reason = "The message could not be read."});
    return false;
  }
  if (run.mode == "unfit") {  // refused after its RunInfo
    send_chunk(run, record::encode(tests::fake_info(run.start.params, rank, ranks)));
    send(protocol::RunFinished{.run = run.start.run,
                               .outcome = {.kind = record::OutcomeKind::kRefused, .message = "7 is odd."}});
    return false;
  }
  if (run.part == 0) {
    auto info = record::encode(tests::fake_info(run.start.params, rank, ranks));
    if (run.mode == "damaged_info") info[info.size() / 2] ^= std::byte{0x10};
    send_chunk(run, std::move(info));
    send_chunk(run, tests::fake_operators());
  }
  if (run.mode == "wait" && run.part == 5) return true;  // for another rank, as in a collective
  if (run.mode == "queued" && run.part >= 5) {           // the last step is queued, and waits for its GPU
    const record::Mark mark{.host_time = 5'000'000, .device_time = 5'000'000, .event_index = 500, .step = -1};
    if (run.part == 5) send_chunk(run, record::encode_rows(std::vector{mark}));
    run.part = 6;
    return true;
  }
  if (run.mode == "late") ::usleep(200'000);
  send_part(run);
  if (run.part == 2) misbehave(run);
  if (run.mode == "echo" && run.part == 2) return false;
  ++run.part;
  const bool endless = run.mode == "ignore_cancel" || run.mode == "ignore_terminate" || run.mode == "endless" ||
                       run.mode == "stop_then_hang";
  if (endless) run.part = std::min(run.part, tests::kFakeParts - 1);
  if (run.part < tests::kFakeParts) return true;
  record::Outcome outcome;
  if (run.mode == "out_of_memory")
    outcome = {.kind = record::OutcomeKind::kOutOfMemory,
               .message = "no room for 1 GiB",
               .out_of_memory = record::OutOfMemoryFacts{.requested = record::kGiB}};
  send(protocol::RunFinished{.run = run.start.run, .outcome = outcome});
  if (run.mode == "retire") {
    ::usleep(50'000);  // lets the next run arrive
    std::_Exit(20);
  }
  return false;
}

void take(const protocol::Message& message, std::optional<Run>& run) {
  if (const auto* start = std::get_if<protocol::StartRun>(&message)) {
    const auto mode = start->params.find("mode");
    run = Run{.start = *start, .mode = mode == start->params.end() ? "" : mode_of_rank(mode->second)};
    if (run->mode == "ignore_terminate" || run->mode == "hang_for_ever") ::signal(SIGTERM, SIG_IGN);
  }
  if (const auto* cancel = std::get_if<protocol::Cancel>(&message)) {
    const bool stubborn = run && (run->mode == "ignore_cancel" || run->mode == "ignore_terminate");
    if (run && run->start.run == cancel->run && !stubborn) {
      send(protocol::RunFinished{.run = cancel->run, .outcome = {.kind = record::OutcomeKind::kCancelled}});
      if (run->mode == "stop_then_hang") hang();  // before it reads the next request
      run.reset();
    }
  }
  // Tests wait for this line.
  if (const auto* refusal = std::get_if<protocol::Refusal>(&message))
    std::fprintf(stderr, "refused: %s\n", refusal->reason.c_str());
}

[[noreturn]] void serve() {
  protocol::FrameReader reader;
  std::optional<Run> run;
  std::uint64_t beats = 0;
  for (;;) {
    const bool slow = run && run->mode != "" && run->mode != "at_once";
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    ::poll(&input, 1, run ? (slow ? 10 : 0) : 100);
    if (input.revents != 0) {
      std::vector<std::byte> bytes(1 << 16);
      const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
      if (count <= 0) std::_Exit(0);
      reader.feed(std::span(bytes).first(static_cast<std::size_t>(count)));
    }
    for (auto body = reader.next(); !body.empty(); body = reader.next())
      if (const auto message = protocol::decode(body)) take(message.value(), run);
    if (run && !play(*run)) run.reset();
    send(protocol::Heartbeat{.beats = ++beats, .collectives = run ? static_cast<std::uint64_t>(run->part) : 0});
  }
}

void append_line(const std::string& path, const std::string& line) {
  std::ofstream(path, std::ios::app) << line << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  frames_out = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::signal(SIGPIPE, SIG_IGN);
  protocol::Hello hello{.pid = ::getpid(),
                        .devices = {{.key = "cpu", .name = "CPU, fake", .memory = record::kGiB, .free_memory = 1}},
                        .facts = {{"torch", "none"}}};
  if (ranks > 1) {
    hello.facts["store"] = text_in("HEADROOM_STORE");
    append_line(text_in("HEADROOM_STORE") + "/visible", std::to_string(rank) + ":" + text_in("CUDA_VISIBLE_DEVICES"));
  }
  bool ignore_input = false, close_output = false;
  for (const std::string_view argument : std::vector<std::string_view>(argv + 1, argv + argc)) {
    if (argument == "--plan") hello.facts["planner"] = "yes";
    if (argument == "--other-build") hello.facts["revision"] = "0123456789ab";
    if (argument == "--die-at-start" || argument == "--die-at-start-as-rank=" + std::to_string(rank)) {
      std::fputs("libcudart.so.13: cannot open shared object file\n", stderr);
      return 127;
    }
    if (argument == "--late") ::usleep(300'000);
    if (argument == "--no-hello") hang();
    if (argument == "--chunk-first") send(protocol::Chunk{});
    if (argument == "--other-version") send_body("\x82\xa7version\x01\xa4kind\xa5hello");
    if (argument == "--ignore-input") ignore_input = true;
    if (argument == "--close-output") close_output = true;
    if (argument.starts_with("--pids=")) append_line(std::string(argument.substr(7)), std::to_string(::getpid()));
    if (argument == "--print-environment") {
      const char* policy = std::getenv("OMP_WAIT_POLICY");
      hello.facts["omp_wait_policy"] = policy ? policy : "";
      hello.facts["group_leader"] = ::getpgrp() == ::getpid() ? "yes" : "no";
      int open = 0;
      for (int descriptor = 0; descriptor < 256; ++descriptor)
        if (::fcntl(descriptor, F_GETFD) >= 0) ++open;
      hello.facts["open_descriptors"] = std::to_string(open);
    }
  }
  send(hello);
  if (close_output) ::close(frames_out);
  if (ignore_input || close_output) hang();
  serve();
}
