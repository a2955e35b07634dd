// Parameters of `bandwidth`: the speed of the transfers an offloaded step needs.
#include <array>

#include "demos/experiments/demo.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

constexpr std::array kBandwidthSchema{
    device_choice("Device whose link is measured; auto: the GPU if there is one"),
    shape(size_in_bytes("size", "Size", "Bytes per copy", 1 << 20, 1e10, 256.0 * 1024 * 1024)),
    shape(number("adamw_weights", "AdamW", "weights",
                 "Weights that the CPU's AdamW updates, 18 bytes each; choose more than the CPU's caches hold", 1 << 16,
                 1e10, 1 << 26)),
    unset("a temporary file",
          file("file", "File", "New file to write and read; empty: one in the folder for temporary files",
               record::FileUse::kWritten)),
};

record::Bytes file_bytes(const record::Params& params) { return params.integer("size"); }

}  // namespace

extern const DemoInfo kBandwidth;
constinit const DemoInfo kBandwidth = {
    .id = "bandwidth",
    .title = "Bandwidth of this machine",
    .summary = "Time the copies within and between GPU, host and a file, and the CPU's AdamW, that offloading uses.",
    .schema = kBandwidthSchema,
    .records_memory = false,
    .written_bytes = &file_bytes,
};

}  // namespace headroom::experiments
