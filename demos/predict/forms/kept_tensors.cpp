// Lists what autograd and our kernels keep, by setting.
#include "demos/predict/forms/kept_tensors.h"

#include <utility>

#include <fmt/format.h>

namespace headroom::predict {

namespace {

using llama::Op;
using record::Bytes;
using Operators = std::array<std::optional<Op>, 4>;

class Layers {
 public:
  explicit Layers(const StepSettings& step)
      : step_(step),
        c_(step.model),
        s_(step.element_bytes()),
        layers_(c_.num_layers),
        frozen_(step.adapters.kind != AdapterKind::kOff),
        attention_read_(!frozen_ || step.adapters.targets != AdapterTargets::kMlp),
        mlp_read_(mlp_is_read(step)) {}

  std::vector<KeptTensor> take() {
    const llama::Mlps mlps = llama::mlps(c_, step_.extension);
    const bool post_norms = step_.extension.post_norms;
    kept_.reserve(32);
    enter(&LayerBytes::attention_norm, layers_);
    norm("Attention norm", Op::kAttentionNorm, Op::kQProj, true, attention_read_);
    enter(&LayerBytes::attention, layers_);
    attention();
    if (post_norms) norm("Norm after attention", Op::kAttentionPostNorm, Op::kOProj, false, false);
    enter(&LayerBytes::mlp_norm, layers_);
    norm("MLP norm", Op::kMlpNorm, Op::kGateProj, false, mlp_read_);
    if (step_.extension.experts) routing(*step_.extension.experts);
    mlp({}, mlps.plain, "F", "3 · r");
    mlp("Experts", mlps.expert, "k · F", "3 · k · r");
    mlp("Shared expert", mlps.shared, "F", "3 · r");
    enter(&LayerBytes::mlp, layers_);
    if (post_norms) norm("Norm after the MLP", Op::kMlpPostNorm, Op::kDownProj, false, false);
    enter(nullptr, layers_);
    if (between_layers_bytes(step_) > 0 && !step_.keeps_layer_inputs())
      add(KeptPart::kNorms, {}, "Sum after the MLP", s_, "H", c_.hidden_size, {Op::kMlpResidual, Op::kDownProj});
    return std::move(kept_);
  }

 private:
  // `times`: how often all layers together keep the next tensors.
  void enter(Bytes LayerBytes::*term, std::int64_t times) {
    term_ = term;
    times_ = times;
  }

  // Adds `factor` bytes for each of `count` numbers per token. Empty `symbol`: only the factor is shown.
  void add(KeptPart part, std::string_view of, std::string_view what, std::int64_t factor, std::string_view symbol,
           std::int64_t count, Operators operators) {
    const Bytes all = step_.tokens() * factor * count * times_;
    kept_.push_back({.part = part,
                     .term = term_,
                     .of = of,
                     .what = what,
                     .factor = factor,
                     .symbol = symbol,
                     .all_layers = all,
                     .bytes = all / layers_,
                     .operators = operators});
  }

  // `reader`: the next GEMM, which creates the fp8 codes. `first`: the norm's input is the layer's input.
  void norm(std::string_view of, Op op, Op reader, bool first, bool read) {
    const std::int64_t h = c_.hidden_size;
    const auto input = [&](std::int64_t factor) {
      add(KeptPart::kNorms, of, factor > s_ ? "input in fp32" : "input", factor, "H", h, {op, Op::kAttentionResidual});
    };
    const bool composed = !step_.fused.rms_norm;
    if (composed && step_.rebuilds_cheap()) {
      if (!first) input(s_);
      return;
    }
    if (composed ? !first || s_ < kFp32 : !first) input(composed ? kFp32 : s_);
    if (composed && !frozen_) add(KeptPart::kNorms, of, "normed rows", s_, "H", h, {op});
    if (read && (composed || step_.fused.keep))
      add(KeptPart::kNorms, of, "result", step_.input_bytes(), "H", h, {op, reader});
    add(KeptPart::kRows, of, "1/RMS", kFp32, {}, 1, {op});
  }

  void head_norms() {
    const std::int64_t heads = c_.num_heads + c_.num_kv_heads, numbers = heads * c_.head_dim;
    const Operators made{Op::kQNorm, Op::kKNorm, Op::kQProj, Op::kKProj};
    const bool fused = step_.fused.rms_norm;
    add(KeptPart::kAttention, {}, "Before norms of heads", fused ? s_ : kFp32, "(A + K) · D", numbers, made);
    if (!fused && !frozen_) add(KeptPart::kAttention, {}, "Normed heads", s_, "(A + K) · D", numbers, made);
    add(KeptPart::kAttention, "Heads", "1/RMS", kFp32, "(A + K)", heads, made);
  }

