// Bytes, times, the kinds of memory, and numbers that say what they are.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "demos/record/result.h"

namespace headroom::record {

using Bytes = std::int64_t;        // integers inside, GiB and MiB (binary, spelled) outside
using Nanoseconds = std::int64_t;  // monotonic clock, from the start of the run

inline constexpr Bytes kKiB = Bytes{1} << 10;
inline constexpr Bytes kMiB = Bytes{1} << 20;
inline constexpr Bytes kGiB = Bytes{1} << 30;
inline constexpr std::int64_t kMostSteps = 1'000'000'000;
inline constexpr Bytes kMostBytes = Bytes{1} << 50;  // of anything that a file or message holds: a petabyte

// The kinds of memory in the order in which figures stack them, from the bottom.
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
  kEvaluation,  // forward and loss on held-out text, behind the optimizer
};
inline constexpr int kNumPhases = 8;

enum class DeviceKind : std::uint8_t { kCpu, kGpu, kHost };
inline constexpr int kNumDeviceKinds = 3;

// Where a number comes from. Never mixed in one line unmarked.
enum class Source : std::uint8_t { kFormula, kPredicted, kRecorded, kLive };
inline constexpr int kNumSources = 4;

// Names as they appear in files and in JSON ("optimizer_state") and as a reader sees them ("optimizer state").
std::string_view key_of(Category category);
std::string_view key_of(Phase phase);
std::string_view key_of(DeviceKind device);
std::string_view key_of(Source source);
std::string_view label_of(Category category);
std::string_view label_of(Phase phase);
std::string_view label_of(Source source);

enum class Unit : std::uint8_t { kBytes, kNanoseconds, kTokensPerSecond, kCount, kRatio, kNone };

// A number with everything that a reader needs to trust it. The spread is the 20 % and 80 % quantile of `samples` runs.
struct Quantity {
  double value = 0;
  Unit unit = Unit::kNone;
  Source source = Source::kFormula;
  int samples = 0;
  std::optional<double> low;
  std::optional<double> high;
};

// "26.64 GiB", "512 B", "8.13 MiB": binary units, spelled; decimals as given (look.md: two in tables, one in
// headlines). Minus is U+2212. Bytes below 1 KiB are shown whole.
std::string format_bytes(Bytes bytes, int decimals = 2);
std::string format_change(Bytes bytes);  // with its sign: "+1.50 MiB", "−1.50 MiB", "0 B"
// "37.7 ms", "1.26 s", "850 µs".
std::string format_duration(Nanoseconds duration);
// "128,256" with a comma for thousands.
std::string format_count(std::int64_t count);
std::string format(const Quantity& quantity);

// "24GiB", "24 GiB", "512MiB", "1.5GiB", "1024": bytes. GB and MB are decimal (10^9, 10^6). Refuses negatives and
// overflow.
Result<Bytes> parse_bytes(std::string_view text);

}  // namespace headroom::record
