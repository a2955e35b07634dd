#include "lessons/theory/derivatives.h"

#include <algorithm>
#include <cmath>

namespace headroom::lessons {

namespace {

constexpr std::size_t kHalf = kEight / 2;
constexpr double kCount = kEight;

double sum(const Eight& a) {
  double total = 0;
  for (const double each : a) total += each;
  return total;
}

Eight times(const Eight& a, const Eight& b) {
  Eight product{};
  for (std::size_t i = 0; i < kEight; ++i) product[i] = a[i] * b[i];
  return product;
}

std::vector<double> all(const Eight& a) { return {a.begin(), a.end()}; }

// --- RMSNorm: y = weight ⊙ x / r

double rms(const Eight& x) { return std::sqrt(dot(x, x) / kCount + kNormEpsilon); }

std::vector<double> rms_norm(const DerivativeInput& in) {
  Eight y = times(in.weight, in.x);
  for (double& each : y) each /= rms(in.x);
  return all(y);
}

// (g − x̂ · mean(g ⊙ x̂)) / r with g = dy ⊙ weight
Eight rms_norm_dx(const DerivativeInput& in) {
  const double r = rms(in.x);
  const Eight g = times(in.dy, in.weight);
  const double along = dot(g, in.x) / r / kCount;
  Eight dx{};
  for (std::size_t i = 0; i < kEight; ++i) dx[i] = (g[i] - in.x[i] / r * along) / r;
  return dx;
}

// --- LayerNorm: y = weight ⊙ (x − mean) / deviation; a bias does not change dx

struct Normed {
  Eight x_hat{};
  double deviation = 1;
};

Normed normed(const Eight& x) {
  const double mean = sum(x) / kCount;
  Normed made{.x_hat = x};
  for (double& each : made.x_hat) each -= mean;
  made.deviation = std::sqrt(dot(made.x_hat, made.x_hat) / kCount + kNormEpsilon);
  for (double& each : made.x_hat) each /= made.deviation;
  return made;
}

std::vector<double> layer_norm(const DerivativeInput& in) { return all(times(in.weight, normed(in.x).x_hat)); }

// (g − mean(g) − x̂ · mean(g ⊙ x̂)) / deviation
Eight layer_norm_dx(const DerivativeInput& in) {
  const Normed made = normed(in.x);
  const Eight g = times(in.dy, in.weight);
  const double mean = sum(g) / kCount, along = dot(g, made.x_hat) / kCount;
  Eight dx{};
  for (std::size_t i = 0; i < kEight; ++i) dx[i] = (g[i] - mean - made.x_hat[i] * along) / made.deviation;
  return dx;
}

// --- SwiGLU: y = a σ(a) b

double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }

std::vector<double> swiglu(const DerivativeInput& in) {
  std::vector<double> y;
  for (std::size_t i = 0; i < kHalf; ++i) y.push_back(in.x[i] * sigmoid(in.x[i]) * in.x[i + kHalf]);
  return y;
}

// da = dy b (σ + a σ (1 − σ)), db = dy a σ
Eight swiglu_dx(const DerivativeInput& in) {
  Eight dx{};
  for (std::size_t i = 0; i < kHalf; ++i) {
    const double a = in.x[i], b = in.x[i + kHalf], s = sigmoid(a);
    dx[i] = in.dy[i] * b * (s + a * s * (1 - s));
    dx[i + kHalf] = in.dy[i] * a * s;
  }
  return dx;
}

// --- RoPE: rotates the pair (x[j], x[j + D/2]) by position · theta^(−2j/D)

Eight turned(const Eight& x, double position) {
  Eight y{};
  for (std::size_t j = 0; j < kHalf; ++j) {
    const double angle = position * std::pow(kRopeTheta, -2.0 * static_cast<double>(j) / kCount);
    y[j] = x[j] * std::cos(angle) - x[j + kHalf] * std::sin(angle);
    y[j + kHalf] = x[j + kHalf] * std::cos(angle) + x[j] * std::sin(angle);
  }
  return y;
}

std::vector<double> rope(const DerivativeInput& in) { return all(turned(in.x, static_cast<double>(in.position))); }
Eight rope_dx(const DerivativeInput& in) { return turned(in.dy, -static_cast<double>(in.position)); }

// --- cross entropy: y = log Σ exp(x) − x[label], one number

std::vector<double> cross_entropy(const DerivativeInput& in) {
  const double highest = *std::ranges::max_element(in.x);
  double total = 0;
  for (const double each : in.x) total += std::exp(each - highest);
  return {highest + std::log(total) - in.x[in.label]};
}

// softmax − one-hot
Eight cross_entropy_dx(const DerivativeInput& in) {
  const double log_total = cross_entropy(in).front() + in.x[in.label];
  Eight dx{};
  for (std::size_t i = 0; i < kEight; ++i) dx[i] = in.dy[0] * (std::exp(in.x[i] - log_total) - (i == in.label ? 1 : 0));
  return dx;
}

// The gradient of this sum is dx.
double weighted_sum(const Derivative& operation, const DerivativeInput& in) {
  const std::vector<double> y = operation.forward(in);
  double total = 0;
  for (std::size_t i = 0; i < y.size(); ++i) total += in.dy[i] * y[i];
  return total;
}

constexpr Derivative derivative(std::size_t at, std::vector<double> (*forward)(const DerivativeInput&),
                                Eight (*formula)(const DerivativeInput&)) {
  return {kDerivativeNames[at].key, kDerivativeNames[at].label, forward, formula};
}
constexpr std::array<Derivative, kDerivatives> kAll{
    derivative(0, rms_norm, rms_norm_dx), derivative(1, layer_norm, layer_norm_dx), derivative(2, swiglu, swiglu_dx),
    derivative(3, rope, rope_dx), derivative(4, cross_entropy, cross_entropy_dx)};

}  // namespace

const std::array<Derivative, kDerivatives>& derivatives() { return kAll; }

double dot(const Eight& a, const Eight& b) {
  double total = 0;
  for (std::size_t i = 0; i < kEight; ++i) total += a[i] * b[i];
  return total;
}

Eight differences(const Derivative& operation, const DerivativeInput& in, double h) {
  Eight dx{};
  for (std::size_t i = 0; i < kEight; ++i) {
    DerivativeInput above = in, below = in;
    above.x[i] += h;
    below.x[i] -= h;
    dx[i] = (weighted_sum(operation, above) - weighted_sum(operation, below)) / (above.x[i] - below.x[i]);
  }
  return dx;
}

Eight rms_norm_first_term(const DerivativeInput& in) {
  Eight term = times(in.dy, in.weight);
  for (double& each : term) each /= rms(in.x);
  return term;
}

}  // namespace headroom::lessons
