// The chunked loss: Liger's chunk size, live bytes, and an estimate of its time. Closed form for 16-bit numbers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "demos/record/units.h"
#include "kernels/fused_linear_cross_entropy/chunk.h"

namespace headroom::predict {

// Hidden states X [tokens, hidden] times head W [vocab, hidden].
struct ChunkedLoss {
  std::int64_t tokens = 0, vocab = 0, hidden = 0;
  bool fp32_gradient = false;  // the accumulated dW is in fp32

  static constexpr std::int64_t kElement = 2;

  // Liger's chunk size C, with C · V ≈ BT · H. 1B, 8,192 tokens: 256.
  std::int64_t rule() const {
    const std::int64_t chunk =
        kernels::flce_default_chunk(kernels::FlceMode::kReport, tokens, hidden, vocab, kElement, false);
    return std::min(chunk, tokens);
  }
  std::int64_t vocab_over_hidden() const { return (vocab + hidden - 1) / hidden; }
  std::int64_t chunks(std::int64_t chunk) const { return (tokens + chunk - 1) / chunk; }

  record::Bytes input_gradient() const { return tokens * hidden * kElement; }
  record::Bytes head() const { return vocab * hidden * kElement; }
  record::Bytes weight_gradient() const { return vocab * hidden * (fp32_gradient ? 4 : kElement); }
  record::Bytes logits(std::int64_t chunk) const { return chunk * vocab * kElement; }
  // dX + dW + C · V. 1B, 8,192 tokens, C = 256: 624,558,080 B.
  record::Bytes bytes(std::int64_t chunk) const { return input_gradient() + weight_gradient() + logits(chunk); }
  // C · V / (BT · H); with Liger's rule, from 1 to 2.
  double chunk_over_input(std::int64_t chunk) const {
    return static_cast<double>(chunk * vocab) / static_cast<double>(tokens * hidden);
  }
  // Bytes moved per chunk of any size: W is read for the logits and for dX, dW is read and written. 1B: 2.1·10⁹ B.
  record::Bytes head_traffic() const { return 2 * head() + 2 * weight_gradient(); }
  // Three GEMMs of 2 · BT · H · V.
  double flops() const {
    return 6.0 * static_cast<double>(tokens) * static_cast<double>(hidden) * static_cast<double>(vocab);
  }
};

struct ChunkSpeeds {
  double flops = 1, bandwidth = 1;  // FLOP/s of GEMMs; bytes/s
  double launch = 5e-6;             // seconds per kernel
};

// An estimate without overlap: four launches per chunk; the GEMMs' FLOPs or bytes, whichever take longer; and the pass
// over the logits.
inline double loss_seconds(const ChunkedLoss& loss, std::int64_t chunk, const ChunkSpeeds& speeds) {
  constexpr double kLaunches = 4;
  const auto n = static_cast<double>(loss.chunks(chunk));
  const auto all_logits = static_cast<double>(loss.logits(loss.tokens));
  const double traffic = n * static_cast<double>(loss.head_traffic()) + 3 * all_logits;
  return n * kLaunches * speeds.launch + std::max(loss.flops() / speeds.flops, traffic / speeds.bandwidth) +
         2 * all_logits / speeds.bandwidth;
}

}  // namespace headroom::predict
