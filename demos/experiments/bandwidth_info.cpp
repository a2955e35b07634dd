// Parameters of `bandwidth`: the speed of the transfers an offloaded step needs.
#include <array>

#include "demos/experiments/demo.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

using record::ParamKind;

constexpr std::array kBandwidthSchema{
    device_choice("Device whose link is measured; auto: the GPU if there is one"),
    shape({.key = "size",
           .label = "Size",
           .unit = "bytes",
           .help = "Bytes per copy",
           .kind = ParamKind::kBytes,
           .minimum = 1 << 20,
           .maximum = 1e10,
           .default_number = 256.0 * 1024 * 1024,
           .logarithmic = true}),
    shape({.key = "adamw_weights",
           .label = "AdamW",
           .unit = "weights",
           .help = "Weights that the CPU's AdamW updates, 18 bytes each; choose more than its caches hold",
           .kind = ParamKind::kInteger,
           .minimum = 1 << 16,
           .maximum = 1e10,
           .default_number = 1 << 26,
           .logarithmic = true}),
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
    .summary = "Time copies within and between GPU, host and a file, and the CPU's AdamW, as offload uses them.",
    .schema = kBandwidthSchema,
    .records_memory = false,
    .written_bytes = &file_bytes,
};

}  // namespace headroom::experiments
