// Two engines behind one. Some runs need a separate process: a traced run, because tracing must start before CUDA and
// slows every later launch; and a run with a deadline, because it may have to be killed. That process starts with the
// first such run and ends with the next of another kind.
#include <utility>

#include "demos/backend/engine_backend.h"

namespace headroom::backend {
namespace {

enum class Kind { kPlain, kTraced, kWithDeadline };

Kind kind_of(const RunRequest& request) {
  if (request.params.has("deadline")) return Kind::kWithDeadline;
  return request.params.has("trace") && request.params.on("trace") ? Kind::kTraced : Kind::kPlain;
}

class EnginePair final : public Backend {
 public:
  explicit EnginePair(EngineCommand command) : command_(std::move(command)), plain_(make_engine_backend(command_)) {}

  record::Status start(const RunRequest& request) override {
    const bool running = state() != RunState::kIdle && state() != RunState::kFinished;
    const Kind kind = kind_of(request);
    if (running || kind == kind_) return active().start(request);
    kind_ = kind;
    other_.reset();
    if (kind == Kind::kPlain) return plain_->start(request);
    EngineCommand command = command_;
    if (kind == Kind::kTraced) command.arguments.emplace_back("--trace");
    other_ = make_engine_backend(std::move(command));
    return other_->start(request);
  }
  void cancel() override { active().cancel(); }
  bool poll() override {
    const bool plain_changed = plain_->poll();
    return other_ != nullptr ? other_->poll() || plain_changed : plain_changed;
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
  Backend& active() const { return other_ != nullptr ? *other_ : *plain_; }

  EngineCommand command_;
  std::unique_ptr<Backend> plain_;
  std::unique_ptr<Backend> other_;
  Kind kind_ = Kind::kPlain;  // whose engine is the active one
};

}  // namespace

std::unique_ptr<Backend> make_engine(EngineCommand command) { return std::make_unique<EnginePair>(std::move(command)); }

}  // namespace headroom::backend
