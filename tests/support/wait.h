// Waiting for what another thread or process does. The limit only ends a test that would hang: no test is about its length.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace headroom::tests {

inline constexpr std::chrono::minutes kLongestWait{10};

// Calls `meanwhile`, then pauses for 1 ms, until the condition holds; false after kLongestWait.
inline bool wait_until(const std::function<bool()>& condition, const std::function<void()>& meanwhile = [] {}) {
  const auto limit = std::chrono::steady_clock::now() + kLongestWait;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    meanwhile();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace headroom::tests
