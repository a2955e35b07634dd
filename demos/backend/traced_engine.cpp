// Two engines behind one: a run that is to be traced goes to a process of its own, since tracing begins before CUDA
// does and slows every launch for good. That process starts with the first such run and goes with the next other one.
#include <utility>

#include "demos/backend/engine_backend.h"

namespace headroom::backend {
namespace {

class EnginePair final : public Backend {
 public:
  explicit EnginePair(EngineCommand command) : command_(std::move(command)), plain_(make_one_engine(command_)) {}

  record::Status start(const RunRequest& request) override {
    const bool running = state() != RunState::kIdle && state() != RunState::kFinished;
    const bool trace = request.params.has("trace") && request.params.text("trace") == "on";
    if (running || trace == (tracing_ != nullptr)) return active().start(request);
    if (!trace) {
      tracing_.reset();
      return plain_->start(request);
    }
    EngineCommand command = command_;
    command.arguments.emplace_back("--trace");
    tracing_ = make_one_engine(std::move(command));
    return tracing_->start(request);
  }
  void cancel() override { active().cancel(); }
  bool poll() override {
    const bool plain_changed = plain_->poll();
    return tracing_ != nullptr ? tracing_->poll() || plain_changed : plain_changed;
  }

  RunState state() const override { return active().state(); }
  const RunProgress& progress() const override { return active().progress(); }
  std::shared_ptr<const record::Recording> recording() const override { return active().recording(); }
  const std::optional<record::Error>& write_error() const override { return active().write_error(); }
  const std::vector<protocol::DeviceFacts>& devices() const override { return plain_->devices(); }
  const std::map<std::string, std::string>& facts() const override { return plain_->facts(); }
  const std::optional<std::string>& trouble() const override { return active().trouble(); }
  int descriptor() const override { return active().descriptor(); }

 private:
  Backend& active() const { return tracing_ != nullptr ? *tracing_ : *plain_; }

  EngineCommand command_;
  std::unique_ptr<Backend> plain_;
  std::unique_ptr<Backend> tracing_;
};

}  // namespace

std::unique_ptr<Backend> make_engine(EngineCommand command) { return std::make_unique<EnginePair>(std::move(command)); }

}  // namespace headroom::backend
