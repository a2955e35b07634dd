// Parameters to model, optimizer, text and steps.
#include "demos/experiments/train_step_run.h"

#include <string>
#include <utility>

#include <ATen/ATen.h>

#include "demos/llama/data.h"
#include "demos/llama/labels.h"
#include "demos/llama/meta_kernels.h"
#include "demos/llama/train_step.h"

namespace headroom::experiments {

namespace {

llama::Config config_of(const record::Params& params) {
  if (const llama::Config* published = llama::find_config(params.text("model"))) return *published;
  return {
      .id = "custom",
      .hidden_size = params.integer("hidden_size"),
      .intermediate_size = params.integer("intermediate_size"),
      .num_layers = params.integer("num_layers"),
      .num_heads = params.integer("num_heads"),
      .num_kv_heads = params.integer("num_kv_heads"),
      .head_dim = params.integer("head_dim"),
      .vocab_size = params.integer("vocab_size"),
  };
}

llama::FusedKernels fused_of(const record::Params& params) {
  const auto on = [&](const char* key) { return params.text(key) == "on"; };
  return {.rms_norm = on("fused.rms_norm"),
          .rope = on("fused.rope"),
          .swiglu = on("fused.swiglu"),
          .cross_entropy = on("fused.cross_entropy"),
          .embedding = on("fused.embedding")};
}

llama::LossOptions loss_of(const record::Params& params) {
  if (params.text("loss") != "flce") return {};
  const std::string_view mode = params.text("loss_mode");
  return {.path = llama::LossPath::kFlce,
          .mode = mode == "lean"     ? kernels::FlceMode::kLean
                  : mode == "report" ? kernels::FlceMode::kReport
                                     : kernels::FlceMode::kChunked,
          .chunk = params.integer("loss_chunk"),
          .fp32_weight_gradient = params.text("weight_gradient") == "fp32"};
}

// Where the loss's kernels report a target that cannot be; undefined where PyTorch's operators compute the loss.
at::Tensor make_error_flag(const llama::TrainOptions& options, const llama::FusedKernels& fused, at::Device device) {
  if (options.loss.path == llama::LossPath::kPlain && !fused.cross_entropy) return {};
  const record::Scope scope(record::Category::kOther, llama::operators().nll);
  return at::zeros({1}, at::TensorOptions().device(device).dtype(at::kLong));
}

std::unique_ptr<llama::Optimizer> make_optimizer(const record::Params& params, const llama::Model& model) {
  const llama::AdamWOptions adamw{.learning_rate = params.real("learning_rate"),
                                  .fused = params.text("fused.adamw") == "on"};
  return std::make_unique<llama::AdamW>(llama::parameters(model), adamw);
}

// The first product on a CUDA stream takes cuBLAS's workspace, which stays: taken here, under its own name.
void take_blas_workspace(const llama::Placement& placement) {
  if (!placement.device.is_cuda()) return;
  const record::Scope scope(record::Category::kWorkspace, llama::operators().blas_workspace);
  const at::Tensor small = at::zeros({16, 16}, at::TensorOptions().device(placement.device).dtype(placement.type));
  at::mm(small, small);
}

}  // namespace

struct TrainStepRun::State {
  std::string text;
  std::int64_t batch = 0, seq = 0;
  std::uint64_t seed = 0;
  int steps = 0;
  llama::TrainOptions options;
  llama::Model model;
  std::unique_ptr<llama::Optimizer> optimizer;
  at::Tensor tokens_2BT;  // of the last step, on the host
  at::Tensor loss;        // of the last step, on the device
};

TrainStepRun::TrainStepRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
TrainStepRun::~TrainStepRun() = default;

record::Result<std::unique_ptr<TrainStepRun>> TrainStepRun::create(const record::Params& params,
                                                                   const RunSetting& setting) {
  const RunPlace& place = setting.place;
  const llama::Config config = config_of(params);
  if (const record::Status fits = llama::check(config); !fits.ok()) return fits.error();
  const std::filesystem::path file = params.text("data");
  record::Result<std::string> text = llama::read_text(file.empty() ? setting.course_pages : std::span(&file, 1));
  if (!text) return text.error();

  if (place.device.is_meta()) llama::install_meta_kernels();
  const llama::Placement placement{
      .device = place.device,
      .target = place.target,
      .type = params.text("precision") == "bf16" ? at::kBFloat16 : at::kFloat,
  };
  const std::int64_t seq = params.integer("seq");
  const auto seed = static_cast<std::uint64_t>(params.integer("seed"));
  llama::TrainOptions options{
      .checkpointing =
          params.text("checkpointing") == "layer" ? llama::Checkpointing::kLayer : llama::Checkpointing::kOff,
      .loss = loss_of(params),
      .cancel = setting.cancel,
  };
  record::mark(record::Phase::kSetup);
  take_blas_workspace(placement);
  options.loss.error_flag = make_error_flag(options, fused_of(params), place.device);
  llama::Model model;
  try {
    model = llama::make_model(config, fused_of(params), placement, seq, seed, setting.cancel);
  } catch (const llama::Cancelled&) {
    return record::Error{"Cancelled while the model was built.", record::ErrorKind::kRefused};
  }
  std::unique_ptr<llama::Optimizer> optimizer = make_optimizer(params, model);
  return std::unique_ptr<TrainStepRun>(new TrainStepRun(std::make_unique<State>(State{
      .text = std::move(text).value(),
      .batch = params.integer("batch"),
      .seq = seq,
      .seed = seed,
      .steps = static_cast<int>(params.integer("steps")),
      .options = options,
      .model = std::move(model),
      .optimizer = std::move(optimizer),
      .tokens_2BT = {},
      .loss = {},
  })));
}

StepResult TrainStepRun::step(int index) {
  State& s = *state_;
  s.loss = s.tokens_2BT = at::Tensor();  // the step before's
  s.tokens_2BT = llama::make_batch(s.text, s.batch, s.seq, s.seed, index);
  try {
    s.loss = llama::train_step(s.model, *s.optimizer, s.tokens_2BT, s.options, index);
  } catch (const llama::Cancelled&) {
    return StepResult::kCancelled;
  }
  return StepResult::kDone;
}

int TrainStepRun::steps() const { return state_->steps; }

std::int64_t TrainStepRun::tokens_per_step() const { return state_->batch * state_->seq; }

std::int64_t TrainStepRun::num_parameters() const { return llama::num_parameters(state_->model.config); }

int TrainStepRun::marks_per_step() const {
  return llama::marks_per_step(state_->model.config, state_->options);
}

double TrainStepRun::loss() const {
  const State& s = *state_;
  return llama::read_loss(s.loss, s.options.loss.error_flag, s.tokens_2BT.select(0, 1), s.model.config.vocab_size);
}

StepReport TrainStepRun::report() { return {.loss = loss(), .tokens = tokens_per_step(), .measurements = {}}; }

namespace {

record::Result<std::unique_ptr<DemoRun>> make(const record::Params& params, const RunSetting& setting) {
  auto run = TrainStepRun::create(params, setting);
  if (!run) return run.error();
  return std::unique_ptr<DemoRun>(std::move(run).value());
}

}  // namespace

extern const DemoRunner kTrainStepRunner;
constinit const DemoRunner kTrainStepRunner = {.id = "train_step", .make = &make};

}  // namespace headroom::experiments
