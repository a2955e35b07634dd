// Lists the tensors under the conditions of step_bytes.cpp; a test compares the sums.
#include "demos/predict/kept_tensors.h"

#include <utility>

#include <fmt/format.h>

#include "demos/predict/step_bytes.h"

namespace headroom::predict {

namespace {

using llama::Op;
using record::Bytes;
using Operators = std::vector<Op>;

class Layer {
 public:
  explicit Layer(const StepSettings& step)
      : step_(step),
        c_(step.model),
        s_(step.element_bytes()),
        frozen_(step.adapters.kind != AdapterKind::kOff),
        attention_read_(!frozen_ || step.adapters.targets != AdapterTargets::kMlp) {}

  std::vector<KeptTensor> take() {
    norm("Attention norm", Op::kAttentionNorm, Op::kQProj, true, attention_read_);
    attention();
    norm("MLP norm", Op::kMlpNorm, Op::kGateProj, false, mlp_is_read(step_));
    mlp();
    if (between_layers_bytes(step_) > 0 && !step_.keeps_layer_inputs())
      add(KeptPart::kNorms, "Sum after the MLP", s_, "H", c_.hidden_size, {Op::kMlpResidual, Op::kDownProj});
    return std::move(kept_);
  }

 private:
  // `factor` bytes for `count` numbers per token. Empty `symbol`: the factor alone.
  void add(KeptPart part, std::string name, std::int64_t factor, std::string_view symbol, std::int64_t count,
           Operators operators) {
    kept_.push_back({.part = part,
                     .name = std::move(name),
                     .symbols = symbol.empty() ? fmt::format("{}", factor) : fmt::format("{} · {}", factor, symbol),
                     .bytes = step_.tokens() * factor * count,
                     .operators = std::move(operators)});
  }

  // `reader`: the next GEMM, which creates fp8 codes. The first norm's input is the layer's.
  void norm(const std::string& name, Op op, Op reader, bool first, bool read) {
    const std::int64_t h = c_.hidden_size;
    const auto input = [&](std::int64_t factor) {
      const char* const what = factor > s_ ? "{}: input in fp32" : "{}: input";
      add(KeptPart::kNorms, fmt::format(fmt::runtime(what), name), factor, "H", h, {op, Op::kAttentionResidual});
    };
    const auto result = [&] { add(KeptPart::kNorms, name + ": result", step_.input_bytes(), "H", h, {op, reader}); };
    const bool composed = !step_.fused.rms_norm;
    if (composed && step_.rebuilds_cheap()) {
      if (!first) input(s_);
      return;
    }
    if (composed ? !first || s_ < kFp32 : !first) input(composed ? kFp32 : s_);
    if (composed && !frozen_) add(KeptPart::kNorms, name + ": normed rows", s_, "H", h, {op});
    if (read && (composed || step_.fused.keep)) result();
    add(KeptPart::kRows, name + ": 1/RMS", kFp32, "", 1, {op});
  }

  void head_norms() {
    const std::int64_t heads = c_.num_heads + c_.num_kv_heads, numbers = heads * c_.head_dim;
    const Operators made{Op::kQNorm, Op::kKNorm, Op::kQProj, Op::kKProj};
    const bool fused = step_.fused.rms_norm;
    add(KeptPart::kAttention, "Before norms of heads", fused ? s_ : kFp32, "(A + K) · D", numbers, made);
    if (!fused && !frozen_) add(KeptPart::kAttention, "Normed heads", s_, "(A + K) · D", numbers, made);
    add(KeptPart::kAttention, "Heads: 1/RMS", kFp32, "(A + K)", heads, made);
  }

  // Eager attention first copies keys and values for each query head.
  void attention() {
    if (c_.qk_norm) head_norms();
    const bool eager = step_.fused.attention == Attention::kEager, again = step_.rebuilds_cheap();
    const std::int64_t q = c_.num_heads * c_.head_dim, k = c_.num_kv_heads * c_.head_dim;
    const bool copied = eager && !again;
    const Operators scores{Op::kScores};
    const auto made = [](Op projection) { return Operators{Op::kRope, projection, Op::kRepeatKv, Op::kScores}; };
    add(KeptPart::kAttention, "Queries", s_, "A · D", q, made(Op::kQProj));
    add(KeptPart::kAttention, copied ? "Keys, per query head" : "Keys", s_, copied ? "A · D" : "K · D", copied ? q : k,
        made(Op::kKProj));
    add(KeptPart::kAttention, copied ? "Values, per query head" : "Values", s_, copied ? "A · D" : "K · D",
        copied ? q : k, made(Op::kVProj));
    if (copied) {
      const std::int64_t all = c_.num_heads * step_.sequence;
      add(KeptPart::kAttention, "Scores, softmax in fp32", kFp32, "A · T", all, scores);
      if (s_ < kFp32) add(KeptPart::kAttention, "Scores, in 16 bits", s_, "A · T", all, scores);
    }
    if (!eager || (!again && attention_read_))
      add(KeptPart::kAttention, "Attention's result", eager ? step_.input_bytes() : s_, "A · D", q,
          {Op::kScores, Op::kOProj});
    if (!eager) add(KeptPart::kAttention, "Log-sum-exp", kFp32, "A", c_.num_heads, scores);
    if (frozen_ && attention_read_)
      add(KeptPart::kAttention, "Inside adapters", step_.trained_bytes(), "4 · r", 4 * step_.adapters.rank,
          {Op::kQProj, Op::kKProj, Op::kVProj, Op::kOProj});
  }

  void mlp() {
    const bool by_operators = !step_.fused.swiglu && !step_.rebuilds_cheap(), read = mlp_is_read(step_);
    const std::int64_t f = c_.intermediate_size;
    add(KeptPart::kMlp, "Gate", s_, "F", f, {Op::kGateProj});
    add(KeptPart::kMlp, "Up", s_, "F", f, {Op::kUpProj});
    if (by_operators) add(KeptPart::kMlp, "Gate after SiLU", s_, "F", f, {Op::kSilu});
    if (read && (by_operators || step_.fused.keep))
      add(KeptPart::kMlp, "Product", step_.input_bytes(), "F", f, {Op::kProduct, Op::kDownProj});
    if (frozen_ && read)
      add(KeptPart::kMlp, "Inside adapters", step_.trained_bytes(), "3 · r", 3 * step_.adapters.rank,
          {Op::kGateProj, Op::kUpProj, Op::kDownProj});
  }

  const StepSettings& step_;
  const llama::Config& c_;
  std::int64_t s_;
  bool frozen_, attention_read_;
  std::vector<KeptTensor> kept_;
};

}  // namespace

std::vector<KeptTensor> kept_tensors(const StepSettings& step) { return Layer(step).take(); }

}  // namespace headroom::predict
