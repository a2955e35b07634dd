// Builds model, optimizer and data from parameters, and runs the steps.
#include "demos/engine/experiments/train_step_run.h"

#include <cmath>
#include <functional>

#include <ATen/ATen.h>

#include "demos/engine/experiments/run_ranks.h"
#include "demos/engine/experiments/train_step_evaluation.h"
#include "demos/engine/experiments/train_step_optimizer.h"
#include "demos/engine/experiments/train_step_save.h"
#include "demos/engine/llama/host/offload.h"
#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/meta_kernels.h"
#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/product_choice.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/info/train_step_model.h"
#include "kernels/narrow_product/narrow_product_ops.h"

namespace headroom::experiments {

namespace {

at::ScalarType type_of(predict::Precision precision) {
  if (precision == predict::Precision::kFp32) return at::kFloat;
  return predict::has_loss_scale(precision) ? at::kHalf : at::kBFloat16;
}

llama::LossOptions loss_of(const predict::StepSettings& step) {
  return {.path = step.loss.path,
          .mode = step.loss.mode,
          .chunk = step.loss.chunk,
          .fp32_weight_gradient = step.loss.fp32_weight_gradient};
}

llama::OffloadOptions offload_of(const predict::StepSettings& step) {
  return {.parameters = step.offload.parameters,
          .optimizer = step.offload.state != predict::StateOffload::kOff,
          .checkpoints = step.offload.checkpoints};
}

llama::ModelPlace placement_of(const predict::StepSettings& step, const RunPlace& place) {
  return {.device = place.device, .target = place.target, .type = type_of(step.precision)};
}

// A plan reads no data.
record::Result<tokens::TokenData> read_data(const predict::StepSettings& step, const RunSetting& setting) {
  if (setting.place.device.is_meta()) return tokens::TokenData();
  return tokens::TokenData::read(data_source(step, setting.course_text), setting.cancel);
}

// Returns a counter of bytes allocated from now on if the device is the CPU; otherwise returns an empty function.
std::function<record::Bytes()> taken_of_host(const RunSetting& setting) {
  if (!setting.place.device.is_cpu() || setting.memory == nullptr) return {};
  return [memory = setting.memory, before = setting.memory->allocated()] { return memory->allocated() - before; };
}

// A flag that our loss kernels set for an invalid target; undefined for PyTorch's operators.
at::Tensor make_error_flag(const llama::TrainOptions& options, const llama::FusedKernels& fused, at::Device device) {
  if (!llama::by_own_kernel(options.loss, fused)) return {};
  const record::Scope scope(record::Category::kOther, llama::number_of(llama::Op::kNll));
  return at::zeros({1}, at::TensorOptions().device(device).dtype(at::kLong));
}

// One flag per layer for non-finite numbers, set only by our kernels.
at::Tensor make_not_finite(const predict::StepSettings& step, const llama::Config& config, at::Device device) {
  if (!step.fused_adamw) return {};
  const record::Scope scope(record::Category::kOther, llama::number_of(llama::Op::kFiniteCheck));
  return at::zeros({config.num_layers}, at::TensorOptions().device(device).dtype(at::kInt));
}

// Waits for the device. `updated`: an earlier step updated the weights. Checkpoints were checked when read.
std::string where_not_finite(const at::Tensor& layers, int step, bool updated, at::ScalarType type) {
  const std::string when = "The loss is not a number from step " + std::to_string(step) + " on",
                    cure = updated             ? "a lower learning_rate may help."
                           : type == at::kHalf ? "no weight has been updated yet, so use precision=bf16_mixed, which "
                                                 "has a wider range."
                                               : "no weight has been updated yet, so use other weights or settings.";
  if (!layers.defined()) return when + ": " + cure;
  const at::Tensor flags = layers.cpu();
  for (std::int64_t i = 0; i < flags.numel(); ++i) {
    if (flags[i].item<int>() == 0) continue;
    return when + ": an infinity or a NaN first appeared in the output of layer " + std::to_string(i) + "; " + cure;
  }
  return when + ": all layers are finite; the infinity or NaN first appeared in the final norm or the loss; " + cure;
}

// Waits for the device.
std::string where_not_scaled(const llama::Fp8Scales& scales, int step) {
  const std::int64_t count = scales.not_scaled();
  if (count == 0) return {};
  return "In step " + std::to_string(step) + " the largest magnitude of " + std::to_string(count) +
         " tensors was infinite, NaN or close to 0, so their fp8 scales were not changed.";
}

void take_blas_workspace(const llama::ModelPlace& placement, llama::StepGraph* graph) {
  if (graph == nullptr || !placement.device.is_cuda()) return llama::take_blas_workspace(placement);
  graph->on_stream([&] { llama::take_blas_workspace(placement); });
}

// Returns null for one rank. Throws llama::CollectiveError.
record::Result<std::unique_ptr<llama::StepRanks>> connect(const predict::ParallelSettings& parallel,
                                                          const RunSetting& setting) {
  if (const record::Status possible = predict::check(parallel); !possible) return possible.error();
  const record::Result<RunRanks> ranks = run_ranks(parallel.ranks, setting, parallel.blocks);
  if (!ranks) return ranks.error();
  if (parallel.ranks == 1) return std::unique_ptr<llama::StepRanks>();
  auto connected = std::make_unique<llama::StepRanks>(parallel, ranks.value().rank, ranks.value().make);
  if (setting.doing) setting.doing("building the model");
  return connected;
}

llama::BatchPart part_of(const predict::StepSettings& step, const RunSetting& setting) {
  return {
      .rank = setting.rank ? setting.rank->rank : 0, .ranks = step.parallel.ranks, .micro_batches = step.micro_batches};
}

}  // namespace

struct TrainStepRun::State {
  std::unique_ptr<llama::NumbersOnCpu> numbers;  // null unless planning for the CPU
  tokens::TokenData data;
  Evaluation evaluation;              // refers to `data`
  std::int64_t samples = 0, seq = 0;  // samples: per step, over all micro-batches
  std::uint64_t seed = 0;
  int steps = 0;
  llama::BatchPart part;
  std::unique_ptr<llama::StepRanks> ranks;  // null: one; model, optimizer and steps refer to it
  std::unique_ptr<llama::Offload> offload;  // the same
  std::unique_ptr<llama::StepGraph> graph;
  llama::TrainOptions options;
  llama::Model model;
  std::unique_ptr<StepOptimizer> optimizer;
  int last_step = 0;
  at::Tensor tokens_2BT;  // tokens of the last step, on the host; the labels are checked after the step
  at::Tensor loss;
  at::Tensor output;              // of the last forward pass, if kept
  std::string trouble;            // first non-finite or unscaled number, in words
  std::int64_t steps_before = 0;  // steps taken before this run resumed
  std::string resumed, saved;
  std::unique_ptr<StepSaver> saver;  // null: nothing to save, or already saved

