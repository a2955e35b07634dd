// headroom-engine as a child process that exchanges raw frames.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "demos/protocol/messages.h"
#include "demos/record/recording.h"

namespace headroom::tests {

using Clock = std::chrono::steady_clock;
// Generous: an idle machine needs less than a second.
inline constexpr std::chrono::minutes kPatience{5};

class EngineChild {
 public:
  explicit EngineChild(std::vector<std::string> arguments = {});
  ~EngineChild();
  EngineChild(const EngineChild&) = delete;
  EngineChild& operator=(const EngineChild&) = delete;

  pid_t pid() const { return pid_; }
  void send(const protocol::Message& message);
  void send_bytes(std::span<const std::byte> bytes);
  void close_input();

  // Nothing on a timeout or after the output was closed.
  std::optional<protocol::Message> next(Clock::duration patience = kPatience);
  // Chunks go into recording().
  template <class Kind>
  std::optional<Kind> next_of(Clock::duration patience = kPatience) {
    const auto deadline = Clock::now() + patience;
    while (auto message = next(deadline - Clock::now())) {
      if (auto* found = std::get_if<Kind>(&*message)) return std::move(*found);
    }
    return std::nullopt;
  }

  void signal(int number) const;
  // Exit code, or minus the signal; nothing on a timeout.
  std::optional<int> ended(Clock::duration patience = kPatience);

  // Received chunks; refused_chunks() must stay 0.
  const record::Recording& recording() const { return recording_; }
  int refused_chunks() const { return refused_chunks_; }
  void new_recording() { recording_ = {}; }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  protocol::FrameReader frames_;
  record::Recording recording_;
  int refused_chunks_ = 0;
};

// Runs the engine with an empty stdin.
std::pair<int, std::string> engine_output(const std::vector<std::string>& arguments);

}  // namespace headroom::tests
