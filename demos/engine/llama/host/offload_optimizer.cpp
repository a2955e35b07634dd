// The CPU's part of a step, on a worker thread.
#include "demos/engine/llama/host/offload_optimizer.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include <ATen/Parallel.h>

#include "demos/engine/llama/model/labels.h"
#include "kernels/gradient_check/gradient_check.h"
#include "kernels/gradient_check/gradient_check_ops.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Phase;
using record::Scope;

// Elements copied at once: 16 Mi 16-bit weights are 32 MiB, 0.6 ms on PCIe 5. Pieces let copies and updates of the
// embedding's 263·10⁶ weights overlap at the end of a step.
constexpr std::int64_t kPiece = std::int64_t{1} << 24;
// Elements per piece of a state file. Three pieces are in memory, at 12 bytes per weight.
constexpr std::int64_t kPieceInFile = std::int64_t{1} << 22;
at::ScalarType gradient_type(const Parameter& weight, const HostAdamWOptions& options) {
  return weight.name == options.fp32_gradient ? at::kFloat : weight.tensor.scalar_type();
}

std::int64_t most_to_widen(const std::vector<Parameter>& parameters, const HostAdamWOptions& options) {
  std::int64_t most = 0;
  for (const Parameter& parameter : parameters) {
    if (gradient_type(parameter, options) != options.state_type) most = std::max(most, parameter.tensor.numel());
  }
  return most;
}

}  // namespace

HostAdamW::HostAdamW(std::vector<Parameter> parameters, at::Device device, HostAdamWOptions options, HostArena& arena)
    : Optimizer(std::move(parameters)),
      device_(device),
      options_(std::move(options)),
      arena_(arena),
      adamw_(options_.adamw, options_.state_type, most_to_widen(this->parameters(), options_), arena),
      to_host_(device),
      to_device_(device),
      scale_{.scale = options_.loss_scale.defined() ? static_cast<float>(options_.first_loss_scale) : 1} {
  const at::AutoGradMode grad_mode(false);
  for (const Parameter& parameter : this->parameters()) make_state(parameter);
  if (options_.loss_scale.defined()) {
    const Scope scope(Category::kOptimizerState, number_of(Op::kOverflow));
    const auto groups = static_cast<std::int64_t>(states_.size());
    overflow_ = at::zeros({groups}, at::TensorOptions().device(device).dtype(at::kInt));
    overflow_here_ = arena.empty({groups}, at::kInt, HostPages::kLocked);
  }
  if (options_.in_file) make_file();
  handed_over_.resize(states_.size());
  if (device.is_meta()) return;
  step_threads_.emplace(at::get_num_threads());
  worker_ = std::thread([this] { work(); });
}

HostAdamW::~HostAdamW() {
  {
    const std::lock_guard lock(queue_.mutex);
    queue_.stop = true;
  }
  queue_.wakes.notify_all();
  if (worker_.joinable()) worker_.join();
  step_threads_.reset();
  to_host_.finish();  // copies end before their memory is freed
  to_device_.finish();
}

void HostAdamW::make_state(const Parameter& parameter) {
  const bool on_host = options_.layers_on_host && parameter.layer != record::kNoLayer;
  const at::Tensor weight = parameter.tensor.detach().view({-1});
  const auto block = [&](Category category, std::uint16_t op, at::ScalarType type, HostPages pages) {
    record::Tag tag = state_tag(parameter, op);
    tag.category = category;
    const Scope scope(tag);
    return arena_.empty({weight.numel()}, type, pages);
  };
  State state;
  if (on_host) {
    state.host.working = weight;
  } else {
    state.device = weight;
    state.host.working =
        block(Category::kWeights, number_of(Op::kHostWeights), weight.scalar_type(), HostPages::kLocked);
    if (!weight.is_meta()) state.host.working.copy_(weight);
  }
  const auto moment = [&](std::uint16_t op) {
    const at::Tensor zeros = block(Category::kOptimizerState, op, options_.state_type, HostPages::kPageable);
    return zeros.is_meta() ? zeros : zeros.zero_();
  };
  const bool has_master = weight.scalar_type() != options_.state_type;
  if (!has_master) state.host.master = state.host.working;
  if (!options_.in_file) {
    if (has_master) {
      state.host.master =
          block(Category::kOptimizerState, number_of(Op::kMaster), options_.state_type, HostPages::kPageable);
      if (!weight.is_meta()) fill_master(parameter, 0, state.host.working, state.host.master);
    }
    state.host.first_moment = moment(number_of(Op::kFirstMoment));
    state.host.second_moment = moment(number_of(Op::kSecondMoment));
  }
  state.host.gradient =
      block(Category::kGradients, number_of(Op::kHostGradient), gradient_type(parameter, options_), HostPages::kLocked);
  states_.push_back(std::move(state));
}

