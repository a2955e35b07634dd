// The contract of collectives, with ranks as threads over gloo.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <functional>
#include <latch>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "demos/engine/llama/ranks/collectives.h"
#include "demos/engine/llama/ranks/ring_sum.h"
#include "tests/llama/allocation_log.h"
#include "tests/llama/ranks/rank_threads.h"
#include "tests/llama/ranks/rank_values.h"
#include "tests/support/catch.h"

using namespace headroom;
using llama::CollectiveKind;
using llama::CollectiveOptions;
using llama::Collectives;
using llama::IssuedCollective;
using llama::Sliced;
using namespace std::chrono_literals;

namespace {

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const llama::CollectiveError& error) {
    return error.what();
  }
  return "";
}

// Collectives of every kind under different tags.
void issue_all_kinds(Collectives& collectives, at::Device device) {
  const auto options = at::device(device).dtype(at::kFloat);
  const int ranks = collectives.ranks();
  const std::vector<at::Tensor> group{at::zeros({5}, options), at::zeros({2, 3}, options.dtype(at::kBFloat16))};
  const Sliced whole = tests::sliced(at::zeros({ranks * 6}, options), collectives.rank(), ranks, true);
  const std::vector<Sliced> slices{whole, tests::sliced(whole.whole, collectives.rank(), ranks, false)};
  {
    const record::Scope scope(record::Tag{.phase = record::Phase::kForward, .layer = 3, .micro_batch = 1});
    collectives.all_gather(slices);
    collectives.all_gather({});  // none
    collectives.broadcast(group, 1);
  }
  const record::Scope scope(record::Tag{.phase = record::Phase::kBackward, .layer = 2});
  collectives.reduce_scatter({&whole, 1});
  collectives.all_reduce(group);
  collectives.barrier();
  const int next = (collectives.rank() + 1) % ranks, previous = (collectives.rank() + ranks - 1) % ranks;
  collectives.exchange({.send = group[0], .to = next, .receive = at::zeros_like(group[0]), .from = previous});
}

std::vector<std::string> texts(const std::vector<IssuedCollective>& list) {
  std::vector<std::string> result;
  for (const IssuedCollective& each : list)
    result.push_back(std::string(label_of(each.kind)) + " " + std::to_string(each.sequence) + ": " +
                     std::to_string(each.bytes) + " B, " + std::string(record::label_of(each.tag.phase)) + ", layer " +
                     std::to_string(each.tag.layer) + ", micro-batch " + std::to_string(each.tag.micro_batch));
  return result;
}

int free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(listener);
  return ntohs(address.sin_port);
}

}  // namespace

TEST_CASE("collectives give exact values on 2 to 8 ranks") {
  for (const int ranks : {2, 3, 4, 8}) {
    for (const bool in_place : {true, false}) {
      for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        const std::vector<int> right = tests::on_ranks<int>(ranks, [&](Collectives& collectives) {
          return tests::values_are_right(collectives, at::dtype(type), in_place) ? 1 : 0;
        });
        INFO(ranks << " ranks, " << c10::toString(type) << (in_place ? ", in place" : ", separate"));
        CHECK(std::accumulate(right.begin(), right.end(), 0) == ranks);
      }
    }
  }
}

TEST_CASE("collectives run in the order of their calls") {
  constexpr int kRanks = 3, kRounds = 20;
  const auto results = tests::on_ranks<at::Tensor>(kRanks, [](Collectives& collectives) {
    // Each round triples the whole tensor: a sum of equal slices, then a gather.
    const Sliced tensor = tests::sliced(at::ones({kRanks * 4}, at::kDouble), collectives.rank(), kRanks, true);
    for (int round = 0; round < kRounds; ++round) {
      collectives.reduce_scatter({&tensor, 1});
      collectives.all_gather({&tensor, 1});
    }
    return tensor.whole;
  });
  for (const at::Tensor& whole : results)
    CHECK(at::equal(whole, at::full({kRanks * 4}, std::pow(3.0, kRounds), at::kDouble)));
}

