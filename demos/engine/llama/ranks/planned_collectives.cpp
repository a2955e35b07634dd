// Collectives that only report their calls.
#include <utility>

#include "demos/engine/llama/ranks/collectives.h"

namespace headroom::llama {
namespace {

class PlannedCollectives final : public Collectives {
 public:
  PlannedCollectives(int rank, int ranks, Axis axis, CollectiveListener listener)
      : Collectives(rank, ranks, axis, std::move(listener)) {}

 private:
  void run(const Call&, IssuedCollective&) override {}
  void run(const Exchange&, IssuedCollective&, IssuedCollective&) override {}
};

}  // namespace

std::unique_ptr<Collectives> make_planned_collectives(int rank, int ranks, Axis axis, CollectiveListener listener) {
  return std::make_unique<PlannedCollectives>(rank, ranks, axis, std::move(listener));
}

}  // namespace headroom::llama
