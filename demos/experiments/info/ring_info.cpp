// Parameters of `ring`: a sum over ranks by sends and receives between neighbors.
#include <array>

#include "demos/experiments/demo.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

constexpr std::array kRingSchema{
    shape(number("ranks", "Ranks", {}, "N: processes in the ring, one per GPU, or on one CPU", 2, 1024, 2)),
    shape(size_in_bytes("bytes", "Buffer", "Size of the buffer that all ranks sum, in fp32", 1 << 16, 16e9,
                        16.0 * 1024 * 1024)),
    linear(number("repeats", "Repeats", "sums", "Sums that are timed, after one that warms up", 1, 1000, 5)),
    device_choice("Device of all ranks; auto: the GPUs if there are any"),
    seed("Seed for the numbers in the buffers"),
};

std::int64_t ring_ranks(const record::Params& params) { return params.integer("ranks"); }

}  // namespace

extern const DemoInfo kRing;
constinit const DemoInfo kRing = {
    .id = "ring",
    .title = "A sum in a ring",
    .summary = "Sum a buffer over several ranks by sends and receives in a ring, and compare with the library's sum.",
    .schema = kRingSchema,
    .ranks = &ring_ranks,
};

}  // namespace headroom::experiments
