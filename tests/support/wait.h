// Waiting for what another thread or process does. The limit only ends a test that would hang: no test is about its length.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

namespace headroom::tests {

inline constexpr std::chrono::minutes kLongestWait{10};

// Calls `meanwhile`, then pauses for 1 to 20 ms, until the condition holds; false after kLongestWait.
inline bool wait_until(const std::function<bool()>& condition, const std::function<void()>& meanwhile = [] {}) {
  const auto limit = std::chrono::steady_clock::now() + kLongestWait;
  // Soon after a short wait; a long one leaves the processor to what it waits for.
  constexpr std::chrono::microseconds kShortest(1000), kLongest(20'000);
  for (auto pause = kShortest; !condition(); pause = std::min(kLongest, pause + pause / 8)) {
    if (std::chrono::steady_clock::now() > limit) return false;
    meanwhile();
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace headroom::tests
