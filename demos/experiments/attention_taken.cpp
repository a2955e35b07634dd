// Chooses between two attention kernels that compute the same.
#include "demos/experiments/attention_taken.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "demos/experiments/info/train_step_model.h"

namespace headroom::experiments {

namespace {

constexpr std::string_view kAttention = "attention", kAutomatic = "auto";
constexpr double kMeasuredSince = 9.0;  // Hopper
// Limits of cuDNN's backward pass (PyTorch, transformers/cuda/sdp_utils.cpp, check_cudnn_tensor_shapes()).
constexpr std::int64_t kWidestHead = 128, kWidthStep = 8;

bool takes_cudnn(const record::Params& settings) {
  const predict::StepSettings step = predict::step_settings(settings);
  if (step.precision == predict::Precision::kFp32) return false;
  const auto model = train_step_model(step);  // a config.json has its own head width
  if (!model) return false;
  const std::int64_t width = model.value().config.head_dim;
  return width <= kWidestHead && width % kWidthStep == 0 && step.sequence > 1;
}

}  // namespace

record::Params with_attention_taken(record::Params settings, record::DeviceKind device,
                                    std::optional<double> capability) {
  if (!settings.has(kAttention) || settings.text(kAttention) != kAutomatic) return settings;
  const bool measured = device == record::DeviceKind::kGpu && capability.value_or(0) >= kMeasuredSince;
  (void)settings.set(kAttention, measured && takes_cudnn(settings) ? "cudnn" : "flash");
  return settings;
}

std::optional<double> capability_in(const std::map<std::string, std::string>& facts) {
  const auto said = facts.find("compute_capability");
  if (said == facts.end()) return std::nullopt;
  return std::strtod(said->second.c_str(), nullptr);
}

}  // namespace headroom::experiments
