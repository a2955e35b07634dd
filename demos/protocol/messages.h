// Messages between the app and an engine: MessagePack in length-prefixed frames.
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

inline constexpr int kVersion = 3;
inline constexpr std::size_t kMaxFrameBytes = std::size_t{16} << 20;
inline constexpr int kMaxDepth = 64;

// --- app → engine

struct StartRun {
  std::uint64_t run = 0;  // chosen by the app, never reused; chunks of other runs are dropped
  std::string demo;
  std::map<std::string, std::string> params;
  bool record = true;  // false: no probes, only metrics and the outcome
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

// A chunk of the run's recording, byte for byte as in the file.
struct Chunk {
  std::uint64_t run = 0;
  std::vector<std::byte> bytes;
};

struct Progress {
  std::uint64_t run = 0;
  std::int32_t step = 0;
  std::int32_t steps = 0;
  double fraction = 0;                 // 0 … 1
  record::Nanoseconds time_left = -1;  // -1: unknown
  std::string doing;                   // "step 2 of 3", "building the model"
};

struct RunFinished {
  std::uint64_t run = 0;
  record::Outcome outcome;
};

// Sent every 250 ms by a thread without CUDA calls. `beats` counts the worker's progress, to tell a slow engine from a
// hung one.
struct Heartbeat {
  std::uint64_t beats = 0;
  std::uint64_t collectives = 0;  // that the run has begun
};

// Rejects a message. `run` 0: no run in particular.
struct Refusal {
  std::uint64_t run = 0;
  std::string reason;
};

using Message = std::variant<StartRun, Cancel, Hello, Chunk, Progress, RunFinished, Heartbeat, Refusal>;

// A frame: 4 bytes little-endian length, then MessagePack.
std::vector<std::byte> encode(const Message& message);
// `body`: a frame without its length. Checks size, depth, types, ranges and version. The receiver answers an error
// with Refusal and continues.
record::Result<Message> decode(std::span<const std::byte> body);

// Cuts a byte stream into frames.
class FrameReader {
 public:
  void feed(std::span<const std::byte> bytes);
  // The next frame's body; empty until it is complete. After a length of 0 or above kMaxFrameBytes broken() stays
  // true.
  std::vector<std::byte> next();
  bool broken() const { return broken_; }

 private:
  std::vector<std::byte> buffer_;
  std::size_t start_ = 0;
  bool broken_ = false;
};

}  // namespace headroom::protocol
