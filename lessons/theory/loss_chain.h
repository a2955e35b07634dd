// Lifetimes and bytes of the loss's tensors by closed form, in steps as the engine computes the loss.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::lessons {

struct ChainTensor {
  std::string name;
  std::string shape;  // "B (T − 1) · V · 4"
  record::Bytes bytes = 0;
  std::size_t first = 0, last = 0;  // first and last step in memory
  record::Category category = record::Category::kLogits;
};

struct LossChain {
  std::vector<std::string> steps;    // one action each
  std::vector<ChainTensor> tensors;  // in order of appearance

  record::Bytes logits(std::size_t step) const;  // in memory in that step
  record::Bytes peak() const;                    // predict::loss_bytes() of the settings
  std::size_t highest() const;                   // first step at the peak
};

// The chain of a second or later step, in which the previous step's kept output is still in memory.
LossChain loss_chain(const predict::StepSettings& step);

}  // namespace headroom::lessons