void HostAdamW::fill_master(const Parameter& parameter, std::int64_t first, const at::Tensor& working,
                            at::Tensor master) const {
  master.copy_(working);
  if (options_.adamw.stored) options_.adamw.stored(parameter, parameter.first() + first, master);
}

std::int64_t HostAdamW::piece_size() const { return options_.in_file ? kPieceInFile : kPiece; }

std::vector<HostAdamW::Piece> HostAdamW::pieces_of(std::size_t weight) const {
  std::vector<Piece> pieces;
  const std::int64_t size = states_[weight].host.gradient.numel();
  for (std::int64_t begin = 0; begin < size; begin += piece_size())
    pieces.push_back(
        {.weight = weight, .begin = begin, .size = std::min(piece_size(), size - begin), .gradient_here = {}});
  return pieces;
}

record::Bytes HostAdamW::bytes_of(const Piece& piece) const {
  const int parts = states_[piece.weight].host.master.defined() ? 2 : 3;
  return parts * piece.size * static_cast<record::Bytes>(c10::elementSize(options_.state_type));
}

record::Bytes HostAdamW::place_of(const Piece& piece) const {
  const Piece whole{.weight = piece.weight, .begin = 0, .size = piece_size(), .gradient_here = {}};
  return states_[piece.weight].in_file + piece.begin / piece_size() * StateFile::room(bytes_of(whole));
}

CpuAdamWState HostAdamW::read_state(const Piece& piece, const at::Tensor& memory) const {
  const CpuAdamWState& host = states_[piece.weight].host;
  const at::Tensor parts = memory.view(options_.state_type);
  const auto of_piece = [&](const at::Tensor& whole) { return whole.narrow(0, piece.begin, piece.size); };
  CpuAdamWState state{.master = {},
                      .first_moment = parts.narrow(0, 0, piece.size),
                      .second_moment = parts.narrow(0, piece.size, piece.size),
                      .gradient = of_piece(host.gradient),
                      .working = of_piece(host.working)};
  if (host.master.defined())
    state.master = state.working;
  else
    state.master = parts.narrow(0, 2 * piece.size, piece.size);
  return state;
}

void HostAdamW::make_file() {
  record::Bytes size = 0, largest = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].in_file = size;
    for (const Piece& piece : pieces_of(i)) {
      largest = std::max(largest, bytes_of(piece));
      size = place_of(piece) + StateFile::room(bytes_of(piece));
    }
  }
  if (device_.is_meta()) {
    file_ = std::make_unique<StateFile>(nullptr, largest, arena_);
    return;
  }
  record::Result<std::unique_ptr<DirectFile>> file = DirectFile::create(options_.file, size);
  if (!file) throw std::runtime_error(file.error().message);
  file_ = std::make_unique<StateFile>(std::move(file).value(), largest, arena_);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].host.master.defined()) continue;  // the file has only moments, which start as zeros
    for (const Piece& piece : pieces_of(i)) {
      file_->ahead(place_of(piece), bytes_of(piece));
      const CpuAdamWState state = read_state(piece, file_->take());
      fill_master(parameters()[i], piece.begin, state.working, state.master);
      file_->put_back();
    }
  }
  file_->finish();
}

