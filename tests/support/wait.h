// Waits for other threads and processes. The limit only ends hanging tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

namespace headroom::tests {

inline constexpr std::chrono::minutes kLongestWait{10};

// Calls `meanwhile` and pauses 1 to 20 ms until the condition holds; false after kLongestWait.
inline bool wait_until(const std::function<bool()>& condition, const std::function<void()>& meanwhile = [] {}) {
  const auto limit = std::chrono::steady_clock::now() + kLongestWait;
  // Pauses grow, so that long waits leave the processor to others.
  constexpr std::chrono::microseconds kShortest(1000), kLongest(20'000);
  for (auto pause = kShortest; !condition(); pause = std::min(kLongest, pause + pause / 8)) {
    if (std::chrono::steady_clock::now() > limit) return false;
    meanwhile();
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace headroom::tests
