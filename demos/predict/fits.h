// Whether a training step fits on a card: PyTorch's allocator under what the card leaves it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "demos/predict/card_names.h"
#include "demos/record/recording.h"

namespace headroom::predict {

// What a process takes of a card beside PyTorch's allocator: the CUDA context, the code of kernels, what libraries keep
// for themselves.
struct ProcessBytes {
  record::Bytes bytes = 0;
  record::Bytes margin = 0;  // it may be so much more or less
  std::string_view source;   // the GPU that it was recorded on
};
ProcessBytes process_bytes(std::string_view gpu);  // by its name

enum class Verdict : std::uint8_t {
  kFits,
  kTooClose,  // within the margin of what the process takes
  kDoesNotFit,
};
std::string_view label_of(Verdict verdict);  // "fits", "too close to tell", "does not fit"
std::string_view key_of(Verdict verdict);    // "too_close", in files

struct Fit {
  Verdict verdict = Verdict::kFits;
  record::Bytes limit = 0;  // what the card leaves the allocator
  // The most that the allocator holds under that limit; of one that does not fit, without any.
  record::Bytes reserved = 0;
};

// Of a step whose peak is known by closed form alone. Segments are not in it, nor is the last percent of what is: a verdict has
// a twentieth of it as margin, a tenth where no run takes the model (`beyond_step`).
Fit fit_of_closed_form(record::Bytes peak, record::Bytes memory, const ProcessBytes& process, bool beyond_step);

// What steps request, before they run on a card. Only cards that are nearly full need them placed once more.
class FitTest {
 public:
  // `placed`: these requests without any limit, as placed_until_alike() gives them.
  FitTest(std::shared_ptr<const record::Recording> requests, std::shared_ptr<const record::Recording> placed);

  // Without any limit: the most that blocks take, and segments.
  record::Bytes allocated() const { return allocated_; }
  record::Bytes reserved() const { return reserved_; }

  // `memory`: of the card, as its driver reports it.
  Fit on(record::Bytes memory, const ProcessBytes& process) const;

 private:
  bool holds(record::Bytes limit) const;

  std::shared_ptr<const record::Recording> requests_;
  record::Bytes allocated_ = 0, reserved_ = 0;
};

}  // namespace headroom::predict
