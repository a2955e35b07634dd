// Derivatives of the fused kernels' operations on eight numbers in fp64, by the kernels' formulas and by finite
// differences.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "demos/record/schema.h"

namespace headroom::lessons {

inline constexpr std::size_t kEight = 8;
using Eight = std::array<double, kEight>;

struct DerivativeInput {
  Eight x{};                  // one row; SwiGLU: four gates a, then four values b; RoPE: one head
  Eight dy{};                 // gradient of the results; SwiGLU uses four, cross entropy one
  Eight weight{};             // for norms
  std::int64_t position = 0;  // for RoPE
  std::size_t label = 0;      // for cross entropy
};

inline constexpr double kNormEpsilon = 1e-5;   // Llama's
inline constexpr double kRopeTheta = 500'000;  // Llama 3's

struct Derivative {
  std::string_view key, label;
  std::vector<double> (*forward)(const DerivativeInput& in);  // y
  Eight (*formula)(const DerivativeInput& in);                // dx
};
inline constexpr std::size_t kDerivatives = 5;
inline constexpr std::array<record::Choice, kDerivatives> kDerivativeNames{{{"rms_norm", "RMSNorm"},
                                                                            {"layer_norm", "LayerNorm"},
                                                                            {"swiglu", "SwiGLU"},
                                                                            {"rope", "RoPE"},
                                                                            {"cross_entropy", "cross entropy"}}};
// In the order of kDerivativeNames.
const std::array<Derivative, kDerivatives>& derivatives();

// dx[i] ≈ (L(x + h e_i) − L(x − h e_i)) / 2h with L the sum of dy · y.
Eight differences(const Derivative& operation, const DerivativeInput& in, double h);

// dy ⊙ weight / r, the first term of RMSNorm's dx.
Eight rms_norm_first_term(const DerivativeInput& in);
double dot(const Eight& a, const Eight& b);

}  // namespace headroom::lessons
