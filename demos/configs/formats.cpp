// Formats by place. The rules of both frameworks are those of Accelerate's guide "FSDP vs DeepSpeed".
#include "demos/configs/formats.h"

#include <algorithm>
#include <array>
#include <utility>

#include "demos/configs/reading.h"
#include "demos/predict/forms/rank_traffic.h"

namespace headroom::configs {

using predict::StateOffload;
using predict::StaticMemory;
using predict::Zero;

Places places_of(const Config& config, const Loading& loading) {
  const Format loaded = loading.format;
  const Format trained = config.mixed.value_or(loaded);
  switch (config.framework) {
    case Framework::kDeepSpeed:
      // Weights that are not converted must be fp32.
      return {.loaded = loaded,
              .prepared = config.half_masters ? trained : Format::kFp32,
              .trained = config.mixed.value_or(Format::kFp32),
              .optimizer = config.half_masters ? trained : Format::kFp32};
    case Framework::kFsdp: {
      const Format prepared = config.mixed && loading.upcasts ? Format::kFp32 : loaded;
      return {.loaded = loaded, .prepared = prepared, .trained = trained, .optimizer = prepared};
    }
    case Framework::kDataParallel:
      break;
  }
  return {.loaded = loaded, .prepared = loaded, .trained = trained, .optimizer = loaded};
}

StaticMemory bytes_per_parameter(const Config& config, const Loading& loading) {
  const Places places = places_of(config, loading);
  const bool deepspeed = config.framework == Framework::kDeepSpeed;
  const Format weights = deepspeed ? places.trained : places.prepared;
  // ZeRO clones each weight for the optimizer, also one in fp32 (deepspeed/runtime/zero/stage_1_and_2.py).
  const bool has_master = deepspeed && (config.mixed || config.zero != Zero::kOff);
  return {.weights = bytes_of(weights),
          .gradients = bytes_of(config.accumulated.value_or(weights)),
          .master = has_master ? bytes_of(places.prepared) : 0,
          .moments = 2 * bytes_of(places.optimizer)};
}

record::Result<Held> held_by_rank(const Config& config, const Loading& loading, std::int64_t parameters,
                                  std::int64_t ranks) {
  const predict::ParallelSettings parallel{.ranks = ranks, .zero = config.zero, .zero_group = config.zero_group};
  if (const auto divides = predict::check(parallel); !divides) return divides.error();
  const auto times = [&](StaticMemory each) {
    for (record::Bytes StaticMemory::*part :
         {&StaticMemory::weights, &StaticMemory::gradients, &StaticMemory::master, &StaticMemory::moments})
      each.*part *= parameters;
    return each;
  };
  const StaticMemory share = predict::share_of(times(bytes_per_parameter(config, loading)), parallel);
  Held held{.device = share};
  const auto move = [&](record::Bytes StaticMemory::*part) {
    held.elsewhere.*part = std::exchange(held.device.*part, 0);
  };
  if (config.state != StateOffload::kOff)
    for (record::Bytes StaticMemory::*part : {&StaticMemory::gradients, &StaticMemory::master, &StaticMemory::moments})
      move(part);
  if (config.weights != StateOffload::kOff) move(&StaticMemory::weights);

  const std::int64_t trained = bytes_of(places_of(config, loading).trained);
  const StaticMemory traffic = times({.weights = trained, .gradients = config.fp32_sums ? predict::kFp32 : trained});
  held.sent = predict::sent_per_step(traffic, parallel, config.micro_batches);
  const StaticMemory moved = predict::share_of(times({.weights = trained, .gradients = trained}), parallel);
  if (config.state != StateOffload::kOff) held.to_host = config.micro_batches * moved.gradients;
  if (config.weights != StateOffload::kOff)
    held.from_host = 2 * config.micro_batches * moved.weights;  // for forward and for backward
  else if (config.state != StateOffload::kOff)
    held.from_host = moved.weights;
  return held;
}

bool decides_bytes(std::string_view setting) {
  constexpr std::array<std::string_view, 7> kDecide{"zero",       "zero_group",      "precision",       "ranks",
                                                    "accumulate", kOffloadOptimizer, kOffloadParameters};
  return std::ranges::find(kDecide, setting) != kDecide.end();
}

}  // namespace headroom::configs
