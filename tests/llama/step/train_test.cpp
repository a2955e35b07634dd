// The step trains on real text, can be cancelled, and refuses invalid settings.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <thread>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <unistd.h>

#include "demos/engine/experiments/train_step_run.h"
#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/experiments/demo.h"
#include "demos/llama/config.h"
#include "tests/llama/allocation_log.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using experiments::StepResult;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_(std::filesystem::temp_directory_path() / ("headroom_text_" + std::to_string(getpid()))) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("the loss falls on real text") {
  const std::string precision = GENERATE("precision=fp32", "precision=bf16");
  const auto run = make_run({"batch=1", "seq=128", precision}, kCpu);
  run->step(0);
  const double first = run->loss();
  CHECK(first == Approx(std::log(4096.0)).margin(0.3));  // untrained: every id is equally likely
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 1; i < 30; ++i) REQUIRE(run->step(i) == StepResult::kDone);
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin;
  const double last = run->loss();
  std::cout << precision << ": loss " << first << " to " << last << ", " << duration.count() / 29 << " s a step\n";
  CHECK(last < std::log(256.0));  // below the loss of equally likely bytes
  CHECK(last < 0.6 * first);
}

// Processor time, because the machine may be busy, divided by the number of threads: 0.4 to 1 s on two slow cores.
TEST_CASE("a default step takes at most seconds") {
  const auto run = make_run({"steps=4"}, kCpu);
  run->step(0);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 1; i < 4; ++i) {
    const std::clock_t begun = std::clock();
    REQUIRE(run->step(i) == StepResult::kDone);
    const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
    least = std::min(least, seconds / at::get_num_threads());
  }
  std::cout << "tiny, batch 4, seq 256: " << least << " s a step on each of " << at::get_num_threads() << " threads\n";
  CHECK(least < 3);
}

TEST_CASE("equal seeds give equal losses, and other seeds others") {
  const auto loss_after_two = [](const char* seed) { return losses({"seq=32", "batch=1", seed}, 2).back(); };
  const double loss = loss_after_two("seed=1");
  CHECK(loss_after_two("seed=1") == loss);
  CHECK(loss_after_two("seed=2") != loss);
}

TEST_CASE("the seed decides the initial weights") {
  const auto weights = [](std::uint64_t seed) {
    return llama::make_model(*llama::find_config("tiny"), {}, {}, /*seq=*/8, seed).layers[0].q_proj_QH.detach();
  };
  CHECK(at::equal(weights(1), weights(1)));
  CHECK_FALSE(at::equal(weights(1), weights(2)));
  CHECK(weights(1).std().item<double>() == Approx(0.02).epsilon(0.02));
}

TEST_CASE("cancelling ends a step at the next layer and frees every byte") {
  install_allocation_log();
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer");
  struct CancelAtMark final : record::ScopeListener {
    std::atomic<bool> cancel{false};
    int marks_left = 0;
    void on_mark(const record::Tag&, std::int32_t) override { cancel = cancel || --marks_left <= 0; }
    void on_relabel(const void*, record::Category) override {}
  } listener;
  listener.marks_left = 1 << 30;
  const int marks = GENERATE(3, 9, 12);
  CAPTURE(checkpointing, marks);

  record::ScopeListener* const before = record::set_scope_listener(&listener);
  start_log(LoggedDevice::kCpu);
  {
    const auto run = make_run({"seq=32", "batch=1", checkpointing}, kCpu, &listener.cancel);
    listener.marks_left = marks;
    CHECK(run->step(0) == StepResult::kCancelled);
  }
  const std::vector<Allocation> log = stop_log();
  record::set_scope_listener(before);
  record::Bytes live = 0;
  for (const Allocation& a : log) {
    if (a.kind == Allocation::Kind::kAlloc) live += a.bytes;
    if (a.kind == Allocation::Kind::kFree) live -= a.bytes;
  }
  REQUIRE(log.size() > 50);
  CHECK(live == 0);
}

TEST_CASE("cancelling ends the building of a model") {
  const std::atomic<bool> cancel = true;
  CHECK_THROWS_AS(llama::make_model(*llama::find_config("tiny"), {}, {}, /*seq=*/8, /*seed=*/0, &cancel),
                  llama::Cancelled);
  const auto built = run_or_refusal(params({}), kCpu, &cancel);
  REQUIRE_FALSE(built.ok());
  CHECK(contains(built.error().message, "Cancelled"));
}

TEST_CASE("a step that runs out of memory anywhere frees every byte") {
  install_allocation_log();
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer");
  CAPTURE(checkpointing);
  const record::Params p =
      params({"model=custom", "hidden_size=32", "num_layers=2", "num_heads=4", "num_kv_heads=2", "head_dim=8",
              "intermediate_size=48", "vocab_size=256", "batch=1", "seq=16", checkpointing});
  int refusals = 0, leaks = 0;
  for (bool ran_out = true; ran_out; refusals += ran_out) {
    start_log(LoggedDevice::kCpu);
    ran_out = false;
    {
      const auto run = make_run(p, kCpu);
      refuse_allocation(refusals + 1);
      try {
        run->step(0);
      } catch (const c10::OutOfMemoryError&) {
        ran_out = true;
      }
    }
    record::Bytes live = 0;
    for (const Allocation& a : stop_log()) {
      if (a.storage < 0) continue;  // older than the log
      if (a.kind == Allocation::Kind::kAlloc) live += a.bytes;
      if (a.kind == Allocation::Kind::kFree) live -= a.bytes;
    }
    leaks += live != 0;
  }
  CHECK(refusals > 200);
  CHECK(leaks == 0);
}

