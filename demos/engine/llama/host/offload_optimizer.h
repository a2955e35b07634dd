// AdamW on the CPU while the device continues with the backward pass. Masters and moments are in host memory. Ren et
// al. 2021 (ZeRO-Offload), arXiv:2101.06840, section 4.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/host_arena.h"
#include "demos/engine/llama/host/offload_copies.h"
#include "demos/engine/llama/host/state_file.h"
#include "demos/engine/llama/optimizers/cpu_adamw.h"
#include "demos/engine/llama/optimizers/optimizer.h"
#include "demos/engine/llama/optimizers/step_threads.h"
#include "demos/engine/llama/step/train_step.h"

namespace headroom::llama {

struct HostAdamWOptions {
  AdamWOptions adamw;
  // Type of masters and moments. If the weights have the same type, their host copy is the master.
  at::ScalarType state_type = at::kFloat;
  // The layers' weights are on the host already (ParameterStream); other weights return to the device.
  bool layers_on_host = false;
  // Factor of the loss, fp32 [] on the run's device; undefined: none. Doubled after `scale_window` steps without
  // overflow, halved after an overflow.
  at::Tensor loss_scale;
  double first_loss_scale = 1;
  std::int64_t scale_window = 1000;
  // Name of the weight whose gradient is fp32: the head, if its chunks accumulate in fp32; empty: none.
  std::string fp32_gradient;
  // Masters and moments are in a file, and pass through memory in pieces. Empty `file`: a temporary file.
  bool in_file = false;
  std::filesystem::path file;
};

// The loss scale, which only the host updates.
struct HostLossScale {
  float scale = 1, inverse = 1, last = 1;
  std::int32_t good_steps = 0;
  std::int64_t skipped = 0;
};

// Consecutive elements of a weight, copied and stepped together.
struct HostPiece {
  std::size_t weight = 0;
  std::int64_t begin = 0, size = 0;
  CopyDone gradient_here;
};

// Jobs of the worker thread.
struct HostQueue {
  struct Job {
    std::vector<HostPiece> pieces;
    at::Tensor overflow;  // int32 [1] on the host, copied before the first piece; undefined: not checked
  };

  std::mutex mutex;
  std::condition_variable wakes, finished;
  std::deque<Job> jobs;
  bool busy = false, stop = false;
  std::exception_ptr trouble;
};

// Steps each layer as soon as its backward pass is done. With a loss scale it skips each layer whose gradients contain
// an infinity or a NaN, and does not count that step in the layer's bias corrections. PyTorch's fused Adam rounds
// differently from kernels/adamw.
class HostAdamW final : public Optimizer, public LayerHooks {
 public:
  // Allocates the states. Throws HostMemoryFull, or std::runtime_error about the file.
  HostAdamW(std::vector<Parameter> parameters, at::Device device, HostAdamWOptions options, HostArena& arena);
  ~HostAdamW() override;

  void after_layer(std::int64_t layer, record::Phase phase) override;
  void gradients_ready(std::int64_t layer) override;

  // Takes gradients that gradients_ready() has not taken.
  void update(std::span<const std::size_t> which) override;
  // The host waits for the CPU's part, and the device for the weights.
  void end_step() override;
  void set_learning_rate(double rate) override { adamw_.set_learning_rate(rate); }
  // Includes the loss scale. Not available for states in a file.
  std::vector<StateTensor> state() override;
  void restored() override;

  // The loss scale of the next step and of the last one, and the number of steps in which a group overflowed.
  double loss_scale() const { return scale_.scale; }
  double last_scale() const { return scale_.last; }
  std::int64_t skipped_steps() const { return scale_.skipped; }
  // Groups (layers, outer weights) that the last step skipped.
  int overflowed_groups() const { return overflowed_; }
  // Null if the states are in memory. Call between steps.
  StateFile* file() { return file_.get(); }

 private:
  struct State {
    CpuAdamWState host;         // in a file: no moments, and no master of 16-bit weights
    at::Tensor device;          // the weight, [n]; undefined if it is only on the host
    record::Bytes in_file = 0;  // offset of the weight's pieces
    std::int64_t steps = 0;     // t of the bias corrections
  };
  using Piece = HostPiece;
  using Job = HostQueue::Job;

  void make_state(const Parameter& parameter);
  void make_file();
  void fill_master(const Parameter& parameter, std::int64_t first, const at::Tensor& working, at::Tensor master) const;
  void begin_if_new();
  void hand_over(std::span<const std::size_t> which);
  void let_gradients_go();

  // Checks gradients for an infinity or a NaN. Returns the flag, int32 [1] on the device; undefined without a loss
  // scale. `number`: index of one of the gradients' weights; its flag is used.
  at::Tensor look_at(std::span<const at::Tensor> gradients, std::size_t number);

  // Worker thread: passes gradients to the stepping threads.
  void work();
  void run(const Job& job);
  void step_piece(const Piece& piece);
  // For the file: a piece's offset, its bytes, and views of its state in `memory`.
  record::Bytes place_of(const Piece& piece) const;
  record::Bytes bytes_of(const Piece& piece) const;
  CpuAdamWState read_state(const Piece& piece, const at::Tensor& memory) const;
  // Elements per piece.
  std::int64_t piece_size() const;
  std::vector<Piece> pieces_of(std::size_t weight) const;

  at::Device device_;
  HostAdamWOptions options_;
  std::vector<State> states_;
  HostArena& arena_;
  CpuAdamW adamw_;
  std::unique_ptr<StateFile> file_;
  CopyLane to_host_, to_device_;

  at::Tensor overflow_, overflow_here_;  // int32 [weights], on the device and on the host
  bool in_step_ = false;
  std::vector<bool> handed_over_;
  std::vector<at::Tensor> leaving_;  // gradients being copied
  CopyDone left_;
  HostLossScale scale_;
  HostQueue queue_;
  int overflowed_ = 0, overflowing_ = 0;
  std::optional<StepThreads> step_threads_;  // none on meta
  std::thread worker_;
};

}  // namespace headroom::llama
