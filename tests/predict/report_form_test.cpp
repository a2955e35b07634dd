// The report's peaks in closed form, against hand-computed numbers.
#include "demos/predict/forms/report_form.h"

#include "tests/support/catch.h"

using namespace headroom;
using predict::ReportLoss;

TEST_CASE("the closed form gives peaks that were not measured") {
  using enum ReportLoss;
  CHECK(predict::report_peak(kHuggingFace, 2, 1024).bytes() == 5'277'579'776);
  CHECK(predict::report_peak(kHuggingFace, 16, 1024).bytes() == 35'856'869'888);
  CHECK(predict::report_peak(kHuggingFace, 4, 4096).bytes() == 35'870'779'904);
  CHECK(predict::report_peak(kHuggingFace, 10, 1024).bytes() == 22'751'459'840);
  CHECK(predict::report_peak(kLigerAll, 4, 12288).bytes() == 9'854'213'120);
  // Bytes that a token adds to the loss without FLCE: 16 · V for fp32 logits and 81,948 for the rest.
  const auto at = [](double batch) { return predict::report_peak(kHuggingFace, batch, 1024).loss_or_backward; };
  CHECK(at(9) - at(8) == record::Bytes{1024} * (81'948 + 8 * 128'256) + record::Bytes{1023} * 8 * 128'256);
  CHECK_FALSE(predict::report_loss("formula"));
}
