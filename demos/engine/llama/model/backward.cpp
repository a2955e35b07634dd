// Calls autograd's engine.
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

// After an exception the engine's queue for this thread still holds ready nodes, with their gradients and graph. The
// engine drops them before the next backward pass, which here runs on an empty tensor and allocates nothing.
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