  // Eager attention first copies keys and values for each query head.
  void attention() {
    if (c_.qk_norm) head_norms();
    const bool eager = step_.fused.attention == Attention::kEager, again = step_.rebuilds_cheap();
    const std::int64_t q = c_.num_heads * c_.head_dim, k = c_.num_kv_heads * c_.head_dim;
    const bool copied = eager && !again;
    const auto made = [](Op projection) { return Operators{Op::kRope, projection, Op::kRepeatKv, Op::kScores}; };
    const std::string_view symbol = copied ? "A · D" : "K · D";
    add(KeptPart::kAttention, {}, "Queries", s_, "A · D", q, made(Op::kQProj));
    add(KeptPart::kAttention, {}, copied ? "Keys, per query head" : "Keys", s_, symbol, copied ? q : k,
        made(Op::kKProj));
    add(KeptPart::kAttention, {}, copied ? "Values, per query head" : "Values", s_, symbol, copied ? q : k,
        made(Op::kVProj));
    if (copied) {
      const std::int64_t all = c_.num_heads * step_.sequence;
      add(KeptPart::kAttention, {}, "Scores, softmax in fp32", kFp32, "A · T", all, {Op::kScores});
      if (s_ < kFp32) add(KeptPart::kAttention, {}, "Scores, in 16 bits", s_, "A · T", all, {Op::kScores});
    }
    if (!eager || (!again && attention_read_))
      add(KeptPart::kAttention, {}, "Attention's result", eager ? step_.input_bytes() : s_, "A · D", q,
          {Op::kScores, Op::kOProj});
    if (!eager) add(KeptPart::kAttention, {}, "Log-sum-exp", kFp32, "A", c_.num_heads, {Op::kScores});
    if (frozen_ && attention_read_)
      add(KeptPart::kAttention, {}, "Inside adapters", step_.trained_bytes(), "4 · r", 4 * step_.adapters.rank,
          {Op::kQProj, Op::kKProj, Op::kVProj, Op::kOProj});
  }

  // GEMMs keep the rows gathered for experts. The sum over experts keeps their results for the router's gradient, and
  // the shared expert's gate keeps that expert's result.
  void routing(const llama::Experts& experts) {
    enter(&LayerBytes::routing, experts.layers);
    const auto kept = [&](std::string_view what, std::int64_t factor, std::string_view symbol, std::int64_t count) {
      add(KeptPart::kMlp, "Router", what, factor, symbol, count, {Op::kRouter});
    };
    const std::int64_t h = c_.hidden_size;
    kept("probabilities and choices", router_bytes(step_), {}, 1);
    if (mlp_read_ && !step_.rebuilds_cheap()) kept("gathered rows", s_, "k · H", experts.per_token * h);
    kept("experts' results", s_, "k · H", experts.per_token * h);
    if (experts.shared_size > 0) kept("shared expert's result and gate", s_, "(H + 1)", h + 1);
  }

  // Symbols for numbers per token: `f` in the MLP's tensors, `low` inside adapters.
  void mlp(std::string_view of, const llama::Mlp& mlp, std::string_view f, std::string_view low) {
    if (mlp.taken == 0) return;
    enter(&LayerBytes::mlp, mlp.taken);
    const bool by_operators = !step_.fused.swiglu && !step_.rebuilds_cheap();
    const auto kept = [&](std::string_view what, std::int64_t factor, Operators operators) {
      add(KeptPart::kMlp, of, what, factor, f, mlp.size, operators);
    };
    kept("Gate", s_, {Op::kGateProj});
    kept("Up", s_, {Op::kUpProj});
    if (by_operators) kept("Gate after SiLU", s_, {Op::kSilu});
    if (mlp_read_ && (by_operators || step_.fused.keep))
      kept("Product", step_.input_bytes(), {Op::kProduct, Op::kDownProj});
    if (frozen_ && mlp_read_)
      add(KeptPart::kMlp, of, "Inside adapters", step_.trained_bytes(), low, 3 * step_.adapters.rank,
          {Op::kGateProj, Op::kUpProj, Op::kDownProj});
  }

  const StepSettings& step_;
  const llama::Config& c_;
  std::int64_t s_, layers_;
  bool frozen_, attention_read_, mlp_read_;
  Bytes LayerBytes::*term_ = nullptr;
  std::int64_t times_ = 0;
  std::vector<KeptTensor> kept_;
};

}  // namespace

std::string KeptTensor::name() const { return of.empty() ? std::string(what) : fmt::format("{}: {}", of, what); }

std::string KeptTensor::symbols() const {
  return symbol.empty() ? fmt::format("{}", factor) : fmt::format("{} · {}", factor, symbol);
}

std::vector<KeptTensor> kept_tensors(const StepSettings& step) { return Layers(step).take(); }

}  // namespace headroom::predict