void HostAdamW::after_layer(std::int64_t /*layer*/, Phase phase) {
  if (phase == Phase::kRecompute) let_gradients_go();  // before this layer's gradients are allocated
}

void HostAdamW::gradients_ready(std::int64_t layer) {
  begin_if_new();
  hand_over(group(layer));
}

void HostAdamW::update(std::span<const std::size_t> which) {
  begin_if_new();
  std::vector<std::size_t> rest;
  for (const std::size_t i : which) {
    if (!handed_over_[i] && parameters()[i].tensor.grad().defined()) rest.push_back(i);
  }
  if (!rest.empty()) hand_over(rest);
}

void HostAdamW::begin_if_new() {
  if (std::exchange(in_step_, true)) return;
  overflowing_ = 0;
  std::fill(handed_over_.begin(), handed_over_.end(), false);
  if (overflow_.defined()) overflow_.zero_();
}

void HostAdamW::hand_over(std::span<const std::size_t> which) {
  const at::AutoGradMode grad_mode(false);
  let_gradients_go();
  if (which.empty()) return;
  for (const std::size_t i : which) leaving_.push_back(parameters()[i].tensor.grad().view({-1}));
  const at::Tensor overflow = look_at(leaving_, which.front());
  to_host_.wait_for_device();
  Job job;
  if (overflow.defined()) {
    job.overflow = overflow_here_.narrow(0, static_cast<std::int64_t>(which.front()), 1);
    to_host_.copy(job.overflow, overflow);
  }
  for (std::size_t k = 0; k < which.size(); ++k) {
    for (Piece& piece : pieces_of(which[k])) {
      to_host_.copy(states_[which[k]].host.gradient.narrow(0, piece.begin, piece.size),
                    leaving_[k].narrow(0, piece.begin, piece.size));
      piece.gradient_here = to_host_.done();
      job.pieces.push_back(std::move(piece));
    }
    handed_over_[which[k]] = true;
  }
  left_ = to_host_.done();
  drop_gradients(which);
  if (device_.is_meta()) return;
  const std::lock_guard lock(queue_.mutex);
  queue_.jobs.push_back(std::move(job));
  queue_.wakes.notify_all();
}

// Checked on the device, because an H200's memory is thirty times as fast as its host's, which the optimizer needs.
at::Tensor HostAdamW::look_at(std::span<const at::Tensor> gradients, std::size_t number) {
  if (!overflow_.defined()) return {};
  const Scope scope(number_of(Op::kOverflow));
  const at::Tensor flag = overflow_.narrow(0, static_cast<std::int64_t>(number), 1);
  kernels::check_finite_(gradients, flag);
  if (sum_over_shards()) sum_over_shards()(flag);
  return flag;
}

void HostAdamW::let_gradients_go() {
  if (leaving_.empty()) return;
  left_.device_waits();  // later users of this memory wait for the copy
  leaving_.clear();
}

void HostAdamW::end_step() {
  let_gradients_go();
  in_step_ = false;
  if (device_.is_meta()) return;
  std::unique_lock lock(queue_.mutex);
  queue_.finished.wait(lock, [this] { return queue_.trouble || (queue_.jobs.empty() && !queue_.busy); });
  if (queue_.trouble) std::rethrow_exception(queue_.trouble);
  step_threads_->wait();
  to_device_.done().device_waits();
  if (file_) file_->finish();
  overflowed_ = overflowing_;
  if (!options_.loss_scale.defined()) return;
  scale_.last = scale_.scale;
  std::int32_t overflow = overflowed_ > 0 ? 1 : 0;
  kernels::update_loss_scale({.scale = &scale_.scale,
                              .inverse_scale = &scale_.inverse,
                              .good_steps = &scale_.good_steps,
                              .overflow = &overflow,
                              .skipped = &scale_.skipped},
                             {.growth_interval = options_.scale_window});
  options_.loss_scale.fill_(scale_.scale);
}

