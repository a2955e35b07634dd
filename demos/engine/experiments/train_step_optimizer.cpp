// Parameters to optimizer.
#include "demos/engine/experiments/train_step_optimizer.h"

#include <algorithm>
#include <utility>

#include "demos/engine/llama/optimizers/optimizer_choice.h"

namespace headroom::experiments {

namespace {

constexpr int kCountedSteps = 1000;  // three histograms each: a recording may hold 10,000

bool is_mixed(const record::Params& params) { return params.text("precision").ends_with("_mixed"); }

llama::AdamWOptions adamw_of(const record::Params& params, llama::LossScale* loss_scale) {
  const std::string_view moments = params.text("moments");
  std::optional<at::ScalarType> type;
  if (moments != "model") type = moments == "fp32" ? at::kFloat : at::kBFloat16;
  return {.learning_rate = params.real("learning_rate"),
          .fused = params.text("fused.adamw") == "on",
          .masters = is_mixed(params),
          .moments = params.in_use("moments") ? type : std::nullopt,
          .stochastic_rounding = params.in_use("rounding") && params.text("rounding") == "stochastic",
          .seed = static_cast<std::uint64_t>(params.integer("seed")),
          .loss_scale = loss_scale,
          .count_on_device = params.text("cuda_graph") == "on"};
}

llama::OptimizerOptions options_of(const record::Params& params, const llama::Config& config,
                                   llama::LossScale* loss_scale) {
  const std::string_view kind = params.text("optimizer");
  const std::int64_t rank = params.integer("galore_rank");
  return {.kind = kind == "adamw_8bit" ? llama::OptimizerKind::kAdamW8bit
                  : kind == "galore"   ? llama::OptimizerKind::kGaLore
                                       : llama::OptimizerKind::kAdamW,
          .adamw = adamw_of(params, loss_scale),
          .galore = {.rank = rank > 0 ? rank : std::max<std::int64_t>(1, config.hidden_size / 4),
                     .interval = params.integer("galore_interval"),
                     .scale = params.real("galore_scale")}};
}

llama::HostAdamWOptions host_options_of(const record::Params& params, const llama::Model& model,
                                        const llama::TrainOptions& options) {
  return {.adamw = adamw_of(params, nullptr),
          .state_type = params.text("precision") == "bf16" ? at::kBFloat16 : at::kFloat,
          .loss_scale = options.loss_scale,
          .first_loss_scale = static_cast<double>(params.integer("loss_scale")),
          .scale_window = params.integer("loss_scale_window"),
          .fp32_gradient = options.loss.fp32_weight_gradient ? model.lm_head_VH : at::Tensor(),
          .in_file = params.text("offload.optimizer") == "file",
          .file = params.text("offload_file")};
}

// How fast this step's states came from their file and went back.
void add_file_traffic(StepReport& report, llama::StateFile& file) {
  const auto add = [&](const char* variant, const llama::FileTraffic& traffic) {
    const auto time = static_cast<double>(traffic.time);
    report.measurements.push_back({.panel = record::Measurement::kOffloadFile,
                                   .variant = variant,
                                   .timing = "wall",
                                   .storage = file.direct() ? "direct" : "cached",
                                   .median = time,
                                   .low = time,
                                   .high = time,
                                   .samples = 1,
                                   .bytes = traffic.bytes});
  };
  add("file_read", file.take_read());
  add("file_write", file.take_written());
}

}  // namespace

StepOptimizer::StepOptimizer(const record::Params& params, const llama::Model& model, llama::Offload& offload,
                             llama::TrainOptions& options) {
  std::vector<llama::Parameter> weights = llama::trainable_parameters(model);
  if (params.text("precision") == "fp16_mixed") {
    loss_scale_ =
        std::make_unique<llama::LossScale>(static_cast<double>(params.integer("loss_scale")),
                                           params.integer("loss_scale_window"), weights.front().tensor.device());
    options.loss_scale = loss_scale_->scale();
  }
  if (params.text("offload.optimizer") != "off") {
    optimizer_ = offload.make_optimizer(std::move(weights), host_options_of(params, model, options), options);
    host_ = dynamic_cast<llama::HostAdamW*>(optimizer_.get());
  } else {
    optimizer_ = llama::make_optimizer(std::move(weights), options_of(params, model.config, loss_scale_.get()));
  }
  if (params.text("histogram") == "on") {
    magnitudes_ = std::make_unique<llama::StepMagnitudes>(*optimizer_, options.loss_scale);
    options.hooks.insert(options.hooks.begin(), magnitudes_.get());
  }
  if (params.text("optimizer_in_backward") == "on") {
    in_backward_ = std::make_unique<llama::UpdateInBackward>(*optimizer_);
    options.hooks.push_back(in_backward_.get());
  }
}

void StepOptimizer::add_to(StepReport& report, int step) {
  if (loss_scale_ && host_ != nullptr) {
    report.loss_scale = host_->last_scale();
    report.skipped_steps = host_->skipped_steps();
  } else if (loss_scale_) {
    report.loss_scale = loss_scale_->last_scale();
    report.skipped_steps = loss_scale_->skipped_steps();
  }
  if (host_ != nullptr && host_->file() != nullptr) add_file_traffic(report, *host_->file());
  if (magnitudes_ && step < kCountedSteps) report.histograms = magnitudes_->read(step);
}

}  // namespace headroom::experiments
