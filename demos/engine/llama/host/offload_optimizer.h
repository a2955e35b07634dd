// AdamW on the CPU while the device goes on with backward: masters and moments are in host memory, gradients come to
// them and weights go back. Ren et al. 2021 (ZeRO-Offload), arXiv:2101.06840, section 4.
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
  // Of masters and moments. Another type than the weights' makes masters; else the host's copy of a weight is the
  // weight.
  at::ScalarType state_type = at::kFloat;
  // The layers' weights are on the host already (ParameterStream); those of no layer go back to the device in any case.
  bool layers_on_host = false;
  // fp32 [] on the run's device, what the loss is multiplied by; undefined: gradients are as they are. Doubled after
  // `scale_window` steps without overflow, halved after one with.
  at::Tensor loss_scale;
  double first_loss_scale = 1;
  std::int64_t scale_window = 1000;
  // One of the weights, whose gradient comes in fp32: the head, where its chunks add up so. Undefined: none.
  at::Tensor fp32_gradient;
  // Masters and moments are in a file and pass through memory piece by piece. Empty path: among temporary files.
  bool in_file = false;
  std::filesystem::path file;
};

// Steps each layer as soon as backward is done with it. With a loss scale, a layer whose gradients hold an infinity or a
// NaN is left as it is, decided layer by layer as they arrive, and the step does not count for its bias corrections; a
// step that has its optimizer on the device is skipped as a whole. The arithmetic is PyTorch's fused Adam, which rounds
// otherwise than kernels/adamw does.
class HostAdamW final : public Optimizer, public LayerHooks {
 public:
  // Takes the states' memory at once, or their room in the file. Throws HostMemoryFull, or std::runtime_error with a
  // sentence about the file.
  HostAdamW(std::vector<Parameter> parameters, at::Device device, HostAdamWOptions options, HostArena& arena);
  ~HostAdamW() override;

  void after_layer(std::int64_t layer, record::Phase phase) override;
  void gradients_ready(std::int64_t layer) override;

  // Of gradients that no call of gradients_ready has taken.
  void update(std::span<const std::size_t> which) override;
  // Waits for the CPU's part of the step; the device waits for the weights.
  void end_step() override;
  void set_learning_rate(double rate) override { adamw_.set_learning_rate(rate); }
  // With the loss scale. Not of states in a file.
  std::vector<StateTensor> state() override;
  void restored() override;

  // What the next step's loss is multiplied by, what the last one's was, and the steps so far in which a group overflowed.
  double loss_scale() const { return scale_; }
  double last_scale() const { return last_scale_; }
  std::int64_t skipped_steps() const { return skipped_; }
  // Groups (layers, and what belongs to none) that the last step left alone because their gradients overflowed.
  int overflowed_groups() const { return overflowed_; }
  // Null: states are in memory. Between steps.
  StateFile* file() { return file_.get(); }

 private:
  struct State {
    CpuAdamWState host;         // master (beside 16-bit weights) and moments are undefined if they are in a file
    at::Tensor device;          // the weight there, [n]; undefined: it has none
    record::Bytes in_file = 0;  // where its pieces begin there
    std::int64_t steps = 0;     // that it took; t of the bias corrections
  };
  // Consecutive elements of one weight that travel and are stepped together.
  struct Piece {
    std::size_t weight = 0;
    std::int64_t begin = 0, size = 0;
    CopyDone gradient_here;
  };
  struct Job {  // of one group
    std::vector<Piece> pieces;
    at::Tensor overflow;  // int32 [1] on the host, there before the first piece; undefined: not checked
  };

  void make_state(const Parameter& parameter);
  void make_file();
  void fill_master(const Parameter& parameter, std::int64_t first, const at::Tensor& working, at::Tensor master) const;
  void begin_if_new();
  void hand_over(std::span<const std::size_t> which);
  void let_gradients_go();

  // Whether these gradients, handed over together, have an infinity or a NaN: int32 [1] on the device, undefined without
  // a loss scale. `number` is that of one of their weights.
  at::Tensor look_at(std::span<const at::Tensor> gradients, std::size_t number);

  // The worker's: it waits for gradients and gives them to the threads that step.
  void work();
  void run(const Job& job);
  void step_piece(const Piece& piece);
  // Of those in the file: a piece's offset, and its state once it is in memory.
  record::Bytes place_of(const Piece& piece) const;
  record::Bytes bytes_of(const Piece& piece) const;
  CpuAdamWState read_state(const Piece& piece, const at::Tensor& memory) const;
  // Elements of a piece.
  std::int64_t piece_size() const;
  std::vector<Piece> pieces_of(std::size_t weight) const;

  at::Device device_;
  HostAdamWOptions options_;
  std::vector<State> states_;
  HostArena& arena_;
  CpuAdamW adamw_;
  std::unique_ptr<StateFile> file_;  // null: states are in memory
  CopyLane to_host_, to_device_;

  at::Tensor overflow_, overflow_here_;  // int32 [weights]: on the device, on the host
  bool in_step_ = false;
  std::vector<bool> handed_over_;
  std::vector<at::Tensor> leaving_;  // gradients that are being copied
  CopyDone left_;
  float scale_ = 1, inverse_scale_ = 1, last_scale_ = 1;
  std::int32_t good_steps_ = 0;
  std::int64_t skipped_ = 0;

  std::mutex mutex_;
  std::condition_variable wakes_, finished_;
  std::deque<Job> jobs_;
  bool busy_ = false, stop_ = false;
  std::exception_ptr trouble_;
  int overflowed_ = 0, overflowing_ = 0;
  std::optional<StepThreads> step_threads_;  // none on meta
  std::thread worker_;                       // the same
};

}  // namespace headroom::llama
