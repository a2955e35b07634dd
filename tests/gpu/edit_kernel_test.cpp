// Kernels written by readers, on a GPU: right, wrong, out of bounds, crashing and endless.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "demos/backend/backend.h"
#include "tests/experiments/edited_run.h"

namespace {

using namespace headroom;
using namespace std::chrono_literals;
using record::KernelVerdict;
using record::OutcomeKind;
using tests::EditedRun;
using tests::source_of;
using tests::with;
using Clock = std::chrono::steady_clock;
using Settings = std::map<std::string, std::string>;

EditedRun on_gpu(Settings settings) {
  settings.insert({{"rows", "1000"}, {"width", "1024"}});
  return tests::run_edited(settings, c10::Device(c10::kCUDA, 0));
}

std::string engine() {
  if (const char* named = std::getenv("HEADROOM_ENGINE")) return named;
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../../bin/headroom-engine").string();
}

backend::RunRequest request(const Settings& settings) {
  auto params = record::Params::from_map(experiments::find_demo("edit_kernel")->schema, settings);
  REQUIRE(params.ok());
  const std::chrono::seconds patience(params.value().integer("deadline"));
  return {.demo = "edit_kernel", .params = std::move(params).value(), .engine = {.patience = patience}};
}

std::shared_ptr<const record::Recording> run_to_end(backend::Backend& engine, const Settings& settings,
                                                    Clock::duration patience = 60s) {
  const auto started = engine.start(request(settings));
  INFO((started.ok() ? std::string() : started.error().message));
  REQUIRE(started.ok());
  const auto end = Clock::now() + patience;
  while (engine.state() != backend::RunState::kFinished && Clock::now() < end) {
    engine.poll();
    std::this_thread::sleep_for(5ms);
  }
  REQUIRE(engine.state() == backend::RunState::kFinished);
  return engine.recording();
}

std::string endless() {
  return with(source_of("vector_add"), "  if (i < count) {",
              "  while (*static_cast<const volatile float*>(a) == *static_cast<const volatile float*>(a)) {}\n"
              "  if (i < count) {");
}

}  // namespace

TEST_CASE("every exercise starts correct, and every solution is correct") {
  for (const experiments::Exercise& exercise : experiments::exercises()) {
    for (const std::string_view source : {exercise.source, exercise.solution}) {
      if (source.empty()) continue;
      for (const char* width : {"1024", "4096", "4"}) {
        CAPTURE(exercise.id, width, source);
        const EditedRun run =
            on_gpu({{"exercise", std::string(exercise.id)}, {"source", std::string(source)}, {"width", width}});
        INFO(run.report.sentence);
        CHECK(run.report.verdict == KernelVerdict::kRight);
        CHECK(run.report.error >= 0);
        CHECK(run.report.error < 1e-6);
        CHECK(run.report.launches == (exercise.id == "fuse_residual" && source == exercise.source ? 2 : 1));
        REQUIRE(run.measurements.size() == 3);
        CHECK(run.measurements[0].variant == "yours");
        CHECK(run.measurements[2].variant == "copy");
        for (const record::Measurement& row : run.measurements) CHECK(row.median > 0);
      }
    }
  }
}

TEST_CASE("the scalar kernel is correct for rows of any width and for a single row") {
  for (const auto& [rows, width] : {std::pair{"1", "1"}, std::pair{"3", "1023"}, std::pair{"1", "16384"}}) {
    const EditedRun run = on_gpu({{"exercise", "rms_norm"}, {"rows", rows}, {"width", width}});
    INFO(run.report.sentence);
    CHECK(run.report.verdict == KernelVerdict::kRight);
  }
}

TEST_CASE("a wrong result is reported with its first position") {
  const EditedRun add =
      on_gpu({{"source", with(source_of("vector_add"), "a[i] + b[i];", "i == 5000 ? a[i] : a[i] + b[i];")}});
  INFO(add.report.sentence);
  CHECK(add.report.verdict == KernelVerdict::kWrong);
  CHECK(add.report.sentence.find("1 of 1,024,007 numbers of `out` are wrong, the first in number 5,000") == 0);
  CHECK(add.measurements.empty());  // wrong kernels are not timed
  const EditedRun norm =
      on_gpu({{"exercise", "rms_norm"}, {"source", with(source_of("rms_norm"), " / WIDTH + epsilon", " / WIDTH")}});
  CHECK(norm.report.verdict == KernelVerdict::kWrong);
  CHECK(norm.report.error > 1e-6);
}