TEST_CASE("a separate slice is not changed by a gather, nor a root by its broadcast") {
  tests::on_ranks<int>(2, [](Collectives& collectives) {
    const at::Tensor slice = tests::numbers(collectives.rank(), 9, at::kFloat);
    const at::Tensor before = slice.clone();
    const Sliced tensor{.whole = at::zeros({18}), .slice = slice};
    collectives.all_gather({&tensor, 1});
    collectives.broadcast({&slice, 1}, 0);
    const at::Tensor expected = collectives.rank() == 0 ? before : tests::numbers(0, 9, at::kFloat);
    if (!at::equal(slice, expected)) throw std::runtime_error("a source was changed");
    return 0;
  });
}

TEST_CASE("a barrier waits for all ranks") {
  std::atomic<int> arrived{0};
  const std::vector<int> seen = tests::on_ranks<int>(4, [&](Collectives& collectives) {
    ++arrived;
    collectives.barrier();
    return arrived.load();
  });
  CHECK(seen == std::vector<int>(4, 4));
}

TEST_CASE("planned collectives on meta report what gloo reports") {
  constexpr int kRanks = 3;
  std::vector<std::vector<IssuedCollective>> heard(kRanks);
  tests::on_ranks<int>(
      kRanks,
      [](Collectives& collectives) {
        issue_all_kinds(collectives, at::kCPU);
        return 0;
      },
      [&](int rank) {
        const auto hears = [&heard, rank](IssuedCollective issued) {
          heard[static_cast<std::size_t>(rank)].push_back(std::move(issued));
        };
        return CollectiveOptions{.listener = {.issued = hears}};
      });
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<IssuedCollective> planned;
    const auto collectives = llama::make_planned_collectives(
        rank, kRanks, record::Axis::kShards,
        {.issued = [&](IssuedCollective issued) { planned.push_back(std::move(issued)); }});
    issue_all_kinds(*collectives, at::kMeta);
    CHECK(texts(planned) == texts(heard[static_cast<std::size_t>(rank)]));
    for (const IssuedCollective& each : planned) CHECK((each.begin == each.issued && each.end == each.issued));
  }
  CHECK(texts(heard[1]) == std::vector<std::string>{
                               "all-gather 0: 144 B, forward, layer 3, micro-batch 1",
                               "broadcast 1: 32 B, forward, layer 3, micro-batch 1",
                               "reduce-scatter 2: 72 B, backward, layer 2, micro-batch 0",
                               "all-reduce 3: 32 B, backward, layer 2, micro-batch 0",
                               "barrier 4: 0 B, backward, layer 2, micro-batch 0",
                               "send 5: 20 B, backward, layer 2, micro-batch 0",
                               "receive 6: 20 B, backward, layer 2, micro-batch 0",
                           });
  for (const IssuedCollective& each : heard[1]) CHECK((each.issued <= each.begin && each.begin < each.end));
}

TEST_CASE("collectives allocate no tensor") {
  constexpr int kRanks = 3;
  tests::install_allocation_log();
  for (const bool in_place : {true, false}) {
    int turn = 0;
    std::vector<tests::Allocation> log;
    // The last thread at each turn starts or ends the log.
    std::barrier turns(kRanks, [&]() noexcept {
      if (turn++ % 2 == 0)
        tests::start_log(tests::LoggedDevice::kCpu);
      else
        log = tests::stop_log();
    });
    tests::on_ranks<int>(kRanks, [&](Collectives& collectives) {
      const at::Tensor whole = at::ones({kRanks * 5000});
      const Sliced tensor = tests::sliced(whole, collectives.rank(), kRanks, in_place);
      const std::vector<at::Tensor> group{at::ones({3000}), at::ones({7}, at::kBFloat16)};
      const at::Tensor arriving = at::zeros({3000});
      turns.arrive_and_wait();
      collectives.all_reduce(group);
      collectives.broadcast(group, 1);
      collectives.reduce_scatter({&tensor, 1});
      collectives.all_gather({&tensor, 1});
      const int next = (collectives.rank() + 1) % kRanks, previous = (collectives.rank() + kRanks - 1) % kRanks;
      collectives.exchange({.send = group[0], .to = next, .receive = arriving, .from = previous});
      collectives.barrier();
      turns.arrive_and_wait();
      return 0;
    });
    INFO((log.empty() ? "" : to_string(log.front())));
    CHECK(log.empty());
  }
}

