// Calls of autograd's engine.
#include "demos/engine/llama/model/backward.h"

#include <c10/core/AutogradState.h>
#include <torch/csrc/autograd/autograd.h>

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/meta_kernels.h"

namespace headroom::llama {

namespace {

class SingleThreadedBackward {
 public:
  SingleThreadedBackward() : before_(c10::AutogradState::get_tls_state().get_multithreading_enabled()) {
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  }
  ~SingleThreadedBackward() { c10::AutogradState::get_tls_state().set_multithreading_enabled(before_); }
  SingleThreadedBackward(const SingleThreadedBackward&) = delete;
  SingleThreadedBackward& operator=(const SingleThreadedBackward&) = delete;

 private:
  bool before_;
};

// A backward that ends in an exception leaves the nodes that were ready to run, with their gradients and the graph
// behind them, in a queue of the engine's that belongs to this thread. The engine throws them away before it runs
// anything else: here a backward through nothing, which allocates nothing either.
void drop_pending_backward() {
  const at::AutoGradMode grad_mode(true);
  const at::Tensor nothing = at::empty({0}).requires_grad_(true);
  torch::autograd::backward({nothing}, {at::empty({0})});
}

}  // namespace

void run_backward(const at::Tensor& y, const at::Tensor& upstream) {
  const SingleThreadedBackward single_threaded;
  const BackwardLabels labels;
  try {
    const EngineCall engine_call;
    torch::autograd::backward({y}, {upstream});
  } catch (...) {
    drop_pending_backward();
    throw;
  }
}

}  // namespace headroom::llama
