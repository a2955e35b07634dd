// Optimizers, which update all weights at once, or groups of them in backward. AdamW keeps two moments per weight and
// optional fp32 masters of 16-bit weights.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/host_arena.h"
#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/model/weights/state_tensor.h"
#include "demos/engine/llama/step/loss_scaling.h"
#include "kernels/adamw/adamw_ops.h"

namespace headroom::llama {

// The group of weights outside the layers 0 … L − 1: embedding, final norm, head.
inline constexpr std::int64_t kOuterLayer = -1;

// Fills `into`, fp32 [n], with the checkpoint's values from `first` on, if the file has more digits than the weight.
using StoredValues = std::function<void(const Parameter& weight, std::int64_t first, const at::Tensor& into)>;

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;  // Llama 3's; with 0.999 a bf16 second moment, whose steps are 0.4 %, would not change
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices only
  bool fused = true;          // one kernel for all weights; else PyTorch's operators per weight
  double clip = 0;            // limit of the gradients' global norm; 0: none
  // Mixed precision: fp32 copies of 16-bit weights, part of the state, are stepped and rounded into the weights. They
  // start from the weights, or from a checkpoint with more digits.
  bool masters = false;
  StoredValues stored = {};               // empty: random weights
  std::optional<at::ScalarType> moments;  // fp32 or bf16; none: fp32 with masters, else the weights' type
  HostArena* paged = nullptr;             // not owned; holds the moments in managed memory; null: on the device
  // Fused kernels only:
  bool stochastic_rounding = false;  // of bf16 weights without masters
  std::uint64_t seed = 0;
  LossScale* loss_scale = nullptr;  // of the gradients; null: 1; not owned
  bool count_on_device = false;     // t is on the device, as replayed steps need; always so with a loss scale
};

// A step calls begin_step(), then update() until each weight was passed once, in any order and portions, then
// end_step().
class Optimizer {
 public:
  explicit Optimizer(std::vector<Parameter> parameters);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  virtual void begin_step() {}
  // Reads `.grad` and updates weights and states in place. `which`: indices into parameters().
  virtual void update(std::span<const std::size_t> which) = 0;
  virtual void end_step() {}
  // Call between steps.
  virtual void set_learning_rate(double rate) = 0;
  // Masters, moments and counts, named by weight. Call between steps.
  virtual std::vector<StateTensor> state() = 0;
  // Call after writing weights or state().
  virtual void restored() {}

  // Steps all weights that still have a gradient. `outer_ready` completes the gradients of kOuterLayer; it is called as
  // late as possible, so that it can wait for something that runs beside the update of the layers.
  void step(const std::function<void()>& outer_ready = {});
  std::span<const std::size_t> group(std::int64_t layer) const;
  const std::vector<Parameter>& parameters() const { return parameters_; }

  // `sum` adds up a tensor in place over the ranks that share the weights. Call it if this process updates a part only.
  void shares_weights(std::function<void(const at::Tensor&)> sum) { sum_over_shards_ = std::move(sum); }

  void drop_gradients(std::span<const std::size_t> which);
  void drop_gradients();

 protected:
  // True if each update reads all gradients of the step.
  virtual bool needs_all_gradients() const { return false; }
  // Norms and biases do not decay.
  bool decays(std::size_t i) const { return parameters_[i].is_matrix(); }
  // Empty if this process updates all weights.
  const std::function<void(const at::Tensor&)>& sum_over_shards() const { return sum_over_shards_; }

 private:
  std::vector<std::size_t> with_gradient(std::span<const std::size_t> which) const;

  std::vector<Parameter> parameters_;
  std::vector<std::size_t> all_;
  std::map<std::int64_t, std::vector<std::size_t>> groups_;
  std::function<void(const at::Tensor&)> sum_over_shards_;
};

record::Tag state_tag(const Parameter& parameter, std::uint16_t op);

