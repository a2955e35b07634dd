// The tensors of the loss, step by step of its code: when each appears, when it goes, and its bytes. By closed form, as the
// engine's loss does it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::lessons {

struct ChainTensor {
  std::string name;                                       // "shifted copy, fp32"
  std::string shape;                                      // "B (T − 1) · V · 4"
  record::Bytes bytes = 0;                                //
  std::size_t first = 0, last = 0;                        // steps in which it is in memory
  record::Category category = record::Category::kLogits;  //
};

struct LossChain {
  std::vector<std::string> steps;    // what each does
  std::vector<ChainTensor> tensors;  // in the order in which they appear

  record::Bytes logits(std::size_t step) const;  // of kind logits, in memory in that step
  record::Bytes peak() const;                    // predict::loss_bytes() of the settings
  std::size_t highest() const;                   // the first step that has it
};

// Of the settings' path, of its second step or a later one, where the kept output of the one before is still there.
LossChain loss_chain(const predict::StepSettings& step);

}  // namespace headroom::lessons
