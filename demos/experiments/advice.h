// Searches the cheapest sets of switches that make a training step fit. The caller judges each step.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "demos/experiments/switch_search.h"
#include "demos/predict/fits.h"

namespace headroom::experiments {

struct Judged {
  predict::Fit fit = {};
  bool refused = false;  // no run accepts these settings
};
// Empty: the answer is pending, or the search was stopped.
using Judge = std::function<std::optional<Judged>(const record::Params&)>;

struct AdvisedSwitch {
  const Technique* what = nullptr;
  predict::Fit fit = {};  // with this switch and all before it
};

struct AdvisedSet {
  std::vector<AdvisedSwitch> switches = {};  // in the order to turn them on
  record::Params params = {};                // with all switches
  predict::Fit fit = {};

  bool fits() const { return fit.verdict == predict::Verdict::kFits; }
};
std::string labels_of(const AdvisedSet& set);  // "fused linear cross entropy, checkpointing each layer"
// The product of the switches' relative step times; empty: a switch costs time that was not measured.
std::optional<double> step_time(const AdvisedSet& set);

// Tries sets of up to four switches in the order of switch_sets(). The closed form rejects sets that are too large; the
// judge decides on the others. A set that contains an earlier one is left out.
class AdviceSearch {
 public:
  // `margin`: the uncertainty of the memory outside the allocator.
  AdviceSearch(record::Params params, record::Bytes margin, const GivenUp& may);

  // Asks until `judge` has no answer; a later call continues. True once the search is complete.
  bool advance(const Judge& judge);

  const Judged& start() const { return *start_; }  // without any switch; known once complete
  // Up to three sets that fit. If none does, the set with the fewest bytes by the closed form. Empty if no switch is
  // needed or allowed.
  const std::vector<AdvisedSet>& sets() const { return sets_; }
  int asked() const { return asked_; }  // sets that passed the closed form but failed the judge

 private:
  struct Described {
    const SwitchSet* set;
    predict::Fit fit;
    AdvisedSet so_far;
  };

  bool begin(const Judge& judge);
  bool search(const Judge& judge);
  bool fall_back(const Judge& judge);
  bool describe(const Judge& judge);
  void describe_next(const SwitchSet& set, const predict::Fit& fit);
  bool has_found_part_of(const SwitchSet& set) const;

  record::Params params_;
  record::Bytes margin_;
  GivenUp may_;
  std::optional<Judged> start_;
  std::vector<SwitchSet> candidates_;
  std::size_t next_ = 0;
  int asked_ = 0;
  std::optional<Described> described_;
  std::vector<AdvisedSet> sets_;
};

}  // namespace headroom::experiments
