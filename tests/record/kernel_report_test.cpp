// Reports on the reader's kernel, written and read.
#include <cmath>

#include "demos/record/recording.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

namespace {

using namespace headroom::record;
using headroom::tests::made_recording;
using headroom::tests::TemporaryFolder;

KernelReport full_report() {
  return {.verdict = KernelVerdict::kWrong,
          .sentence = "3 numbers are wrong.",
          .exercise = "rms_norm",
          .architecture = "sm_90",
          .compiler = "NVRTC 13.0",
          .messages = {{.line = 12, .error = true, .text = "identifier \"x\" is undefined\n  y = x;\n      ^"},
                       {.line = 0, .error = false, .text = "a remark"}},
          .kernels = {{.name = "rms_norm", .registers = 40, .shared = 1024, .stack = 160, .spilled = 8}},
          .launches = 2,
          .error = 0.25,
          .error_limit = 1e-5};
}

}  // namespace

TEST_CASE("the last report about a kernel survives a round trip") {
  const TemporaryFolder folder;
  Recording made = made_recording({.steps = 1});
  made.set_kernel_report(KernelReport{.exercise = "vector_add"});
  made.set_kernel_report(full_report());
  REQUIRE(made.write(folder / "k.hrec").ok());
  const Result<Recording> read = Recording::read(folder / "k.hrec");
  REQUIRE(read.ok());
  REQUIRE(read.value().kernel_report());
  CHECK(*read.value().kernel_report() == full_report());
}

TEST_CASE("unmeasured and non-finite values are read back as not measured") {
  Recording recording = made_recording({.steps = 1});
  KernelReport report = full_report();
  report.error = std::nan("");
  report.error_limit = -1;
  REQUIRE(recording.append_chunk(encode(report)).ok());
  CHECK(recording.kernel_report()->error == -1);
  CHECK(recording.kernel_report()->error_limit == -1);
}

TEST_CASE("a report with an impossible number is refused and changes nothing") {
  Recording recording = made_recording({.steps = 1});
  REQUIRE(recording.append_chunk(encode(full_report())).ok());
  KernelReport wrong = full_report();
  wrong.kernels.front().registers = -1;
  CHECK_FALSE(recording.append_chunk(encode(wrong)).ok());
  CHECK(*recording.kernel_report() == full_report());
}