  explicit State(const predict::StepSettings& step)
      : samples(step.batch * step.micro_batches), seq(step.sequence), seed(step.seed), steps(step.steps) {}
  record::Status read_text(const predict::StepSettings& step, const RunSetting& setting);
  void set_up(const predict::StepSettings& step, const RunSetting& setting);
  // Throws UnusableWeights and Cancelled.
  void build(const TrainStepRequest& request, const RunSetting& setting);
  // Restores the state from the folder `resume`, and reserves space in the folder `save`.
  // Throws CollectiveError.
  record::Status keep(const predict::StepSettings& step, const RunSetting& setting);
};

record::Status TrainStepRun::State::read_text(const predict::StepSettings& step, const RunSetting& setting) {
  record::Result<tokens::TokenData> text = read_data(step, setting);
  if (!text) return text.error();
  data = std::move(text).value();
  record::Result<Evaluation> held_out = Evaluation::create(step, data.view(), setting.place, part);
  if (!held_out) return held_out.error();
  evaluation = std::move(held_out).value();
  return record::Ok{};
}

void TrainStepRun::State::set_up(const predict::StepSettings& step, const RunSetting& setting) {
  const RunPlace& place = setting.place;
  if (place.device.is_meta()) llama::install_meta_kernels();
  if (place.device.is_meta() && place.target == record::DeviceKind::kCpu)
    numbers = std::make_unique<llama::NumbersOnCpu>();
  if (step.cuda_graph) graph = std::make_unique<llama::StepGraph>(place.device);
  options = {.recompute_every = step.recompute_every(),
             .selective = step.rebuilds_cheap(),
             .loss = loss_of(step),
             .micro_batches = step.micro_batches,
             .cancel = setting.cancel};
  options.graph = graph.get();
  if (step.loss.keep_output) options.loss.output = &output;
  record::mark(record::Phase::kSetup);
  take_blas_workspace(placement_of(step, place), graph.get());
  options.loss.error_flag = make_error_flag(options, step.fused, place.device);
  options.not_finite = make_not_finite(step, step.model, place.device);
  offload =
      std::make_unique<llama::Offload>(offload_of(step), place.device, setting.host_memory, taken_of_host(setting));
}

void TrainStepRun::State::build(const TrainStepRequest& request, const RunSetting& setting) {
  const predict::StepSettings& step = request.settings();
  const llama::StoredWeights* const weights = request.weights() ? &*request.weights() : nullptr;
  const llama::StoredWeights* const read = setting.place.device.is_meta() ? nullptr : weights;
  std::function<void(llama::LayerWeights&)> takes_layers;
  if (ranks) takes_layers = ranks->layer_made(step.model, options);
  model = llama::make_model(step.model, step.fused, placement_of(step, setting.place), step.sequence, step.seed,
                            setting.cancel,
                            {.files = weights,
                             .adapters = step.adapters,
                             .layer_made = takes_layers ? takes_layers : offload->layer_made(step.model, options)});
  model.tf32 = step.tf32();
  if (step.fp8())
    model.fp8 =
        std::make_shared<llama::Fp8Scales>(step.model.num_layers * static_cast<std::int64_t>(llama::kProjectionKinds),
                                           step.fp8_scaling, setting.place.device);
  offload->install(model, step.batch, step.sequence, options);
  optimizer = std::make_unique<StepOptimizer>(step, model, *offload, options, read, ranks.get());
}

record::Status TrainStepRun::State::keep(const predict::StepSettings& step, const RunSetting& setting) {
  if (setting.place.device.is_meta()) return record::Ok{};
  const BuiltStep built{.settings = step,
                        .model = model,
                        .optimizer = *optimizer,
                        .ranks = ranks.get(),
                        .run = ranks ? setting.rank->run : "",
                        .ids = static_cast<std::int64_t>(evaluation.training().size())};
  if (!step.files.resume.empty()) {
    try {
      const record::Result<std::int64_t> before = resume(built);
      if (!before) return before.error();
      steps_before = before.value();
      resumed = step.files.resume;
    } catch (const llama::UnusableWeights& changed) {
      return record::Error{changed.what()};
    }
  }
  if (step.files.save.empty()) return record::Ok{};
  auto created = StepSaver::create(built);
  if (!created) return created.error();
  saver = std::move(created).value();
  saved = step.files.save;
  return record::Ok{};
}

TrainStepRun::TrainStepRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
TrainStepRun::~TrainStepRun() = default;

record::Result<std::unique_ptr<TrainStepRun>> TrainStepRun::create(const record::Params& params,
                                                                   const RunSetting& setting) {
  if (auto refused = refused_combination(params, setting.place.target))
    return record::Error{*refused, record::ErrorKind::kRefused};
  const auto request = TrainStepRequest::read(params);
  return request ? create(*request.value(), setting) : request.error();
}

record::Result<std::unique_ptr<TrainStepRun>> TrainStepRun::create(const TrainStepRequest& request,
                                                                   const RunSetting& setting) {
  const predict::StepSettings& step = request.settings();
  auto state = std::make_unique<State>(step);
  state->part = part_of(step, setting);
  if (const record::Status read = state->read_text(step, setting); !read) return read.error();
  try {
    auto connected = connect(step.parallel, setting);
    if (!connected) return connected.error();
    state->ranks = std::move(connected).value();
    state->set_up(step, setting);
    if (request.weights() && !setting.place.device.is_meta())
      if (const auto tied = llama::check_tied_head(*request.weights(), step.model); !tied) return tied.error();
    state->build(request, setting);
    if (const record::Status kept = state->keep(step, setting); !kept) return kept.error();
  } catch (const llama::Cancelled&) {
    return record::Error{"Cancelled while the model was built.", record::ErrorKind::kRefused};
  } catch (const llama::UnusableWeights& changed) {
    return record::Error{changed.what(), record::ErrorKind::kBadInput};
  } catch (const llama::CollectiveError& error) {
    return record::Error{error.what()};
  }
  return std::unique_ptr<TrainStepRun>(new TrainStepRun(std::move(state)));
}

StepResult TrainStepRun::step(int index) {
  State& s = *state_;
  s.last_step = index;
  s.loss = s.tokens_2BT = at::Tensor();  // frees the previous step's tensors
  s.tokens_2BT = llama::make_batch(s.evaluation.training(), s.samples, s.seq, s.seed, s.steps_before + index, s.part);
  // A CPU's batch is allocated before the step begins, also in a plan.
  const bool on_cpu = s.model.target == record::DeviceKind::kCpu;
  if (on_cpu) s.tokens_2BT = llama::upload(s.tokens_2BT, s.model.embed_tokens_VH.device());
  s.optimizer->begin_step(s.steps_before + index, s.steps_before + s.steps);
  try {
    std::function<void(const at::Tensor&)> behind;
    if (s.evaluation.follows(index))
      behind = [&s](const at::Tensor& loss) { s.evaluation.run(s.model, s.options, loss); };
    s.loss = llama::train_step(s.model, s.optimizer->optimizer(), s.tokens_2BT, s.options, index, behind);
  } catch (const llama::Cancelled&) {
    return StepResult::kCancelled;
  }
  if (on_cpu) s.tokens_2BT = at::Tensor();  // the CPU has checked the labels
  return StepResult::kDone;
}

int TrainStepRun::steps() const { return state_->steps; }

int TrainStepRun::distinct_steps() const {
  return state_->graph ? llama::StepGraph::kWarmUp + 1 : DemoRun::distinct_steps();
}

std::int64_t TrainStepRun::tokens_per_step() const { return state_->samples * state_->seq * state_->part.ranks; }

std::int64_t TrainStepRun::num_parameters() const { return llama::num_parameters(state_->model.config); }

int TrainStepRun::marks_per_step() const {
  const State& s = *state_;
  return llama::marks_per_step(s.model.config, s.options) + s.evaluation.marks(s.model.config, s.options);
}

double TrainStepRun::loss() const {
  const State& s = *state_;
  if (!s.tokens_2BT.defined()) return s.loss.item<double>();
  return llama::read_loss(s.loss, s.options.loss.error_flag, s.tokens_2BT.select(0, 1), s.model.config.vocab_size);
}

std::string TrainStepRun::note() const {
  const State& s = *state_;
  if (!s.trouble.empty()) return s.trouble;
  if (!s.graph || s.graph->pool_bytes() == 0) return s.offload->trouble();
  return "Step " + std::to_string(llama::StepGraph::kWarmUp) +
         " was recorded as a CUDA graph, and later steps replay it: " +
         "they allocate the same tensors again, from a pool of " + record::format_bytes(s.graph->pool_bytes()) + ".";
}

record::Status TrainStepRun::finish() {
  State& s = *state_;
  if (s.ranks) s.ranks->finish();
  if (!s.saver) return record::Ok{};
  const record::Status written = s.saver->write(s.steps_before + s.last_step + 1);
  s.saver.reset();
  if (!written) s.saved.clear();
  return written;
}

std::map<std::string, std::string> TrainStepRun::found() const {
  std::map<std::string, std::string> all;
  if (const std::string held_out = state_->evaluation.held_out(); !held_out.empty()) all["held_out"] = held_out;
  if (!state_->saved.empty()) all["saved"] = state_->saved;
  if (!state_->resumed.empty())
    all["resumed"] = "after " + std::to_string(state_->steps_before) + " steps of " + state_->resumed;
  const std::string failure = kernels::product_failure();
  if (state_->model.embed_tokens_VH.is_cuda() && !failure.empty())
    all["products_trouble"] = failure + ": LibTorch computed this GEMM and the others of its shape.";
  return all;
}

StepReport TrainStepRun::report() {
  StepReport report{.loss = loss(), .tokens = tokens_per_step()};
  if (!std::isfinite(*report.loss) && state_->trouble.empty()) {
    const bool updated = state_->steps_before + state_->last_step > 0;
    state_->trouble = where_not_finite(state_->options.not_finite, state_->last_step, updated,
                                       state_->model.embed_tokens_VH.scalar_type());
  }
  if (state_->model.fp8 && state_->trouble.empty())
    state_->trouble = where_not_scaled(*state_->model.fp8, state_->last_step);
  state_->optimizer->add_to(report, state_->last_step);
  state_->evaluation.add_to(report);
  return report;
}

record::Result<std::unique_ptr<TrainStepRequest>> TrainStepRequest::read(const record::Params& params) {
  predict::StepSettings step = predict::step_settings(params);
  record::Result<TrainStepModel> model = train_step_model(step);
  if (!model) return model.error();
  step.model = model.value().config;
  return std::unique_ptr<TrainStepRequest>(
      new TrainStepRequest(std::move(step), std::move(std::move(model).value().weights)));
}

std::map<std::string, std::string> TrainStepRequest::facts(const RunSetting& setting) const {
  std::map<std::string, std::string> all;
  if (!settings_.files.weights.empty()) all = predict::shape_facts(settings_.model);
  if (!setting.place.device.is_meta()) all.merge(llama::data_facts(data_source(settings_, setting.course_text)));
  if (const std::string how = predict::gemm_fact(settings_, setting.place.target); !how.empty()) all["gemm"] = how;
  return all;
}

record::Result<std::map<std::string, std::string>> TrainStepRequest::prepare(const RunSetting& setting) {
  auto products = llama::choose_products(settings_, setting.course_text.parent_path() / "products", setting.cancel);
  if (!products) return products.error();
  return std::map<std::string, std::string>{{"products", std::move(products).value()}};
}

record::Result<std::unique_ptr<DemoRun>> TrainStepRequest::make(const RunSetting& setting) {
  auto run = TrainStepRun::create(*this, setting);
  if (!run) return run.error();
  return std::unique_ptr<DemoRun>(std::move(run).value());
}

namespace {

record::Result<std::unique_ptr<DemoRequest>> read_train_step(const record::Params& params) {
  auto request = TrainStepRequest::read(params);
  if (!request) return request.error();
  return std::unique_ptr<DemoRequest>(std::move(request).value());
}

}  // namespace

extern const DemoRunner kTrainStepRunner;
constinit const DemoRunner kTrainStepRunner = {.id = "train_step", .read = &read_train_step};

}  // namespace headroom::experiments
