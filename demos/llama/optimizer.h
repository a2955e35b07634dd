// Optimizers: what a step does with the gradients, for all weights at once or for some of them as backward hands them
// over. AdamW is the plain one: two moments a weight, in the weight's own type.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "demos/llama/model.h"
#include "kernels/adamw/adamw.h"

namespace headroom::llama {

// Embedding, final norm and head: what belongs to no layer. As a group of weights, beside the layers 0 … L − 1.
inline constexpr std::int64_t kOuterLayer = -1;

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;  // Llama 3's; 0.999 would not move a bf16 second moment, whose steps are 0.4 %
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // of matrices; norms do not decay
  bool fused = true;          // one kernel over all weights; else PyTorch's operators, weight by weight
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

  // A whole step over all weights.
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

class AdamW final : public Optimizer {
 public:
  // Takes the moments' memory at once, zeroed.
  AdamW(std::vector<Parameter> parameters, const AdamWOptions& options);

  void begin_step() override;
  // Fused, it allocates nothing; else one weight's denominator at a time.
  void update(std::span<const std::size_t> which) override;

 private:
  struct State {
    at::Tensor first_moment, second_moment;
  };
  void fused_update(std::span<const std::size_t> which);
  void eager_update(std::span<const std::size_t> which);

  AdamWOptions options_;
  std::vector<State> states_;
  std::int64_t steps_ = 0;
  kernels::AdamWStep step_{};
};

}  // namespace headroom::llama
