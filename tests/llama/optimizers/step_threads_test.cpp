// The CPU optimizer's threads: each part runs once, before its successors, and other threads are unaffected.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <ATen/Parallel.h>

#include "demos/engine/llama/optimizers/step_threads.h"
#include "tests/support/catch.h"

namespace {

using headroom::llama::StepThreads;

}  // namespace

TEST_CASE("each part runs once, and the follow-up runs after all parts") {
  StepThreads threads(3);
  constexpr std::int64_t kParts = 500;
  std::vector<std::atomic<int>> done(kParts);
  std::atomic<int> seen_by_first = 0, seen_by_second = 0;
  const auto part = [&](std::size_t, std::int64_t i) { ++done[static_cast<std::size_t>(i)]; };
  const auto all = [&] {
    int sum = 0;
    for (const auto& one : done) sum += one;
    return sum;
  };
  threads.share(kParts, part, [&] {
    seen_by_first = all();
    threads.share(kParts, part, [&] { seen_by_second = all(); });
  });
  threads.wait();
  CHECK(seen_by_first == kParts);
  CHECK(seen_by_second == 2 * kParts);
  for (const auto& one : done) CHECK(one == 2);
}

TEST_CASE("later work does not wait for a slow part") {
  StepThreads threads(2);
  std::atomic<bool> later = false, first_saw_later = false;
  threads.share(1, [&](std::size_t, std::int64_t) {
    for (int i = 0; i < 300'000 && !later; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    first_saw_later = later.load();
  });
  threads.share(1, [&](std::size_t, std::int64_t) { later = true; });
  threads.wait();
  CHECK(first_saw_later);
}

TEST_CASE("a part runs PyTorch's loops on one thread without affecting other threads") {
  const int before = at::get_num_threads();
  at::set_num_threads(7);
  std::mutex mutex;
  std::set<std::size_t> numbers;
  int most = 0, later = 0;
  {
    StepThreads threads(2 * StepThreads::kMost);
    threads.share(1000, [&](std::size_t thread, std::int64_t) {
      const std::lock_guard lock(mutex);
      numbers.insert(thread);
      most = std::max(most, at::get_num_threads());
    });
    threads.wait();
  }
  std::thread([&later] { later = at::get_num_threads(); }).join();
  CHECK(most == 1);
  CHECK(*numbers.rbegin() < StepThreads::kMost);
  CHECK(at::get_num_threads() == 7);
  CHECK(later == 7);
  at::set_num_threads(before);
}

TEST_CASE("an exception of a part is thrown by wait(), and later parts do not run") {
  StepThreads threads(1);
  std::atomic<int> done = 0;
  bool followed = false;
  threads.share(
      10,
      [&](std::size_t, std::int64_t i) {
        if (i == 4) throw std::runtime_error("the fifth");
        ++done;
      },
      [&] { followed = true; });
  CHECK_THROWS_WITH(threads.wait(), "the fifth");
  threads.share(1, [&](std::size_t, std::int64_t) { ++done; });
  CHECK_THROWS_WITH(threads.wait(), "the fifth");
  CHECK(done == 4);
  CHECK_FALSE(followed);
}
