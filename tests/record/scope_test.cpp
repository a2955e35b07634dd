// Tags of threads, operators and marks.
#include "demos/record/scope.h"

#include <future>
#include <thread>
#include <vector>

#include "tests/support/catch.h"

using namespace headroom::record;

namespace {

bool same(const Tag& a, const Tag& b) { return a.pack() == b.pack(); }

// In a new thread, so that no tag remains.
template <class Body>
void in_new_thread(Body body) {
  std::thread(body).join();
}

struct Heard : ScopeListener {
  std::vector<std::pair<Tag, std::int32_t>> marks;
  std::vector<std::pair<const void*, Category>> relabels;
  void on_mark(const Tag& tag, std::int32_t step) override { marks.emplace_back(tag, step); }
  void on_relabel(const void* data, Category category) override { relabels.emplace_back(data, category); }
};

}  // namespace

TEST_CASE("a tag with extreme values survives packing") {
  const Tag highest{.phase = Phase::kEvaluation,
                    .category = Category::kOther,
                    .layer = kNoLayer,
                    .micro_batch = 0x0fff,
                    .op = 0xffff,
                    .stream = 0xff};
  const Tag lowest{
      .phase = Phase::kSetup, .category = Category::kWeights, .layer = 0, .micro_batch = 0, .op = 0, .stream = 0};
  for (const Tag& tag : {highest, lowest}) {
    const Tag again = Tag::unpack(tag.pack());
    CHECK(again.phase == tag.phase);
    CHECK(again.category == tag.category);
    CHECK(again.layer == tag.layer);
    CHECK(again.micro_batch == tag.micro_batch);
    CHECK(again.op == tag.op);
    CHECK(again.stream == tag.stream);
  }
}

TEST_CASE("scopes nest and restore the previous tag") {
  in_new_thread([] {
    const std::uint16_t op = intern_operator("scope_test.op");
    const Tag before = current_tag();
    CHECK(before.category == Category::kOther);
    CHECK(before.layer == kNoLayer);
    {
      const Scope outer(Category::kActivations);
      CHECK(current_tag().category == Category::kActivations);
      {
        const Scope inner(Category::kWorkspace, op);
        CHECK(current_tag().category == Category::kWorkspace);
        CHECK(current_tag().op == op);
      }
      CHECK(current_tag().category == Category::kActivations);
      CHECK(current_tag().op == kNoOperator);
      const Scope all(Tag{
          .phase = Phase::kLoss, .category = Category::kLogits, .layer = 3, .micro_batch = 1, .op = op, .stream = 2});
      CHECK(current_tag().layer == 3);
      CHECK(current_tag().stream == 2);
    }
    CHECK(same(current_tag(), before));
  });
}

TEST_CASE("a mark made inside a scope stays when the scope ends") {
  in_new_thread([] {
    {
      const Scope scope(Category::kGradients);
      mark(Phase::kBackward, 7, 2);
      CHECK(current_tag().category == Category::kGradients);
    }
    CHECK(current_tag().phase == Phase::kBackward);
    CHECK(current_tag().layer == 7);
    CHECK(current_tag().micro_batch == 2);
    CHECK(current_tag().category == Category::kOther);
  });
}

TEST_CASE("threads without a tag borrow the worker's") {
  in_new_thread([] {
    become_worker_thread();
    mark(Phase::kBackward, 5);
    const Scope scope(Category::kActivations);
    in_new_thread([] {
      CHECK(current_tag().phase == Phase::kBackward);
      CHECK(current_tag().layer == 5);
      CHECK(current_tag().category == Category::kActivations);
      {
        const Scope own(Category::kWorkspace);
        CHECK(current_tag().layer == 5);
        CHECK(current_tag().category == Category::kWorkspace);
      }
      CHECK(current_tag().category == Category::kActivations);
    });
    CHECK(current_tag().category == Category::kActivations);  // the helper's scope does not affect the worker
    mark(Phase::kOptimizer);
    in_new_thread([] { CHECK(current_tag().phase == Phase::kOptimizer); });
  });
}

TEST_CASE("a thread whose scopes have ended borrows again") {
  in_new_thread([] {
    become_worker_thread();
    mark(Phase::kForward);
    std::promise<void> scope_ended, worker_moved;
    std::thread helper([&] {
      { const Scope own(Category::kWorkspace); }
      scope_ended.set_value();
      worker_moved.get_future().wait();
      CHECK(current_tag().phase == Phase::kBackward);
      mark(Phase::kLoss);
      { const Scope own(Category::kWorkspace); }
      CHECK(current_tag().phase == Phase::kLoss);
    });
    scope_ended.get_future().wait();
    mark(Phase::kBackward);
    worker_moved.set_value();
    helper.join();
    CHECK(current_tag().phase == Phase::kBackward);
  });
}

TEST_CASE("operators have one number each for the whole process") {
  const std::uint16_t first = intern_operator("scope_test.first");
  const std::uint16_t second = intern_operator("scope_test.second");
  CHECK(first != second);
  CHECK(first != kNoOperator);
  CHECK(intern_operator("scope_test.first") == first);
  CHECK(operator_name(second) == "scope_test.second");
  CHECK(intern_operator("") == kNoOperator);
  CHECK(operator_name(kNoOperator).empty());
  CHECK(operator_count() >= second);
  CHECK(operator_name(operator_count()) != "");
  CHECK(operator_name(static_cast<std::uint16_t>(operator_count() + 1)).empty());
}

TEST_CASE("the listener receives marks with their step, and relabels") {
  in_new_thread([] {
    Heard heard;
    set_scope_listener(&heard);
    mark_step(3);
    mark(Phase::kForward, 1);
    mark_step(-1);
    const int storage = 0;
    relabel(&storage, Category::kGradients);
    set_scope_listener(nullptr);
    mark(Phase::kLoss);
    REQUIRE(heard.marks.size() == 3);
    CHECK(heard.marks[0].second == 3);
    CHECK(heard.marks[0].first.phase == Phase::kSetup);
    CHECK(heard.marks[1].second == 3);
    CHECK(heard.marks[1].first.phase == Phase::kForward);
    CHECK(heard.marks[1].first.layer == 1);
    CHECK(heard.marks[2].second == -1);
    CHECK(heard.marks[2].first.layer == kNoLayer);
    REQUIRE(heard.relabels.size() == 1);
    CHECK(heard.relabels[0].first == &storage);
    CHECK(heard.relabels[0].second == Category::kGradients);
  });
}
