// Dynamic loss scaling, step by step. The training step's rule has a hysteresis of 1.
#pragma once

#include <algorithm>

namespace headroom::lessons {

struct LossScaleRule {
  int window = 1000;  // steps without overflow before the scale grows
  double factor = 2;
  int hysteresis = 1;  // overflows before the scale shrinks; each skips its step
  double least = 1;
};

class LossScale {
 public:
  LossScale(double first, LossScaleRule rule) : scale_(first), rule_(rule), left_(rule.hysteresis) {}

  double scale() const { return scale_; }

  // To be called after each step.
  void update(bool overflow) {
    if (overflow) {
      good_steps_ = 0;
      if (--left_ > 0) return;
      left_ = 1;  // stays 1 until a whole window without overflow
      scale_ = std::max(scale_ / rule_.factor, rule_.least);
      return;
    }
    if (++good_steps_ < rule_.window) return;
    good_steps_ = 0;
    left_ = rule_.hysteresis;
    scale_ *= rule_.factor;
  }

 private:
  double scale_;
  LossScaleRule rule_;
  int good_steps_ = 0, left_;
};

}  // namespace headroom::lessons