// Observes each weight before and after its step, and its moments. `control` has what only the device knows: t, and
// whether the step was skipped.
class UpdateObserver {
 public:
  virtual ~UpdateObserver() = default;
  virtual void updated(const at::Tensor& before, const at::Tensor& after, const at::Tensor& first_moment,
                       const at::Tensor& second_moment, const kernels::AdamWStep& step,
                       const kernels::AdamWControl& control, bool decays) = 0;
};

class AdamWFamily : public Optimizer {
 public:
  // Only a step's first call has an effect.
  void begin_step() override;
  void end_step() override;
  void set_learning_rate(double rate) override { options_.learning_rate = rate; }
  std::vector<StateTensor> state() override;

 protected:
  // Allocates the masters.
  AdamWFamily(std::vector<Parameter> parameters, const AdamWOptions& options);

  bool needs_all_gradients() const override { return options_.clip > 0 || options_.loss_scale != nullptr; }
  const AdamWOptions& options() const { return options_; }
  const kernels::AdamWStep& step_constants() const { return step_; }
  bool has_master(std::size_t i) const { return masters_[i].defined(); }
  // The master if there is one, else the weight.
  const at::Tensor& stepped(std::size_t i) const { return has_master(i) ? masters_[i] : parameters()[i].tensor; }
  // The weight, if it is a master's rounded copy; else undefined.
  at::Tensor working(std::size_t i) const { return has_master(i) ? parameters()[i].tensor : at::Tensor(); }
  at::ScalarType moment_type(std::size_t i) const;
  at::Tensor zeros(const Parameter& parameter, std::uint16_t op, at::IntArrayRef shape, at::ScalarType type) const;

  struct Moments {
    at::Tensor first, second;
  };
  // Allocates the next weight's moments.
  void add_moments(at::IntArrayRef shape, at::ScalarType type);
  Moments& moments(std::size_t i) { return moments_[i]; }
  const Moments& moments(std::size_t i) const { return moments_[i]; }
  void fused_update(std::span<const std::size_t> which, const kernels::AdamWControl& control) const;
  // Checks these gradients for overflow, before their use. The first call of a step counts the step, unless it finds an
  // overflow. With the optimizer in backward, a later call that finds one cannot undo the count.
  kernels::AdamWControl control_for(std::span<const std::size_t> which);
  // fp32 [] factor for all of the step's gradients: removes the loss scale, and limits their norm to
  // AdamWOptions::clip.
  const at::Tensor& clip_factor(std::span<const std::size_t> which);

 private:
  std::vector<at::Tensor> gradients_of(std::span<const std::size_t> which) const;

  AdamWOptions options_;
  std::vector<at::Tensor> masters_;  // undefined: none
  std::vector<Moments> moments_;     // empty: the derived class keeps its own
  at::Tensor step_count_;            // int64 [1]; undefined: the host counts
  at::Tensor clip_sums_, clip_;      // fp64 [n], fp32 []; undefined: no clipping
  std::int64_t steps_ = 0;
  bool in_step_ = false, counted_ = false;
  kernels::AdamWStep step_{};
};

class AdamW final : public AdamWFamily {
 public:
  // Allocates the moments.
  AdamW(std::vector<Parameter> parameters, const AdamWOptions& options);

  // If fused, allocates nothing; otherwise one weight's fp32 gradient and denominator at a time.
  void update(std::span<const std::size_t> which) override;

  const at::Tensor& first_moment(std::size_t i) const { return moments(i).first; }
  const at::Tensor& second_moment(std::size_t i) const { return moments(i).second; }
  // Receives a copy of each weight before its update; weights are then updated one by one. Null: off. Not owned.
  void observe(UpdateObserver* observer) { observer_ = observer; }

 private:
  void eager_update(std::size_t i, const at::Tensor& clip);
  void observed_update(std::size_t i, const kernels::AdamWControl& control);

  UpdateObserver* observer_ = nullptr;
};

}  // namespace headroom::llama
