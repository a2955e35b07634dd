// The settings of `train_step` as numbers and enums: the one place where their keys and values are read. Each field names
// the setting it is of; where another setting makes it idle, nothing reads it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "demos/llama/config.h"
#include "demos/llama/extension.h"
#include "demos/predict/techniques.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"
#include "kernels/fused_linear_cross_entropy/chunk.h"

namespace headroom::predict {

inline constexpr std::int64_t kFp32 = 4;  // bytes of a number

// What the fused loss takes at a time.
inline constexpr std::array kLossModes{
    Meant<kernels::FlceMode>{{"chunked", "chunks of tokens"}, kernels::FlceMode::kChunked},
    Meant<kernels::FlceMode>{{"lean", "slices of the vocabulary"}, kernels::FlceMode::kLean},
    Meant<kernels::FlceMode>{{"report", "Liger's chunk rule"}, kernels::FlceMode::kReport},
};

struct StepSettings {
  // With `weights` and model=custom these are placeholders until its config.json has been read.
  llama::Config model;
  // Of a model that only the closed form knows: no run's parameters say one.
  llama::Extension extension;
  std::string weights;        // folder of a checkpoint, or its config.json alone; empty: drawn at random
  std::string text;           // file to train on; empty: the course's
  std::string data_type;      // number format of the ids in that file; "auto": the file decides
  std::string save;           // folder to make of the trained model; empty: none
  bool save_state = false, save_merged = false;
  std::string resume;         // folder with the state to go on from; empty: from the start
  std::int64_t batch = 0;     // B, sequences of a micro-batch
  std::int64_t sequence = 0;  // T
  std::int64_t micro_batches = 1;
  int steps = 0;
  int eval_every = 0;  // steps; 0: no text is held out
  std::uint64_t seed = 0;

  Precision precision = Precision::kFp32;
  Gemm gemm = Gemm::kAsStored;
  Fp8Scaling fp8_scaling = Fp8Scaling::kCurrent;
  Checkpointing checkpointing = Checkpointing::kOff;
  std::int64_t checkpoint_every = 1;  // k of kLayer

  LossPath loss = LossPath::kPlain;
  bool keep_output = false;  // kHf2024, kHf2025: the logits stay until the next step
  // kHf2024, kHf2025: the gradients of a tied table are added in place, as our step did before revision 4056411.
  bool tied_sum_in_place = false;
  kernels::FlceMode loss_mode = kernels::FlceMode::kChunked;
  std::int64_t loss_chunk = 0;        // of kFlce; 0: the mode's own
  bool fp32_weight_gradient = false;  // of kFlce: in which its chunks add up
  std::int64_t loss_scale = 65536;    // of kFp16Mixed
  std::int64_t loss_scale_window = 1000;

  FusedKernels fused;
  bool fused_adamw = true;
  bool cuda_graph = false;

  OptimizerKind optimizer = OptimizerKind::kAdamW;
  double learning_rate = 1e-3;
  Schedule schedule = Schedule::kConstant;
  std::int64_t warmup_steps = 0;
  std::int64_t schedule_steps = 0;  // of kLinear, kCosine; 0: up to the run's last
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double clip = 0;                    // most that the gradients' global norm is; 0: any
  double weight_decay = 0.1;          // of matrices
  Moments moments = Moments::kModel;  // of kAdamW
  bool stochastic_rounding = false;   // of bf16 weights
  bool optimizer_in_backward = false;
  std::int64_t galore_rank = 0;  // r; 0: a quarter of the hidden size
  std::int64_t galore_interval = 200;
  double galore_scale = 0.25;

  AdapterOptions adapters;

  StateOffload offload_state = StateOffload::kOff;
  std::string offload_file;  // of kFile; empty: in the folder for temporary files
  bool offload_parameters = false;
  bool offload_checkpoints = false;

  bool histogram = false;  // gradients and updates are counted by exponent

  std::int64_t tokens() const { return batch * sequence; }  // of a micro-batch
  bool masters() const { return has_masters(precision) && !adapters.fp32; }
  bool tf32() const { return gemm == Gemm::kTf32; }  // of the head as well
  bool fp8() const;                                  // of the layers' projections, where their sides allow it
  // Only the inputs of layers are kept, and layers are computed again, up to the last product of those that are together.
  bool keeps_layer_inputs() const { return checkpointing == Checkpointing::kLayer; }
  // What is cheap is computed again, and the results of products are kept.
  bool rebuilds_cheap() const { return checkpointing == Checkpointing::kSelective; }
  // How many layers hold what their backward reads at once: L, or the k that are computed again.
  std::int64_t layers_at_once() const;
  // Bytes of a working weight, gradient or activation; of one of AdamW's moments.
  // Of what a product keeps of its input.
  std::int64_t input_bytes() const { return fp8() ? 1 : element_bytes(); }
  std::int64_t element_bytes() const { return precision == Precision::kFp32 ? 4 : 2; }
  // Of a weight that is trained, and of its gradient: an adapter's, where there are adapters.
  std::int64_t trained_bytes() const { return adapters.fp32 ? 4 : element_bytes(); }
  std::int64_t moment_bytes() const;
  // r, with 0 resolved. H = 2,048: 512.
  std::int64_t low_rank() const;
};

StepSettings step_settings(const record::Params& train_step);

// How the linear layers' products are computed where that is not what the setting says by itself: provenance. Empty: as it
// says.
std::string gemm_fact(const StepSettings& step, record::DeviceKind device);

// Number format of weights, gradients and activations, as the benchmarks name it: "fp32", "bf16", "fp16".
const char* storage_key(Precision precision);

// The shape that a run took from a checkpoint, as facts of its provenance ("model.num_layers": "5"), and back. Empty:
// the provenance has none, or not all of them; biases and norms over heads may be missing, and then there are none.
std::map<std::string, std::string> shape_facts(const llama::Config& taken);
std::optional<llama::Config> taken_shape(const std::map<std::string, std::string>& provenance);

// The settings of a run, with the shape that it took.
StepSettings settings_of(const record::RunInfo& run, record::Schema train_step);

}  // namespace headroom::predict
