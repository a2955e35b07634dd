// Parameters of `product_rates`: one GEMM in each number format of the device.
#include <array>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/product_rates.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

constexpr std::array kFormats{
    record::Choice{"all", "all"},   record::Choice{"fp32", "fp32"}, record::Choice{"tf32", "TF32"},
    record::Choice{"bf16", "bf16"}, record::Choice{"fp16", "fp16"}, record::Choice{"fp8", "fp8, e4m3"},
};

constexpr std::array kProductRatesSchema{
    technique(choice("format", "Format", "Number format of both operands", kFormats)),
    shape(unset("16,384; CPU: 1,024",
                linear(number("largest", "Largest", "elements",
                              "Side of the largest square matrix; each smaller size halves the side", 0, 1 << 16, 0)))),
    device_choice("Device to measure; auto: the GPU if there is one"),
    on_off("quick", "Quick", "Measure the largest size only, with few repeats"),
};

}  // namespace

std::vector<ProductRateCase> product_rate_cases(const record::Params& params, record::DeviceKind device) {
  const bool gpu = device == record::DeviceKind::kGpu;
  constexpr std::int64_t kHalvings = 4, kMultiple = 16;  // fp8 GEMMs need sides that are multiples of 16
  const std::int64_t asked = params.integer("largest");
  const std::int64_t largest = asked > 0 ? asked : gpu ? 16384 : 1024;
  std::vector<ProductRateCase> cases;
  for (const record::Choice& format : kFormats) {
    if (format.key == "all" || (params.text("format") != "all" && params.text("format") != format.key)) continue;
    for (std::int64_t i = params.on("quick") ? 0 : kHalvings; i >= 0; --i) {
      const std::int64_t side = (largest >> i) / kMultiple * kMultiple;
      if (side > 0) cases.push_back({format.key, side});
    }
  }
  return cases;
}

extern const DemoInfo kProductRates;
constinit const DemoInfo kProductRates = {
    .id = "product_rates",
    .title = "Rates of matrix products",
    .summary = "Time one square GEMM in each number format, and compare this device's peak with its data sheet.",
    .schema = kProductRatesSchema,
    .records_memory = false,
};

}  // namespace headroom::experiments
