// Passes pieces around the ring: sums on the first round, complete pieces on the second.
#include "demos/engine/llama/ranks/ring_sum.h"

#include <c10/util/Exception.h>

#include "demos/predict/forms/ring.h"

namespace headroom::llama {

std::int64_t ring_scratch(std::int64_t elements, int ranks) { return (elements + ranks - 1) / ranks; }

void ring_sum(Collectives& ring, const at::Tensor& buffer, const at::Tensor& scratch) {
  const int rank = ring.rank(), ranks = ring.ranks();
  TORCH_CHECK(buffer.dim() == 1 && buffer.numel() >= ranks && scratch.numel() >= ring_scratch(buffer.numel(), ranks),
              "a ring sums a 1-D buffer with an element per rank");
  const auto piece = [&](int index) {
    const predict::RingPiece place = predict::ring_piece(buffer.numel(), ranks, index);
    return buffer.narrow(0, place.first, place.count);
  };
  for (int i = 0; i < predict::ring_steps(ranks); ++i) {
    const predict::RingStep step = predict::ring_step(rank, ranks, i);
    const at::Tensor own = piece(step.receives);
    const at::Tensor arriving = step.sums ? scratch.narrow(0, 0, own.numel()) : own;
    ring.wait_for_device();
    ring.exchange(
        {.send = piece(step.sends), .to = (rank + 1) % ranks, .receive = arriving, .from = (rank + ranks - 1) % ranks});
    ring.done().device_waits();
    if (step.sums) own.add_(arriving);
  }
}

}  // namespace headroom::llama
