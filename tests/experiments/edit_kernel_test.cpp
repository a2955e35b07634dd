// Edited kernels, compiled without a GPU: error lines and resource usage.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "demos/engine/experiments/nvrtc.h"
#include "tests/experiments/edited_run.h"

namespace {

using namespace headroom;
using record::KernelVerdict;
using tests::EditedRun;
using tests::run_edited;
using tests::source_of;
using tests::with;

EditedRun compiled(const std::map<std::string, std::string>& settings) { return run_edited(settings, c10::kCPU); }

std::vector<std::int64_t> error_lines(const record::KernelReport& report) {
  std::vector<std::int64_t> lines;
  for (const record::CompilerMessage& message : report.messages)
    if (message.error) lines.push_back(message.line);
  return lines;
}

}  // namespace

TEST_CASE("every exercise and every solution compiles for every architecture, without a GPU") {
  for (const experiments::Exercise& exercise : experiments::exercises()) {
    for (const std::string arch : {"sm_75", "sm_90", "sm_120"}) {
      for (const std::string_view source : {exercise.source, exercise.solution}) {
        if (source.empty()) continue;
        CAPTURE(exercise.id, arch, source);
        const EditedRun run =
            compiled({{"exercise", std::string(exercise.id)}, {"arch", arch}, {"source", std::string(source)}});
        CHECK(run.report.verdict == KernelVerdict::kCompiled);
        CHECK(run.report.messages.empty());
        CHECK(run.report.architecture == arch);
        REQUIRE_FALSE(run.report.kernels.empty());
        CHECK(run.report.kernels.front().registers > 0);
        CHECK(run.report.kernels.front().spilled == 0);
      }
    }
  }
}

TEST_CASE("the schema lists all exercises in order") {
  const auto all = experiments::exercises();
  const record::Schema schema = experiments::find_demo("edit_kernel")->schema;
  REQUIRE(schema.front().choices.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(schema.front().choices[i].key == all[i].id);
    CHECK(schema.front().choices[i].label == all[i].title);
  }
}

TEST_CASE("an error reports its line") {
  const std::string source = with(source_of("vector_add"), "a[i] + b[i];", "a[i] + c[i];");
  const EditedRun run = compiled({{"source", source}});
  CHECK(run.report.verdict == KernelVerdict::kNotCompiled);
  REQUIRE(run.report.messages.size() == 1);
  const record::CompilerMessage& message = run.report.messages.front();
  const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<long>(source.find("c[i]")), '\n');
  CHECK(message.line == line);
  CHECK(message.error);
  CHECK(message.text.find("identifier \"c\" is undefined") == 0);
  CHECK(message.text.find('^') != std::string::npos);
  CHECK(run.report.sentence.find("line " + std::to_string(line)) != std::string::npos);
}

TEST_CASE("several errors, a warning and the end of the source report their lines") {
  const EditedRun run = compiled({{"source",
                                   "extern \"C\" __global__ void vector_add(const float* a, const float* b,\n"
                                   "    float* out, long long count) {\n"
                                   "  int unused;\n"
                                   "  x = 1;\n"
                                   "  y = 2;\n"}});
  CHECK(error_lines(run.report) == std::vector<std::int64_t>{4, 5, 6});
  const EditedRun warned =
      compiled({{"source", with(source_of("vector_add"), "  if (i < count)", "  int unused;\n  if (i < count)")}});
  CHECK(warned.report.verdict == KernelVerdict::kCompiled);
  REQUIRE(warned.report.messages.size() == 1);
  CHECK_FALSE(warned.report.messages.front().error);
  CHECK(warned.report.messages.front().line == 8);
}

TEST_CASE("a kernel's registers, shared memory, stack and spills are reported") {
  const EditedRun lean = compiled({{"exercise", "rms_norm"}, {"threads", "512"}});
  REQUIRE(lean.report.kernels.size() == 1);
  CHECK(lean.report.kernels.front().name == "rms_norm");
  CHECK(lean.report.kernels.front().shared == 4 * 512);
  CHECK(lean.report.kernels.front().stack == 0);
  // 1,024 threads have 64 registers each. Rows of 16,384 need 16 registers per thread with 1,024 threads, 128 with 128
  // threads.
  const std::string solution(experiments::find_exercise("registers")->solution);
  const EditedRun fat =
      compiled({{"exercise", "registers"}, {"source", solution}, {"width", "16384"}, {"threads", "128"}});
  CHECK(fat.report.kernels.front().registers > 128);
  const EditedRun spilled =
      compiled({{"exercise", "registers"},
                {"source", with(solution, "void rms_norm(", "void __launch_bounds__(128, 8) rms_norm(")},
                {"width", "16384"},
                {"threads", "128"}});
  CHECK(spilled.report.verdict == KernelVerdict::kCompiled);
  CHECK(spilled.report.kernels.front().spilled > 0);
  CHECK(spilled.report.sentence.find("spilled") != std::string::npos);
}

TEST_CASE("a wrong name or argument list is detected before a launch") {
  const EditedRun arguments = compiled({{"source", with(source_of("vector_add"), "long long count", "int count")}});
  CHECK(arguments.report.verdict == KernelVerdict::kNotCompiled);
  const EditedRun name = compiled({{"source", with(source_of("vector_add"), "void vector_add", "void my_add")}});
  CHECK(name.report.verdict == KernelVerdict::kNotCompiled);
  CHECK(name.report.sentence.find("`vector_add`") != std::string::npos);
  const EditedRun nothing = compiled({{"source", "\n"}});
  CHECK(nothing.report.verdict == KernelVerdict::kNotCompiled);
}

TEST_CASE("the assembler refuses too much shared memory, with a message") {
  const EditedRun run =
      compiled({{"exercise", "rms_norm"}, {"source", with(source_of("rms_norm"), "parts[THREADS]", "parts[100000]")}});
  CHECK(run.report.verdict == KernelVerdict::kNotCompiled);
  REQUIRE_FALSE(error_lines(run.report).empty());
}

TEST_CASE("the source may be a file, and a missing file is refused by name") {
  const auto path = std::filesystem::temp_directory_path() / ("headroom_kernel_" + std::to_string(getpid()) + ".cu");
  std::ofstream(path) << source_of("rms_norm");
  CHECK(compiled({{"exercise", "rms_norm"}, {"source", path.string()}}).report.verdict == KernelVerdict::kCompiled);
  std::filesystem::remove(path);
  const EditedRun gone = compiled({{"exercise", "rms_norm"}, {"source", path.string()}});
  CHECK(gone.refusal.find(path.string()) != std::string::npos);
}

TEST_CASE("any compiler log is parsed without failing") {
  experiments::Compilation made;
  experiments::read_compiler_log(
      "kernel.cu(999): error: x\n  y\n\nkernel.cu(: warning: z\n/usr/a.h(3): error: in a header\n"
      "ptxas fatal   : out\nptxas info    : Compiling entry function\nUsed registers\n: error",
      10, made);
  REQUIRE(made.messages.size() >= 4);
  CHECK(made.messages[0].line == 10);  // clamped to the last line
  CHECK(made.messages[0].text == "x\n  y");
  CHECK(made.messages[2].text == "/usr/a.h(3): error: in a header");
  CHECK(made.messages[2].line == 0);
}
