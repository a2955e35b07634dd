// Predictions whose planner the test controls.
#pragma once

#include <memory>

#include "app/common/plan/predictions.h"
#include "tests/gui/support/scripted_backend.h"

namespace headroom::tests {

// The test owns the planner; while a question is open, only the predictions' thread uses it.
class BorrowedPlanner final : public backend::Backend {
 public:
  explicit BorrowedPlanner(ScriptedBackend& planner) : planner_(planner) {}

  record::Status start(const backend::RunRequest& request) override { return planner_.start(request); }
  void cancel() override { planner_.cancel(); }
  bool poll() override { return planner_.poll(); }
  backend::RunState state() const override { return planner_.state(); }
  const backend::RunProgress& progress() const override { return planner_.progress(); }
  std::shared_ptr<const record::Recording> recording() const override { return planner_.recording(); }
  const std::optional<record::Error>& write_error() const override { return planner_.write_error(); }
  const std::vector<protocol::DeviceFacts>& devices() const override { return planner_.devices(); }
  const std::optional<std::string>& trouble() const override { return planner_.trouble(); }
  int descriptor() const override { return planner_.descriptor(); }

 private:
  ScriptedBackend& planner_;
};

class ScriptedPredictions {
 public:
  explicit ScriptedPredictions(std::shared_ptr<const record::Recording> answer) : planner(std::move(answer), 1000) {
    planner.replace_pending(true);
  }

  ScriptedBackend planner;
  app::Predictions service{[this] { return std::make_unique<BorrowedPlanner>(planner); }};
};

}  // namespace headroom::tests
