// Builds the optimizer from settings.
#include "demos/engine/experiments/train_step_optimizer.h"

#include <utility>

#include "demos/engine/llama/model/weights/stored_tensors.h"
#include "demos/engine/llama/optimizers/optimizer_choice.h"
#include "demos/predict/optimizers.h"

namespace headroom::experiments {

namespace {

constexpr int kCountedSteps = 1000;  // each step has three histograms; a recording may hold 10,000

std::optional<at::ScalarType> type_of(predict::Moments moments) {
  switch (moments) {
    case predict::Moments::kFp32:
      return at::kFloat;
    case predict::Moments::kBf16:
      return at::kBFloat16;
    case predict::Moments::kModel:
      break;
  }
  return std::nullopt;
}

// Reads a master weight from the checkpoint if its stored type differs from the weight's.
llama::StoredValues stored_in(const llama::StoredWeights* files) {
  if (files == nullptr) return {};
  return [files = std::make_shared<const llama::StoredWeights>(*files)](const llama::Parameter& weight,
                                                                        std::int64_t first, const at::Tensor& into) {
    const auto stored = files->tensors.find(weight.name);
    if (stored == files->tensors.end()) return;  // an adapter
    if (stored->second.type != llama::stored_type(weight.tensor.scalar_type()))
      llama::copy_stored(*files, stored->second, into, first);
  };
}

llama::AdamWOptions adamw_of(const predict::StepSettings& step, llama::LossScale* loss_scale,
                             llama::StoredValues stored) {
  return {.learning_rate = step.optimizer.learning_rate,
          .beta1 = step.optimizer.beta1,
          .beta2 = step.optimizer.beta2,
          .epsilon = step.optimizer.epsilon,
          .weight_decay = step.optimizer.weight_decay,
          .fused = step.fused_adamw,
          .clip = step.optimizer.clip,
          .masters = step.masters(),
          .stored = std::move(stored),
          .moments = type_of(step.optimizer.moments),
          .stochastic_rounding = step.optimizer.stochastic_rounding,
          .seed = step.seed,
          .loss_scale = loss_scale,
          .count_on_device = step.cuda_graph};
}

llama::OptimizerOptions options_of(const predict::StepSettings& step, llama::LossScale* loss_scale,
                                   llama::StoredValues stored, llama::HostArena& arena) {
  llama::AdamWOptions adamw = adamw_of(step, loss_scale, std::move(stored));
  if (predict::form_of(step.optimizer.kind).paged) adamw.paged = &arena;
  return {
      .kind = step.optimizer.kind,
      .adamw = std::move(adamw),
      .galore = {
          .rank = step.low_rank(), .interval = step.optimizer.galore.interval, .scale = step.optimizer.galore.scale}};
}

llama::HostAdamWOptions host_options_of(const predict::StepSettings& step, const llama::Model& model,
                                        const llama::TrainOptions& options, llama::StoredValues stored) {
  return {.adamw = adamw_of(step, nullptr, std::move(stored)),
          .state_type = step.precision == predict::Precision::kBf16 && !step.adapters.fp32 ? at::kBFloat16 : at::kFloat,
          .loss_scale = options.loss_scale,
          .first_loss_scale = static_cast<double>(step.loss_scale.first),
          .scale_window = step.loss_scale.window,
          .fp32_gradient = options.loss.fp32_weight_gradient ? llama::head_name(model) : std::string(),
          .in_file = step.offload.state == predict::StateOffload::kFile,
          .file = step.offload.file};
}

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

StepOptimizer::StepOptimizer(const predict::StepSettings& step, const llama::Model& model, llama::Offload& offload,
                             llama::TrainOptions& options, const llama::StoredWeights* files, llama::StepRanks* ranks)
    : schedule_{.kind = step.optimizer.schedule,
                .peak = step.optimizer.learning_rate,
                .warmup_steps = step.optimizer.warmup_steps},
      schedule_steps_(step.optimizer.schedule_steps) {
  std::vector<llama::Parameter> weights =
      ranks == nullptr ? llama::trainable_parameters(model) : ranks->parameters(model);
  if (predict::has_loss_scale(step.precision)) {
    loss_scale_ = std::make_unique<llama::LossScale>(static_cast<double>(step.loss_scale.first), step.loss_scale.window,
                                                     weights.front().tensor.device());
    options.loss_scale = loss_scale_->scale();
  }
  if (step.offload.state != predict::StateOffload::kOff) {
    optimizer_ =
        offload.make_optimizer(std::move(weights), host_options_of(step, model, options, stored_in(files)), options);
    host_ = dynamic_cast<llama::HostAdamW*>(optimizer_.get());
  } else {
    optimizer_ = llama::make_optimizer(std::move(weights),
                                       options_of(step, loss_scale_.get(), stored_in(files), offload.arena()));
  }
  if (step.histogram) {
    magnitudes_ = std::make_unique<llama::StepMagnitudes>(*optimizer_, options.loss_scale);
    options.hooks.insert(options.hooks.begin(), magnitudes_.get());
  }
  if (step.optimizer.in_backward) {
    in_backward_ = std::make_unique<llama::UpdateInBackward>(*optimizer_);
    options.hooks.push_back(in_backward_.get());
  }
  if (ranks == nullptr) return;
  optimizer_->shares_weights(ranks->sum_over_shards());
  ranks->install(options);
}

void StepOptimizer::begin_step(std::int64_t number, std::int64_t end) {
  optimizer_->set_learning_rate(llama::rate_of_step(schedule_, number, schedule_steps_ > 0 ? schedule_steps_ : end));
}

std::vector<llama::StateTensor> StepOptimizer::state() {
  std::vector<llama::StateTensor> all = optimizer_->state();
  if (!loss_scale_ || host_ != nullptr) return all;  // the host optimizer's state includes the scale
  const std::vector<llama::StateTensor> scale = loss_scale_->state();
  all.insert(all.end(), scale.begin(), scale.end());
  return all;
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
