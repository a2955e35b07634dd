// Shares of a training step's time: the model's operations at the device's peak, recomputed operations, slower work,
// and idle time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/predict/cards/cards.h"
#include "demos/predict/time/step_flops.h"
#include "demos/record/recording.h"

namespace headroom::lessons {

struct StepBudget {
  std::string name;
  std::string whose;  // model, settings and device
  double tokens_per_second = 0;
  double flops_per_token = 0;  // the model's, per token
  double peak = 0;             // operations per second
  // Shares of the step's time; their sum is 1.
  double model = 0, again = 0;  // the model's and recomputed operations at the peak
  double products = 0;          // GEMM time beyond these two; traced runs only
  double memory = 0;            // all other work; traced runs or the bound only
  double idle = 0;              // traced runs only
  double rest = 0;              // not divided further

  double mfu() const { return model; }
  double hfu() const { return model + again; }
};

struct Peaks {
  double given = 0;                     // operations per second for every run; 0: each run's card's peak
  std::vector<predict::Card> measured;  // used before the table's cards

  // Null if neither `measured` nor the table has this GPU.
  const predict::Card* card_of_gpu(std::string_view gpu) const;
};

// From a run's speed or, if traced, its last traced step. If empty, `why` says what is missing.
std::optional<StepBudget> budget_of(const record::Recording& run, predict::AttentionFlops attention, const Peaks& peaks,
                                    std::string& why);

// A lower bound of the step on this card: GEMMs at the peak, bytes at the bandwidth.
std::optional<StepBudget> least_budget(const predict::StepSettings& step, predict::AttentionFlops attention,
                                       const predict::Card& card);

// Five runs of the report on its RTX 4090: Hugging Face's code at the smallest and the largest batch, and three with
// all of Liger's kernels. Their checkpointing recomputed whole layers (predict::whole_layers_flops_per_token()).
std::vector<StepBudget> published_budgets(predict::AttentionFlops attention);

// A ladder's fastest rungs in fp32, in 16 bits, with checkpoints, and with the optimizer on the host. Empty for other
// recordings or unknown cards.
std::vector<StepBudget> ladder_budgets(const record::Recording& ladder, predict::AttentionFlops attention,
                                       const Peaks& peaks);

}  // namespace headroom::lessons
