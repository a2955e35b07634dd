#include "lessons/measurements/product_peaks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "demos/predict/time/step_flops.h"
#include "lessons/wording.h"

namespace headroom::lessons {

using record::Measurement;
using record::Recording;

namespace {

bool is_rate(const Measurement& row) { return row.panel == Measurement::kProductRates && row.median > 0; }

}  // namespace

bool has_product_rates(const Recording& recording) { return std::ranges::any_of(recording.measurements(), is_rate); }

double product_rate(const Measurement& row) { return row.flops / row.median * 1e9; }

std::vector<const Measurement*> fastest_products(const Recording& rates) {
  std::vector<const Measurement*> fastest;
  for (const Measurement& row : rates.measurements()) {
    if (!is_rate(row)) continue;
    const auto same = std::ranges::find(fastest, row.storage, &Measurement::storage);
    if (same == fastest.end())
      fastest.push_back(&row);
    else if (product_rate(row) > product_rate(**same))
      *same = &row;
  }
  return fastest;
}

CardPeak card_peak(std::string_view format) {
  using predict::Card;
  constexpr std::array<std::pair<std::string_view, CardPeak>, 5> kPeaks{{{"fp32", &Card::fp32},
                                                                         {"tf32", &Card::tf32},
                                                                         {"bf16", &Card::bf16},
                                                                         {"fp16", &Card::fp16},
                                                                         {"fp8", &Card::fp8}}};
  for (const auto& [name, peak] : kPeaks)
    if (name == format) return peak;
  return nullptr;
}

const predict::Card* card_of(const Recording& recording) {
  return predict::card_of_gpu(value_of(recording.info().provenance, "gpu"));
}

std::optional<predict::Card> measured_card(const Recording& rates) {
  const predict::Card* const card = card_of(rates);
  if (card == nullptr) return std::nullopt;
  predict::Card measured = *card;
  for (const Measurement* row : fastest_products(rates))
    if (const CardPeak peak = card_peak(row->storage); peak != nullptr) measured.*peak = product_rate(*row);
  return measured;
}

}  // namespace headroom::lessons
