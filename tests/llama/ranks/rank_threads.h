// Ranks as threads of one process, connected by gloo.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "demos/engine/llama/ranks/collectives.h"
#include "tests/support/temporary_folder.h"

namespace headroom::tests {

inline protocol::RankPlace place_in(const std::string& folder, int rank, int ranks) {
  return {.rank = rank, .ranks = ranks, .local_rank = rank, .local_ranks = ranks, .store = folder};
}

// Runs `body` in a thread per rank and returns the results by rank. Throws the first rank's exception.
template <class Value>
std::vector<Value> in_threads(int ranks, const std::function<Value(int rank)>& body) {
  std::vector<Value> results(static_cast<std::size_t>(ranks));
  std::vector<std::exception_ptr> errors(results.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        results[static_cast<std::size_t>(rank)] = body(rank);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return results;
}

// The same with collectives of each rank.
template <class Value>
std::vector<Value> on_ranks(
    int ranks, const std::function<Value(llama::Collectives&)>& body,
    const std::function<llama::CollectiveOptions(int)>& options_of = [](int) { return llama::CollectiveOptions{}; }) {
  const TemporaryFolder folder;
  return in_threads<Value>(ranks, [&](int rank) {
    const auto collectives =
        llama::make_gloo_collectives(place_in(folder.path().string(), rank, ranks), options_of(rank));
    return body(*collectives);
  });
}

}  // namespace headroom::tests
