// Host memory of offload: allocation, reports, and refusals.
#include <map>
#include <string>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/host_arena.h"
#include "demos/record/scope.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using llama::HostArena;
using llama::HostPages;

class Heard final : public record::ScopeListener {
 public:
  Heard() : before_(record::set_scope_listener(this)) {}
  ~Heard() override { record::set_scope_listener(before_); }
  void on_mark(const record::Tag&, std::int32_t) override {}
  void on_relabel(const void*, record::Category) override {}
  void on_host_alloc(const void* block, record::Bytes bytes) override {
    CHECK(live.emplace(block, bytes).second);
    last = record::current_tag();
  }
  void on_host_free(const void* block) override { CHECK(live.erase(block) == 1); }

  record::Bytes bytes() const {
    record::Bytes sum = 0;
    for (const auto& [block, size] : live) sum += size;
    return sum;
  }

  std::map<const void*, record::Bytes> live;
  record::Tag last;

 private:
  record::ScopeListener* before_;
};

}  // namespace

TEST_CASE("a host block has exactly its bytes, is reported under its tag, and is freed with its tensor") {
  const at::Device device = GENERATE(at::Device(at::kCPU), at::Device(at::kMeta));
  CAPTURE(device);
  const Heard heard;
  at::Tensor kept;
  {
    HostArena arena(device);
    const record::Scope scope(record::Category::kOptimizerState, record::intern_operator("host_arena_test"));
    const at::Tensor a = arena.empty({3, 5}, at::kBFloat16, HostPages::kPageable);
    kept = arena.empty({1000}, at::kFloat, HostPages::kLocked);
    CHECK(a.device() == device);
    CHECK(a.sizes() == at::IntArrayRef({3, 5}));
    CHECK(a.is_contiguous());
    CHECK(heard.live.size() == 2);
    CHECK(heard.bytes() == 3 * 5 * 2 + 1000 * 4);
    CHECK(arena.bytes() == heard.bytes());
    CHECK(heard.last.category == record::Category::kOptimizerState);
    CHECK(record::operator_name(heard.last.op) == "host_arena_test");
  }
  CHECK(heard.bytes() == 4000);  // `kept` outlives the arena
  if (device.is_cpu()) {
    kept.fill_(2);
    CHECK(kept.sum().item<double>() == 2000);
  }
  kept = at::Tensor();
  CHECK(heard.live.empty());
}

TEST_CASE("a lack of page-locked memory is reported once, and the run continues with pageable memory") {
  int asked = 0, unlocked = 0;
  static int* counter = nullptr;
  counter = &unlocked;
  HostArena arena(at::kCPU, 0,
                  {.lock = [&](void*, std::size_t) { return ++asked == 1; }, .unlock = [](void*) { ++*counter; }});
  {
    const at::Tensor locked = arena.empty({10}, at::kFloat, HostPages::kLocked);
    CHECK(arena.trouble().empty());
    const at::Tensor refused = arena.empty({10}, at::kFloat, HostPages::kLocked);
    CHECK(arena.trouble().find("Host memory is too small for page-locked buffers") == 0);
    const at::Tensor pageable = arena.empty({10}, at::kFloat, HostPages::kPageable);
    const at::Tensor after = arena.empty({10}, at::kFloat, HostPages::kLocked);
    CHECK(asked == 2);  // not asked again after a refusal
    CHECK(after.fill_(1).sum().item<double>() == 10);
  }
  CHECK(unlocked == 1);
}

TEST_CASE("more than the host's memory is refused in a sentence before an allocation") {
  HostArena arena(at::kCPU, /*most=*/3 * record::kMiB);
  at::Tensor first = arena.empty({2 << 20}, at::kByte, HostPages::kPageable);
  try {
    arena.empty({2 << 20}, at::kByte, HostPages::kPageable);
    FAIL("4 MiB of 3 were given");
  } catch (const llama::HostMemoryFull& full) {
    CHECK(std::string(full.what()) ==
          "This run's data on the host need 4.00 MiB of memory, but this machine has only 3.00 MiB.");
  }
  CHECK(arena.bytes() == 2 << 20);
  first = at::Tensor();
  CHECK(arena.empty({3 << 20}, at::kByte, HostPages::kPageable).defined());
}
