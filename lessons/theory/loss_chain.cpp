#include "lessons/theory/loss_chain.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "demos/predict/forms/step_bytes.h"

namespace headroom::lessons {

namespace {

using record::Bytes;
using record::Category;

constexpr std::size_t kToTheEnd = static_cast<std::size_t>(-1);

// Builds the chain in code order: what each step allocates and frees.
class LossTensors {
 public:
  explicit LossTensors(const predict::StepSettings& step) : step_(step) {}

  void step(std::string action) { chain_.steps.push_back(std::move(action)); }

  std::size_t make(std::string name, std::string shape, Bytes bytes, Category category = Category::kLogits) {
    chain_.tensors.push_back({std::move(name), std::move(shape), bytes, chain_.steps.size() - 1, kToTheEnd, category});
    return chain_.tensors.size() - 1;
  }
  // Logits [rows, V] of `element` bytes each; `shifted` drops each sequence's last position.
  std::size_t make_logits(const std::string& name, Bytes element, bool shifted = false) {
    const std::int64_t rows = step_.tokens() - (shifted ? step_.batch : 0);
    return make(fmt::format("{}, {}", name, element == 4 ? "fp32" : "16 bits"),
                fmt::format("{} · V · {}", shifted ? "B (T − 1)" : "B · T", element),
                rows * step_.model.vocab_size * element);
  }
  void let_go(std::size_t tensor) { chain_.tensors[tensor].last = chain_.steps.size() - 1; }

  LossChain take() {
    for (ChainTensor& each : chain_.tensors)
      if (each.last == kToTheEnd) each.last = chain_.steps.size() - 1;
    return std::move(chain_);
  }

  const predict::StepSettings& settings() const { return step_; }
  Bytes element() const { return step_.element_bytes(); }

 private:
  const predict::StepSettings& step_;
  LossChain chain_;
};

// PyTorch's operators: log-softmax of fp32 logits.
void eager_chain(LossTensors& chain, const predict::LossCode& code) {
  const Bytes element = chain.element();
  const bool casts = element != 4, kept = chain.settings().loss.keep_output && code.returns_output;
  std::size_t before = 0;
  if (kept) {
    chain.step("The loop still holds the previous step's output");
    before = chain.make_logits("previous output", code.returns_fp32 ? 4 : element);
  }
  chain.step("The output layer computes logits in the model's type");
  const std::size_t made = chain.make_logits("logits", element);
  std::size_t wide = made;
  if (casts) {
    chain.step("They are cast to fp32");
    wide = chain.make_logits("logits", 4);
    if (code.returns_fp32) chain.let_go(made);
  }
  std::size_t shifted = wide;
  if (code.shifts_logits) {
    chain.step("All positions but the last of each sequence are copied");
    shifted = chain.make_logits("shifted copy", 4, true);
  }
  if (code.returns_output) chain.step("Labels are shifted and flattened: only kilobytes");
  chain.step("Log-softmax allocates one more tensor; the loss is one number");
  const std::size_t log_softmax = chain.make_logits("log-softmax", 4, code.shifts_logits);
  if (kept) chain.let_go(before);
  // The model's output stays only if the loop keeps it.
  const std::size_t output = code.returns_fp32 ? wide : made;
  for (const std::size_t each : {made, wide, shifted})
    if (!(kept && each == output) && !(casts && code.returns_fp32 && each == made)) chain.let_go(each);

  chain.step("Backward begins: the gradient of log-softmax");
  const std::size_t of_log_softmax = chain.make_logits("its gradient", 4, code.shifts_logits);
  chain.step(code.shifts_logits ? "The gradient of the shifted copy" : "The gradient of the logits");
  std::size_t gradient =
      chain.make_logits(code.shifts_logits ? "gradient of copy" : "gradient of logits", 4, code.shifts_logits);
  chain.let_go(log_softmax);
  chain.let_go(of_log_softmax);
  if (code.shifts_logits) {
    chain.step("The gradient of all positions, 0 at the last ones");
    const std::size_t padded = chain.make_logits("gradient of logits", 4);
    chain.let_go(std::exchange(gradient, padded));
  }
  if (casts) {
    chain.step("It is cast back to the model's type");
    const std::size_t narrow = chain.make_logits("gradient", element);
    chain.let_go(std::exchange(gradient, narrow));
  }
  chain.step("Two matrix multiplications compute dX and dW from it");
}

// One kernel overwrites the logits with their gradient.
void in_place_chain(LossTensors& chain) {
  chain.step("The output layer computes logits in the model's type");
  chain.make_logits("logits, then gradient", chain.element());
  chain.step("The kernel computes the loss and overwrites the logits with their gradient");
  chain.step("Two matrix multiplications compute dX and dW from it");
}

void fused_chain(LossTensors& chain) {
  const predict::StepSettings& step = chain.settings();
  const std::int64_t vocab = step.model.vocab_size, hidden = step.model.hidden_size, part = predict::loss_chunk(step);
  const bool lean = step.loss.mode == kernels::FlceMode::kLean;
  const std::int64_t whole = lean ? vocab : step.tokens(), parts = (whole + part - 1) / part;
  const std::string word = lean ? "Slice" : "Chunk";
  const Bytes head_element = step.loss.fp32_weight_gradient ? 4 : chain.element();
  chain.step(lean ? "dW and dX are allocated" : "dW is allocated; dX overwrites X");
  chain.make("dW", fmt::format("V · H · {}", head_element), vocab * hidden * head_element, Category::kGradients);
  if (lean) chain.make("dX, fp32", "B · T · H · 4", step.tokens() * hidden * 4, Category::kGradients);
  chain.step(fmt::format("{} 1 of {}: its logits", word, parts));
  const std::size_t logits =
      chain.make(lean ? "logits of a slice" : "logits of a chunk",
                 fmt::format("{} · {}", lean ? "B · T · C" : "C · V", chain.element()), predict::loss_bytes(step));
  chain.step("Their loss; their gradient overwrites them");
  chain.step("Its rows of dX, and its part of dW");
  if (parts > 1) chain.step(fmt::format("{}s 2 to {}: the same, in the same memory", word, parts));
  chain.let_go(logits);
  chain.step("Backward multiplies dX and dW by one number");
}

}  // namespace

Bytes LossChain::logits(std::size_t step) const {
  Bytes sum = 0;
  for (const ChainTensor& each : tensors)
    if (each.category == Category::kLogits && each.first <= step && step <= each.last) sum += each.bytes;
  return sum;
}

Bytes LossChain::peak() const { return logits(highest()); }

std::size_t LossChain::highest() const {
  std::size_t found = 0;
  for (std::size_t step = 1; step < steps.size(); ++step)
    if (logits(step) > logits(found)) found = step;
  return found;
}

LossChain loss_chain(const predict::StepSettings& step) {
  LossTensors chain(step);
  const predict::LossCode code = predict::loss_code(step);
  if (code.in_chunks)
    fused_chain(chain);
  else if (code.in_place)
    in_place_chain(chain);
  else
    eager_chain(chain, code);
  return chain.take();
}

}  // namespace headroom::lessons