TEST_CASE("ranks that were not started alike are refused, and the difference is named") {
  const tests::TemporaryFolder folder;
  const std::vector<std::map<std::string, std::string>> alike{
      {{"zero", "3"}, {"seq", "64"}}, {{"zero", "3"}, {"seq", "64"}}, {{"zero", "2"}, {"seq", "64"}}};
  const std::vector<std::string> errors = tests::in_threads<std::string>(3, [&](int rank) -> std::string {
    const CollectiveOptions options{.alike = alike[static_cast<std::size_t>(rank)]};
    try {
      llama::make_gloo_collectives(tests::place_in(folder.path().string(), rank, 3), options);
    } catch (const llama::CollectiveError& error) {
      return error.what();
    }
    return "";
  });
  for (const std::string& error : errors)
    CHECK(error == "Rank 2 has zero=2, but the first rank has 3: start all ranks with the same program and settings.");
}

TEST_CASE("a ring of sends and receives sums what all ranks have, in pieces of any size") {
  for (const int ranks : {2, 3, 4, 8}) {
    for (const std::int64_t elements : {std::int64_t{8}, std::int64_t{1000}, std::int64_t{100'003}}) {
      INFO(ranks << " ranks, " << elements << " elements");
      std::vector<std::vector<CollectiveKind>> heard(static_cast<std::size_t>(ranks));
      std::vector<record::Bytes> sent(heard.size(), 0);
      const std::vector<int> right = tests::on_ranks<int>(
          ranks,
          [&](Collectives& collectives) {
            const at::Tensor buffer = tests::numbers(collectives.rank(), elements, at::kFloat);
            llama::ring_sum(collectives, buffer, at::zeros({llama::ring_scratch(elements, ranks)}));
            return at::equal(buffer, tests::sum_of_numbers(ranks, elements, at::kFloat)) ? 1 : 0;
          },
          [&](int rank) {
            const auto hears = [&, rank](const IssuedCollective& issued) {
              const auto at = static_cast<std::size_t>(rank);
              heard[at].push_back(issued.kind);
              if (issued.kind == CollectiveKind::kSend) sent[at] += issued.bytes;
            };
            return CollectiveOptions{.listener = {.issued = hears}};
          });
      CHECK(std::accumulate(right.begin(), right.end(), 0) == ranks);
      for (const std::vector<CollectiveKind>& kinds : heard) {
        CHECK(kinds.size() == static_cast<std::size_t>(4 * (ranks - 1)));
        CHECK(std::count(kinds.begin(), kinds.end(), CollectiveKind::kSend) == 2 * (ranks - 1));
      }
      // Together the ranks send each byte 2 (N - 1) times.
      CHECK(std::accumulate(sent.begin(), sent.end(), record::Bytes{0}) == 2 * (ranks - 1) * 4 * elements);
    }
  }
}

TEST_CASE("an exchange that cannot work is refused") {
  const auto collectives = llama::make_planned_collectives(1, 3, record::Axis::kData, {});
  const at::Tensor tensor = at::zeros({4}), other = at::zeros({4}), strided = at::zeros({8}).slice(0, 0, 8, 2);
  CHECK_NOTHROW(collectives->exchange({.send = tensor, .to = 2, .receive = other, .from = 0}));
  CHECK_NOTHROW(collectives->exchange({.send = tensor, .to = 2, .receive = other, .from = 2}));
  for (const llama::Exchange& wrong : {llama::Exchange{.send = tensor, .to = 1, .receive = other, .from = 0},
                                       llama::Exchange{.send = tensor, .to = 3, .receive = other, .from = 0},
                                       llama::Exchange{.send = tensor, .to = 2, .receive = tensor, .from = 0},
                                       llama::Exchange{.send = strided, .to = 2, .receive = other, .from = 0}})
    CHECK_THROWS_AS(collectives->exchange(wrong), c10::Error);
  CHECK_THROWS_AS(llama::ring_sum(*collectives, at::zeros({2}), at::zeros({1})), c10::Error);
}

TEST_CASE("tensors that do not fit their slices are refused") {
  const auto collectives = llama::make_planned_collectives(1, 3, record::Axis::kShards, {});
  const auto refused = [&](const at::Tensor& whole, const at::Tensor& slice) {
    const Sliced tensor{.whole = whole, .slice = slice};
    CHECK_THROWS_AS(collectives->all_gather({&tensor, 1}), c10::Error);
    CHECK_THROWS_AS(collectives->reduce_scatter({&tensor, 1}), c10::Error);
  };
  const at::Tensor arena = at::zeros({30});
  const at::Tensor whole = arena.narrow(0, 6, 12);
  refused(whole, at::zeros({3}));
  refused(whole, at::zeros({4}, at::kHalf));
  refused(whole, at::zeros({2, 2}));
  refused(at::zeros({4, 3}), at::zeros({4}));
  refused(arena.slice(0, 0, 24, 2), at::zeros({4}));
  refused(whole, whole.narrow(0, 0, 4));  // rank 0's place
  refused(whole, whole.narrow(0, 5, 4));
  refused(whole, arena.narrow(0, 3, 4));  // half outside
  for (const at::Tensor& slice : {whole.narrow(0, 4, 4), arena.narrow(0, 2, 4), arena.narrow(0, 18, 4)}) {
    const Sliced tensor{.whole = whole, .slice = slice};
    CHECK_NOTHROW(collectives->all_gather({&tensor, 1}));
  }
  const at::Tensor strided = arena.slice(0, 0, 30, 2);
  CHECK_THROWS_AS(collectives->all_reduce({&strided, 1}), c10::Error);
  CHECK_THROWS_AS(collectives->broadcast({&whole, 1}, 3), c10::Error);
  CHECK_THROWS_AS(llama::make_planned_collectives(3, 3, record::Axis::kShards, {}), c10::Error);
}

TEST_CASE("ranks on one host can meet at an address, several times") {
  const int port = free_port();
  const std::vector<int> right = tests::in_threads<int>(2, [&](int rank) {
    const protocol::RankPlace place{.rank = rank, .ranks = 2, .local_ranks = 2, .address = "127.0.0.1", .port = port};
    const auto first = llama::make_gloo_collectives(place, {.group = "first"});
    const auto second = llama::make_gloo_collectives(place, {.group = "second"});
    return tests::values_are_right(*first, at::kFloat, true) && tests::values_are_right(*second, at::kFloat, true);
  });
  CHECK(right == std::vector<int>{1, 1});
}

TEST_CASE("a rank that does not answer ends a collective with one sentence") {
  std::latch joined(2), failed(1);
  const std::vector<std::string> messages = tests::on_ranks<std::string>(
      2,
      [&](Collectives& collectives) -> std::string {
        joined.arrive_and_wait();
        if (collectives.rank() == 1) {
          failed.wait();
          return "";
        }
        const record::Scope scope(record::Tag{.phase = record::Phase::kBackward, .layer = 7});
        const at::Tensor tensor = at::ones({4});
        const std::string message = message_of([&] { collectives.all_reduce({&tensor, 1}); });
        failed.count_down();
        return message;
      },
      [](int) { return CollectiveOptions{.timeout = 200ms}; });
  CHECK(messages[0] ==
        "Rank 0 could not finish all-reduce 0 (backward, layer 7): another rank did not answer in time.");
}

TEST_CASE("a rank that stays alone ends with one sentence") {
  const tests::TemporaryFolder folder;
  const CollectiveOptions impatient{.start_timeout = 200ms};
  CHECK(message_of([&] { llama::make_gloo_collectives(tests::place_in(folder.path().string(), 0, 2), impatient); }) ==
        "Rank 0 of 2 could not meet the others in the folder " + folder.path().string() +
            ": another rank did not answer in time.");
  const int port = free_port();
  CHECK(message_of([&] {
          llama::make_gloo_collectives({.rank = 1, .ranks = 2, .address = "127.0.0.1", .port = port}, impatient);
        }) == "Rank 1 of 2 could not meet the others at 127.0.0.1:" + std::to_string(port) +
                  ": another rank did not answer in time.");
}