std::vector<StateTensor> HostAdamW::state() {
  TORCH_CHECK(!options_.in_file, "states kept in a file are not returned");
  std::vector<StateTensor> all;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    const std::string& name = parameters()[i].name;
    all.push_back({name + ".steps", at::from_blob(&state.steps, {1}, at::kLong)});
    const std::optional<Part> part = in_blocks(parameters()[i].part, 1);
    if (!state.host.master.is_same(state.host.working)) append(all, name + ".master", state.host.master, part);
    append(all, name + ".first_moment", state.host.first_moment, part);
    append(all, name + ".second_moment", state.host.second_moment, part);
  }
  if (!options_.loss_scale.defined()) return all;
  all.push_back({"loss_scale", at::from_blob(&scale_.scale, {1}, at::kFloat)});
  all.push_back({"loss_scale.inverse", at::from_blob(&scale_.inverse, {1}, at::kFloat)});
  all.push_back({"loss_scale.last", at::from_blob(&scale_.last, {1}, at::kFloat)});
  all.push_back({"loss_scale.good_steps", at::from_blob(&scale_.good_steps, {1}, at::kInt)});
  all.push_back({"loss_scale.skipped_steps", at::from_blob(&scale_.skipped, {1}, at::kLong)});
  return all;
}

void HostAdamW::restored() {
  const at::AutoGradMode grad_mode(false);
  for (const State& state : states_)
    if (state.device.defined()) state.host.working.copy_(state.device);
  if (options_.loss_scale.defined()) options_.loss_scale.fill_(scale_.scale);
}

void HostAdamW::work() {
  const at::AutoGradMode grad_mode(false);
  std::unique_lock lock(queue_.mutex);
  while (true) {
    queue_.wakes.wait(lock, [this] { return queue_.stop || !queue_.jobs.empty(); });
    if (queue_.stop) return;
    const Job job = std::move(queue_.jobs.front());
    queue_.jobs.pop_front();
    if (queue_.trouble) continue;  // the step will fail, so later jobs are ignored
    queue_.busy = true;
    lock.unlock();
    std::exception_ptr trouble;
    try {
      run(job);
    } catch (...) {
      trouble = std::current_exception();
    }
    lock.lock();
    queue_.busy = false;
    if (trouble) {
      queue_.trouble = trouble;
      queue_.jobs.clear();
    }
    queue_.finished.notify_all();
  }
}

void HostAdamW::run(const Job& job) {
  const auto ahead = [&](std::size_t k) {
    if (file_ && k < job.pieces.size()) file_->ahead(place_of(job.pieces[k]), bytes_of(job.pieces[k]));
  };
  job.pieces.front().gradient_here.host_waits();
  if (job.overflow.defined() && *job.overflow.const_data_ptr<std::int32_t>() != 0) {
    ++overflowing_;
    return;
  }
  ahead(0);
  for (std::size_t k = 0; k < job.pieces.size(); ++k) {
    ahead(k + 1);
    job.pieces[k].gradient_here.host_waits();
    step_piece(job.pieces[k]);
    if (!file_) continue;
    step_threads_->wait();  // limits the pieces in memory
    file_->put_back();
  }
}

void HostAdamW::step_piece(const Piece& piece) {
  State& state = states_[piece.weight];
  if (piece.begin == 0) ++state.steps;
  const CpuAdamWStep how{.t = state.steps, .loss_scale = scale_.scale, .decays = decays(piece.weight)};
  const auto goes_back = [this, &state, begin = piece.begin, size = piece.size] {
    if (!state.device.defined()) return;
    to_device_.copy(state.device.narrow(0, begin, size), state.host.working.narrow(0, begin, size));
  };
  if (file_)
    adamw_.step(read_state(piece, file_->take()), 0, piece.size, how, *step_threads_, goes_back);
  else
    adamw_.step(state.host, piece.begin, piece.size, how, *step_threads_, goes_back);
}

}  // namespace headroom::llama