TEST_CASE("a step cancelled in backward changes no weight and leaves no gradient") {
  struct CancelInBackward final : record::ScopeListener {
    std::atomic<bool> cancel{false};
    void on_mark(const record::Tag& tag, std::int32_t) override {
      cancel = cancel || (tag.phase == record::Phase::kBackward && tag.layer == 1);
    }
    void on_relabel(const void*, record::Category) override {}
  } listener;
  llama::Model model = llama::make_model(*llama::find_config("tiny"), {}, {}, /*seq=*/16, /*seed=*/0);
  llama::AdamW optimizer(llama::parameters(model), {});
  const at::Tensor before = model.lm_head_VH.detach().clone();
  record::ScopeListener* const heard_before = record::set_scope_listener(&listener);
  CHECK_THROWS_AS(llama::train_step(model, optimizer, llama::make_batch("text", 1, 16, 0, 0),
                                    {.cancel = &listener.cancel}, /*index=*/0),
                  llama::Cancelled);
  record::set_scope_listener(heard_before);
  CHECK(at::equal(before, model.lm_head_VH));
  for (const llama::Parameter& parameter : llama::parameters(model)) CHECK_FALSE(parameter.tensor.grad().defined());
}

TEST_CASE("a batch is a piece of the text, and the targets are the next bytes") {
  const std::string text = "abcdefghijklmnopqrstuvwxyz";
  const at::Tensor batch = llama::make_batch(text, 3, 40, /*seed=*/5, /*step=*/7);  // wraps around the text
  CHECK(batch.sizes() == at::IntArrayRef({2, 3, 40}));
  const auto* const ids = batch.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < 3 * 40; ++i) {
    CHECK(ids[120 + i] == 'a' + (ids[i] - 'a' + 1) % 26);
    if (i % 40 > 0) CHECK(ids[i] == ids[120 + i - 1]);
  }
  CHECK_FALSE(at::equal(batch, llama::make_batch(text, 3, 40, 5, 8)));
}

TEST_CASE("an unusable text is refused with its name and the cure") {
  const auto message = [](const std::string& path) {
    const auto run = run_or_refusal(params({"data=" + path}), kCpu);
    REQUIRE_FALSE(run.ok());
    CHECK(run.error().kind == record::ErrorKind::kBadInput);
    CHECK(contains(run.error().message, path));
    return run.error().message;
  };
  CHECK(contains(message("/nowhere/at/all.txt"), "no data file"));
  CHECK(contains(message("/tmp"), "is a folder"));
  const TemporaryFile empty("");
  CHECK(contains(message(empty.path()), "empty"));
  const TemporaryFile latin1("caf\xe9");
  CHECK(contains(message(latin1.path()), "UTF-8"));
}

TEST_CASE("any UTF-8 text can be trained on, however short") {
  const TemporaryFile file("\xc3\xa9");
  const auto run = make_run({"data=" + file.path().string(), "seq=16", "batch=1"}, kCpu);
  CHECK(run->step(0) == StepResult::kDone);
}

TEST_CASE("an impossible shape is refused with the reason") {
  const auto refusal = [](const Settings& settings) {
    const auto run = run_or_refusal(params(joined(settings, {"model=custom"})), kCpu);
    REQUIRE_FALSE(run.ok());
    CHECK(run.error().kind == record::ErrorKind::kRefused);
    return run.error().message;
  };
  CHECK(contains(refusal({"num_heads=8", "num_kv_heads=3"}), "num_kv_heads=3"));
  CHECK(contains(refusal({"head_dim=12"}), "head_dim=12"));
  CHECK(contains(refusal({"vocab_size=100"}), "vocab_size=100"));
}

TEST_CASE("published shapes have their published numbers of parameters") {
  CHECK(llama::num_parameters(*llama::find_config("llama-3.2-1b")) == 1'235'814'400);
  CHECK(llama::num_parameters(*llama::find_config("llama-3.2-3b")) == 3'212'749'824);
  CHECK(llama::num_parameters(*llama::find_config("llama-3-8b")) == 8'030'261'248);
  for (const llama::Config& config : llama::published_configs()) CHECK(llama::check(config).ok());
  const record::Params defaults(experiments::find_demo("train_step")->schema);
  for (const record::Choice& choice : defaults.schema()[0].choices) {
    CHECK((choice.key == "custom" || llama::find_config(choice.key) != nullptr));
  }
}

TEST_CASE("a target outside the vocabulary fails when the loss is read") {
  const at::Tensor loss = at::scalar_tensor(2.5), flag = at::zeros({1}, at::kLong);
  const at::Tensor targets_BT = at::arange(8).view({2, 4}) + 252;  // 256 in row 4
  CHECK(llama::read_loss(loss, flag, targets_BT, 256) == 2.5);
  CHECK(llama::read_loss(loss, {}, targets_BT, 256) == 2.5);
  flag.fill_(5);  // 1 + row
  std::string said;
  try {
    llama::read_loss(loss, flag, targets_BT, 256);
  } catch (const c10::Error& error) {
    said = error.what_without_backtrace();
  }
  CHECK(said == "The loss of this step is wrong: target 256 in row 4 is outside the vocabulary of 256.");
}