TEST_CASE("unwritten numbers count as wrong") {
  const EditedRun run = on_gpu({{"source", with(source_of("vector_add"), "i < count", "i < count - 2")}});
  CHECK(run.report.verdict == KernelVerdict::kWrong);
  CHECK(run.report.sentence == "It never writes 2 of the 1,024,007 numbers of `out`.");
}

TEST_CASE("the vector addition without its mask writes past its buffer, and the canaries show it") {
  const EditedRun run = on_gpu({{"source", with(source_of("vector_add"), "i < count", "true")}});
  INFO(run.report.sentence);
  CHECK(run.report.verdict == KernelVerdict::kOutOfBounds);
  // 1,024,007 numbers are 4,000 blocks of 256 and 7 more, which leaves 249 threads too many.
  CHECK(run.report.sentence ==
        "It wrote 249 numbers beyond the end of `out`, the first at out[1024007]; the array has 1,024,007.");
  CHECK(run.measurements.empty());
}

TEST_CASE("a write before a buffer, and one next to an input, are reported as well") {
  const EditedRun before = on_gpu({{"source", with(source_of("vector_add"), "  if (i < count) {",
                                                   "  if (i == 0) out[-3] = 1;\n  if (i < count) {")}});
  CHECK(before.report.sentence.find("before the start of `out`, the first at out[-3]") != std::string::npos);
  const EditedRun input =
      on_gpu({{"source", with(source_of("vector_add"), "  if (i < count) {",
                              "  if (i == 0) const_cast<float*>(b)[count] = 1;\n  if (i < count) {")}});
  CHECK(input.report.verdict == KernelVerdict::kOutOfBounds);
  CHECK(input.report.sentence.find("`b`") != std::string::npos);
}

TEST_CASE("a kernel that the device refuses to start is reported, and the next one runs") {
  const std::string greedy =
      with(source_of("rms_norm"), "void rms_norm(", "void __launch_bounds__(64) rms_norm(");  // but 256 are launched
  const EditedRun refused = on_gpu({{"exercise", "rms_norm"}, {"source", greedy}});
  INFO(refused.report.sentence);
  CHECK(refused.report.verdict == KernelVerdict::kCrashed);
  CHECK(on_gpu({{"exercise", "rms_norm"}}).report.verdict == KernelVerdict::kRight);
}

TEST_CASE("an endless kernel is killed with its engine at the deadline, and the next run works") {
  const auto other = backend::make_engine({{engine()}});
  REQUIRE(run_to_end(*other, {{"rows", "10"}})->outcome()->kind == OutcomeKind::kCompleted);
  const std::string other_pid = other->facts().at("pid");

  const auto mine = backend::make_engine({{engine()}});
  CHECK(run_to_end(*mine, {{"rows", "10"}})->kernel_report()->verdict == KernelVerdict::kRight);
  for (int i = 0; i < 4; ++i) {  // more often than an engine may crash
    const auto begun = Clock::now();
    const auto run = run_to_end(*mine, {{"source", endless()}, {"deadline", "2"}, {"rows", "10"}});
    CHECK(run->outcome()->kind == OutcomeKind::kFailed);
    CHECK(run->outcome()->message.find("2 s") != std::string::npos);
    CHECK(run->kernel_report()->verdict == KernelVerdict::kCompiled);  // facts from before the launch are kept
    CHECK(Clock::now() - begun > 2s);
  }
  const auto next = run_to_end(*mine, {{"rows", "10"}});
  CHECK(next->outcome()->kind == OutcomeKind::kCompleted);
  REQUIRE(next->kernel_report());
  CHECK(next->kernel_report()->verdict == KernelVerdict::kRight);
  CHECK(run_to_end(*other, {{"rows", "10"}})->kernel_report()->verdict == KernelVerdict::kRight);
  CHECK(other->facts().at("pid") == other_pid);
}

TEST_CASE("a kernel that destroys the device's context is reported with its reason, and a new engine runs the next") {
  const auto mine = backend::make_engine({{engine()}});
  const std::string wild = with(source_of("vector_add"), "  if (i < count) {",
                                "  if (i == 0) *reinterpret_cast<float*>(16) = 1;\n  if (i < count) {");
  const auto run = run_to_end(*mine, {{"source", wild}, {"rows", "10"}});
  CHECK(run->outcome()->kind == OutcomeKind::kFailed);
  REQUIRE(run->kernel_report());
  INFO(run->kernel_report()->sentence);
  CHECK(run->kernel_report()->verdict == KernelVerdict::kCrashed);
  CHECK(run_to_end(*mine, {{"rows", "10"}})->kernel_report()->verdict == KernelVerdict::kRight);
}
