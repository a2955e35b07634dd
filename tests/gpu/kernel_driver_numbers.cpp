// Reads a kernel's results on the host.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/storage_cpu.h"
#include "tests/gpu/kernel_driver.h"

namespace headroom::tests {

std::vector<char> DeviceBuffer::bits(std::int64_t begin) const {
  std::vector<char> bytes(static_cast<std::size_t>(bytes_ - begin));
  cudaMemcpy(bytes.data(), as<char>() + begin, bytes.size(), cudaMemcpyDeviceToHost);
  return bytes;
}

std::vector<double> DeviceBuffer::numbers(kernels::Storage storage, std::int64_t begin) const {
  const std::vector<char> bytes = bits(begin);
  std::vector<double> values;
  kernels::with_storage(storage, [&](auto type) {
    using T = decltype(type);
    std::vector<T> elements(bytes.size() / sizeof(T));
    std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
    for (const T element : elements) values.push_back(static_cast<double>(kernels::load(element)));
  });
  return values;
}

void KernelDriver::expect_near(const std::string& name, const std::vector<double>& values,
                               const std::vector<double>& expected, double most) {
  double worst = 0, largest = 1e-2;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = i < values.size() ? std::abs(values[i] - expected[i]) : INFINITY;
    worst = std::isnan(off) ? INFINITY : std::max(worst, off);
    largest = std::max(largest, std::abs(expected[i]));
  }
  if (worst > most * largest) fail(name, "error " + std::to_string(worst / largest));
}

void KernelDriver::expect_finite(const std::string& name, const std::vector<double>& values) {
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
    fail(name, "not all was written");
}

}  // namespace headroom::tests
