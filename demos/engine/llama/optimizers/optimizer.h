// Optimizers: what a step does with the gradients, for all weights at once or for some of them as backward hands them
// over. AdamW is the plain one: two moments a weight, and fp32 masters beside 16-bit weights where they are wanted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/model/state_tensor.h"
#include "demos/engine/llama/step/loss_scaling.h"
#include "kernels/adamw/adamw_ops.h"

namespace headroom::llama {

// Embedding, final norm and head: what belongs to no layer. As a group of weights, beside the layers 0 … L − 1.
inline constexpr std::int64_t kOuterLayer = -1;

// Fills `into`, fp32 [n], with the weight's elements from `first` on, as a checkpoint stores them; does nothing where its file
// has no more of them than the weight itself.
using StoredValues = std::function<void(const Parameter& weight, std::int64_t first, const at::Tensor& into)>;

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;  // Llama 3's; 0.999 would not move a bf16 second moment, whose steps are 0.4 %
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices; norms do not decay
  bool fused = true;          // one kernel over all weights; else PyTorch's operators, weight by weight
  double clip = 0;            // most that the global norm of all gradients is; 0: any
  // Mixed precision: fp32 copies of the 16-bit weights belong to the state and are what is stepped; the weights become
  // their rounding. They begin as the weights are, widened, or where a checkpoint has more digits as it has them.
  bool masters = false;
  StoredValues stored = {};               // empty: weights were drawn
  std::optional<at::ScalarType> moments;  // fp32 or bf16; none: as the weights, beside masters fp32
  // What follows is of the fused kernels.
  bool stochastic_rounding = false;  // of bf16 weights without masters
  std::uint64_t seed = 0;            // of its random bits
  LossScale* loss_scale = nullptr;   // what the gradients' loss was multiplied by; null: 1. Not owned.
  bool count_on_device = false;      // t is on the device, for a step that is replayed; with a loss scale always
};

// A step is begin_step(), update() of every weight once, in whatever order and portions, end_step().
class Optimizer {
 public:
  explicit Optimizer(std::vector<Parameter> parameters);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  virtual void begin_step() {}
  // Reads these weights' `.grad` and updates weights and states in place. Indices into parameters().
  virtual void update(std::span<const std::size_t> which) = 0;
  virtual void end_step() {}
  // Of the steps that begin from here on. Between steps.
  virtual void set_learning_rate(double rate) = 0;
  // Masters, moments and counts, each weight's by its name. Between steps.
  virtual std::vector<StateTensor> state() = 0;
  // After weights or state() were written, to go on from others.
  virtual void restored() {}

  // A whole step over all weights that have a gradient: those that backward has updated already have none.
  void step();
  // The weights of a layer, or of kOuterLayer.
  std::span<const std::size_t> group(std::int64_t layer) const;
  const std::vector<Parameter>& parameters() const { return parameters_; }

  // Frees `.grad` of these weights; of all.
  void drop_gradients(std::span<const std::size_t> which);
  void drop_gradients();

 protected:
  static bool decays(const at::Tensor& weight) { return weight.dim() > 1; }

 private:
  std::vector<Parameter> parameters_;
  std::vector<std::size_t> all_;
  std::map<std::int64_t, std::vector<std::size_t>> groups_;
};

// The tag of a parameter's optimizer state.
record::Tag state_tag(const Parameter& parameter, std::uint16_t op);

// Sees each weight's step: the weight before it, and the moments it was stepped with. `control` has what only the device
// knows: t, and whether the step was skipped.
class UpdateObserver {
 public:
  virtual ~UpdateObserver() = default;
  virtual void updated(const at::Tensor& before, const at::Tensor& after, const at::Tensor& first_moment,
                       const at::Tensor& second_moment, const kernels::AdamWStep& step,
                       const kernels::AdamWControl& control, bool decays) = 0;
};

// What AdamW's relatives share: masters, t, and what the device must know about a step.
class AdamWFamily : public Optimizer {
 public:
  // Once per step; further calls do nothing, so that any caller may be the first.
  void begin_step() override;
  // With a loss scale this moves it.
  void end_step() override;
  void set_learning_rate(double rate) override { options_.learning_rate = rate; }
  std::vector<StateTensor> state() override;

 protected:
  // Takes the masters' memory.
  AdamWFamily(std::vector<Parameter> parameters, const AdamWOptions& options);

  const AdamWOptions& options() const { return options_; }
  const kernels::AdamWStep& step_constants() const { return step_; }
  bool has_master(std::size_t i) const { return masters_[i].defined(); }
  // What is stepped: the master where there is one.
  const at::Tensor& stepped(std::size_t i) const { return has_master(i) ? masters_[i] : parameters()[i].tensor; }
  // The copy that the model reads; undefined where the weight itself is stepped.
  at::Tensor working(std::size_t i) const { return has_master(i) ? parameters()[i].tensor : at::Tensor(); }
  at::ScalarType moment_type(std::size_t i) const;
  // State of this parameter, zeroed.
  static at::Tensor zeros(const Parameter& parameter, std::uint16_t op, at::IntArrayRef shape, at::ScalarType type);

  // To be called before these gradients are used: looks for overflow, and counts the step if it is the step's first
  // call. A step that begins with an overflow does not count; with the optimizer in backward a later one cannot undo it.
  kernels::AdamWControl control_for(std::span<const std::size_t> which);
  // What these gradients, which are all of the step's, are to be multiplied by so that they have no loss scale and a norm
  // of at most AdamWOptions::clip: fp32 [].
  const at::Tensor& clip_factor(std::span<const std::size_t> which);

 private:
  std::vector<at::Tensor> gradients_of(std::span<const std::size_t> which) const;

  AdamWOptions options_;
  std::vector<at::Tensor> masters_;  // undefined: none
  at::Tensor step_count_;            // int64 [1]; undefined: the host counts
  at::Tensor clip_sums_, clip_;      // fp64 [n], fp32 []; undefined: gradients are not clipped
  std::int64_t steps_ = 0;
  bool in_step_ = false, counted_ = false;
  kernels::AdamWStep step_{};
};

class AdamW final : public AdamWFamily {
 public:
  // Takes the moments' memory at once, zeroed.
  AdamW(std::vector<Parameter> parameters, const AdamWOptions& options);

  // Fused, it allocates nothing; else one weight's fp32 gradient and denominator at a time.
  void update(std::span<const std::size_t> which) override;
  std::vector<StateTensor> state() override;

  const at::Tensor& first_moment(std::size_t i) const { return states_[i].first_moment; }
  const at::Tensor& second_moment(std::size_t i) const { return states_[i].second_moment; }
  // While set, updates weight by weight and passes the observer a copy from before. Null: off. Not owned.
  void observe(UpdateObserver* observer) { observer_ = observer; }

 private:
  struct State {
    at::Tensor first_moment, second_moment;
  };
  void fused_update(std::span<const std::size_t> which, const kernels::AdamWControl& control);
  void eager_update(std::size_t i, const at::Tensor& clip);
  void observed_update(std::size_t i, const kernels::AdamWControl& control);

  std::vector<State> states_;
  UpdateObserver* observer_ = nullptr;
};

}  // namespace headroom::llama
