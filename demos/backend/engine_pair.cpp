// Two engines behind one Backend, each started on demand. Traced runs need a separate process, because tracing must
// start before CUDA and slows every later launch. Runs with `patience` also need one, because their engine may have to
// be killed, and runs with several ranks need one process per rank. The separate process lasts until the next run of
// another kind.
#include <utility>

#include "demos/backend/engine_backend.h"
#include "demos/backend/rank_group.h"

namespace headroom::backend {
namespace {

enum class Kind { kPlain, kTraced, kWithPatience, kRanks };

Kind kind_of(const RunRequest& request) {
  if (request.engine.ranks > 1) return Kind::kRanks;
  if (request.engine.patience) return Kind::kWithPatience;
  return request.engine.traced ? Kind::kTraced : Kind::kPlain;
}

class EnginePair final : public Backend {
 public:
  EnginePair(EngineCommand command, std::function<Machine()> until_run)
      : command_(std::move(command)), until_run_(std::move(until_run)) {
    if (!until_run_) plain_ = make_engine_backend(command_);
  }

  record::Status start(const RunRequest& request) override {
    const bool running = state() != RunState::kIdle && state() != RunState::kFinished;
    const Kind kind = kind_of(request);
    if (running) return active()->start(request);
    if (kind != kind_ || (other_ != nullptr && other_->ranks() != request.engine.ranks)) other_.reset();
    kind_ = kind;
    if (kind == Kind::kPlain && plain_ == nullptr) plain_ = make_engine_backend(command_);
    if (kind != Kind::kPlain && other_ == nullptr) {
      EngineCommand command = command_;
      if (kind == Kind::kTraced) command.arguments.emplace_back("--trace");
      other_ = kind == Kind::kRanks ? make_rank_group(std::move(command), request.engine.ranks)
                                    : make_engine_backend(std::move(command));
    }
    return active()->start(request);
  }
  void cancel() override {
    if (active() != nullptr) active()->cancel();
  }
  bool poll() override {
    const bool plain_changed = plain_ != nullptr && plain_->poll();
    const bool machine_changed = plain_ == nullptr && std::exchange(machine_, until_run_()) != machine_;
    const bool other_changed = other_ != nullptr && other_->poll();
    return plain_changed || machine_changed || other_changed;
  }

  RunState state() const override { return active() == nullptr ? RunState::kIdle : active()->state(); }
  const RunProgress& progress() const override {
    static const RunProgress none;
    return active() == nullptr ? none : active()->progress();
  }
  std::shared_ptr<const record::Recording> recording() const override {
    return active() == nullptr ? nullptr : active()->recording();
  }
  int ranks() const override { return active() == nullptr ? 1 : active()->ranks(); }
  const std::optional<record::Error>& write_error() const override {
    static const std::optional<record::Error> none;
    return active() == nullptr ? none : active()->write_error();
  }
  const std::vector<protocol::DeviceFacts>& devices() const override {
    return greeted() ? plain_->devices() : machine_.devices;
  }
  const std::map<std::string, std::string>& facts() const override {
    return greeted() ? plain_->facts() : machine_.facts;
  }
  const std::optional<std::string>& trouble() const override {
    static const std::optional<std::string> none;
    return active() == nullptr ? none : active()->trouble();
  }
  int descriptor() const override { return active() == nullptr ? -1 : active()->descriptor(); }

 private:
  // Null until the first run.
  Backend* active() const { return other_ != nullptr ? other_.get() : plain_.get(); }
  bool greeted() const { return plain_ != nullptr && (!until_run_ || !plain_->devices().empty()); }

  EngineCommand command_;
  std::function<Machine()> until_run_;
  Machine machine_;
  std::unique_ptr<Backend> plain_;
  std::unique_ptr<Backend> other_;
  Kind kind_ = Kind::kPlain;  // of the active engine
};

}  // namespace

std::unique_ptr<Backend> make_engine(EngineCommand command, std::function<Machine()> until_run) {
  return std::make_unique<EnginePair>(std::move(command), std::move(until_run));
}

}  // namespace headroom::backend
