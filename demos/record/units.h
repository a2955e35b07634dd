// Bytes, times, memory categories, and quantities with their source.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "demos/record/result.h"

namespace headroom::record {

using Bytes = std::int64_t;        // displayed in binary units (GiB, MiB)
using Nanoseconds = std::int64_t;  // monotonic, from the run's start

inline constexpr Bytes kKiB = Bytes{1} << 10;
inline constexpr Bytes kMiB = Bytes{1} << 20;
inline constexpr Bytes kGiB = Bytes{1} << 30;
inline constexpr std::int64_t kMostSteps = 1'000'000'000;
// Limits for files and messages: a petabyte; 73 years, whose differences fit in 64 bits.
inline constexpr Bytes kMostBytes = Bytes{1} << 50;
inline constexpr Nanoseconds kMostTime = Nanoseconds{1} << 61;

// In the figures' stacking order, from the bottom.
enum class Category : std::uint8_t { kWeights, kOptimizerState, kGradients, kActivations, kLogits, kWorkspace, kOther };
inline constexpr int kNumCategories = 7;
using ByCategory = std::array<Bytes, kNumCategories>;
Bytes total(const ByCategory& bytes);

enum class Phase : std::uint8_t {
  kSetup,
  kForward,
  kLoss,
  kRecompute,
  kBackward,
  kOptimizer,
  kCopies,
  kEvaluation,  // forward and loss on held-out text, after the optimizer
};
inline constexpr int kNumPhases = 8;

enum class DeviceKind : std::uint8_t { kCpu, kGpu, kHost };
inline constexpr int kNumDeviceKinds = 3;

// Origin of a number. A figure's line never mixes origins unmarked.
enum class Source : std::uint8_t { kFormula, kPredicted, kRecorded, kLive };
inline constexpr int kNumSources = 4;

// Keys for files ("optimizer_state"), labels for readers ("optimizer state").
std::string_view key_of(Category category);
std::string_view key_of(Phase phase);
std::string_view key_of(DeviceKind device);
std::string_view key_of(Source source);
// The parameter `device`: "cuda" for a GPU, else "cpu". "auto" does not name a GPU.
std::string_view setting_of(DeviceKind device);
bool names_gpu(std::string_view device_setting);
std::string_view label_of(Category category);
std::string_view label_of(Phase phase);

enum class Unit : std::uint8_t { kBytes, kNanoseconds, kTokensPerSecond, kCount, kNone };

// `low` and `high`: 20 % and 80 % quantiles.
struct Quantity {
  double value = 0;
  Unit unit = Unit::kNone;
  Source source = Source::kFormula;
  int samples = 0;
  std::optional<double> low;
  std::optional<double> high;
};

// "26.64 GiB", "512 B". Two decimals in tables, one in headlines (look.md). Minus is U+2212.
std::string format_bytes(Bytes bytes, int decimals = 2);
// "37.7 ms", "1.26 s", "850 µs".
std::string format_duration(Nanoseconds duration);
std::string format_count(std::int64_t count);
std::string format(const Quantity& quantity);

// "24GiB", "24 GiB", "1024". GB and MB are decimal (10^9, 10^6). Refuses negatives and overflow.
Result<Bytes> parse_bytes(std::string_view text);

}  // namespace headroom::record
