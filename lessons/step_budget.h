// How the time of a training step divides, in shares of it: the model's operations at the device's peak, recomputed
// operations, what is slower than the peak, and idle time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/predict/cards.h"
#include "demos/predict/step_flops.h"
#include "demos/record/recording.h"

namespace headroom::lessons {

struct StepBudget {
  std::string name;   // "bf16"
  std::string whose;  // "Llama 3.2 1B, bf16, batch 4, 1,024 tokens, NVIDIA H200"
  double tokens_per_second = 0;
  double flops_per_token = 0;  // of the model
  double peak = 0;             // operations per second
  // Of the step's time; together 1.
  double model = 0, again = 0;  // at the peak
  double products = 0;          // what matrix products take beyond these two; of a traced run
  double memory = 0;            // everything else that runs; of a traced run, or of the bound
  double idle = 0;              // of a traced run
  double rest = 0;              // what nothing divides further

  double mfu() const { return model; }
  double hfu() const { return model + again; }
};

// Which peak a run is held against.
struct Peaks {
  double given = 0;                     // of every run, operations per second; 0: its card's
  std::vector<predict::Card> measured;  // in place of the table's

  // null: neither has this GPU.
  const predict::Card* card_of_gpu(std::string_view gpu) const;
};

// Model and recomputed operations per token.
struct TokenFlops {
  double model = 0, again = 0;
};
TokenFlops token_flops(const predict::StepSettings& step, predict::AttentionFlops attention);

// By its speed alone.
StepBudget budget_of(const TokenFlops& flops, double tokens_per_second, double peak);

// Of a run by its speed; of a traced one by its kernels. Nothing: `why` says what lacks.
std::optional<StepBudget> budget_of(const record::Recording& run, predict::AttentionFlops attention, const Peaks& peaks,
                                    std::string& why);

// The shortest that a step with these settings can be on this card: products at the peak, bytes at the bandwidth.
std::optional<StepBudget> least_budget(const predict::StepSettings& step, predict::AttentionFlops attention,
                                       const predict::Card& card);

// Five runs of the report on its RTX 4090: with Hugging Face's code the smallest and the largest batch, and three with all
// of Liger's kernels. Their checkpointing recomputed whole layers (predict::whole_layers_flops_per_token()).
std::vector<StepBudget> published_budgets(predict::AttentionFlops attention);

// Of a ladder the fastest rung in fp32, in 16 bits, with checkpoints, and with the optimizer on the host. Empty: it is none,
// or of a device that is not in the table of cards.
std::vector<StepBudget> ladder_budgets(const record::Recording& ladder, predict::AttentionFlops attention,
                                       const Peaks& peaks);

}  // namespace headroom::lessons
