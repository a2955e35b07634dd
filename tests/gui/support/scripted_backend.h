// A backend controlled by the test: plays a recording in pieces, or stops midway.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demos/backend/backend.h"

namespace headroom::tests {

class ScriptedBackend final : public backend::Backend {
 public:
  explicit ScriptedBackend(std::shared_ptr<const record::Recording> source, std::size_t events_per_poll = 4);

  void use(std::shared_ptr<const record::Recording> source) { source_ = std::move(source); }
  void hold(bool on) { held_ = on; }                                         // no new data while held
  void lose_engine(std::string message);                                     // ends the current run
  void lose_next(std::string message) { loses_next_ = std::move(message); }  // ends the next run, held or not
  void replace_pending(bool on) { replaces_ = on; }  // like a planner: a new question replaces the old one
  void set_trouble(std::optional<std::string> trouble) { trouble_ = std::move(trouble); }
  void add_gpu(record::Bytes memory);
  int starts() const { return starts_; }
  int cancels() const { return cancels_; }
  const record::Params& last_params() const { return last_params_; }

  record::Status start(const backend::RunRequest& request) override;
  void cancel() override;
  bool poll() override;
  backend::RunState state() const override { return state_; }
  const backend::RunProgress& progress() const override { return progress_; }
  std::shared_ptr<const record::Recording> recording() const override { return recording_; }
  const std::optional<record::Error>& write_error() const override { return write_error_; }
  const std::vector<protocol::DeviceFacts>& devices() const override { return devices_; }
  const std::optional<std::string>& trouble() const override { return trouble_; }
  int descriptor() const override { return -1; }

 private:
  void finish(record::Outcome outcome);

  std::shared_ptr<const record::Recording> source_;
  std::size_t events_per_poll_;
  std::shared_ptr<record::Recording> recording_;
  backend::RunState state_ = backend::RunState::kIdle;
  backend::RunProgress progress_;
  std::size_t events_ = 0, marks_ = 0;
  bool held_ = false, replaces_ = false;
  std::optional<std::string> loses_next_;
  int starts_ = 0, cancels_ = 0;
  record::Params last_params_;
  std::optional<record::Error> write_error_;
  std::optional<std::string> trouble_;
  std::vector<protocol::DeviceFacts> devices_;
};

}  // namespace headroom::tests
