// What the app and an engine say to each other: one struct per message, MessagePack inside length-prefixed frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "demos/record/recording.h"
#include "demos/record/result.h"
#include "demos/record/units.h"

namespace headroom::protocol {

inline constexpr int kVersion = 2;
inline constexpr std::size_t kMaxFrameBytes = std::size_t{16} << 20;
inline constexpr int kMaxDepth = 64;

// --- app → engine

struct StartRun {
  std::uint64_t run = 0;  // chosen by the app, never reused; chunks of another run are dropped
  std::string demo;
  std::map<std::string, std::string> params;
  bool record = true;  // false: run untouched by probes; only metrics and the outcome come back
};

struct Cancel {
  std::uint64_t run = 0;
};

// --- engine → app

struct DeviceFacts {
  record::DeviceKind kind = record::DeviceKind::kCpu;
  std::string key;   // "cpu", "cuda"
  std::string name;  // "NVIDIA H200", "CPU, 2 cores"
  record::Bytes memory = 0;
  record::Bytes free_memory = 0;

  bool operator==(const DeviceFacts&) const = default;
};

// The first message of every engine.
struct Hello {
  std::int64_t pid = 0;
  std::vector<DeviceFacts> devices;
  std::map<std::string, std::string> facts;  // torch, cuda, driver, revision, …
};

// A piece of the run's recording: equal to a chunk of the file, byte for byte.
struct Chunk {
  std::uint64_t run = 0;
  std::vector<std::byte> bytes;
};

struct Progress {
  std::uint64_t run = 0;
  std::int32_t step = 0;
  std::int32_t steps = 0;
  double fraction = 0;                 // 0 … 1
  record::Nanoseconds time_left = -1;  // -1: not known yet
  std::string doing;                   // "step 2 of 3", "building the model"
};

struct RunFinished {
  std::uint64_t run = 0;
  record::Outcome outcome;
};

// Every 250 ms from a thread that makes no CUDA call; `beats` counts what the worker did, so that "slow" and "hung"
// differ.
struct Heartbeat {
  std::uint64_t beats = 0;
};

// A message that could not be taken, and why. `run` 0: no run in particular.
struct Refusal {
  std::uint64_t run = 0;
  std::string reason;
};

using Message = std::variant<StartRun, Cancel, Hello, Chunk, Progress, RunFinished, Heartbeat, Refusal>;

// A whole frame: 4 bytes little-endian length, then MessagePack.
std::vector<std::byte> encode(const Message& message);
// The MessagePack of one frame, without its length. Everything is checked: size, depth, types, ranges, version. A
// message kind that is not known is refused with a reason (the receiver answers with Refusal and goes on).
record::Result<Message> decode(std::span<const std::byte> body);

// Cuts a byte stream into frames.
class FrameReader {
 public:
  void feed(std::span<const std::byte> bytes);
  // The next whole frame's body; empty when more bytes are needed. After a length of 0 or beyond kMaxFrameBytes the
  // stream cannot be trusted any more: broken() is true and nothing more comes.
  std::vector<std::byte> next();
  bool broken() const { return broken_; }

 private:
  std::vector<std::byte> buffer_;
  std::size_t start_ = 0;
  bool broken_ = false;
};

}  // namespace headroom::protocol
