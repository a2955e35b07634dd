// Decodes the settings of `train_step` into numbers and enums. Fields are named after their settings; fields that
// another setting disables are not read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "demos/llama/config.h"
#include "demos/llama/extension.h"
#include "demos/predict/parallel.h"
#include "demos/predict/techniques.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"
#include "kernels/fused_linear_cross_entropy/chunk.h"

namespace headroom::predict {

inline constexpr std::int64_t kFp32 = 4;  // bytes

// How the fused loss is split.
inline constexpr std::array kLossModes{
    Meant<kernels::FlceMode>{{"chunked", "chunks of tokens"}, kernels::FlceMode::kChunked},
    Meant<kernels::FlceMode>{{"lean", "slices of the vocabulary"}, kernels::FlceMode::kLean},
    Meant<kernels::FlceMode>{{"report", "Liger's chunk rule"}, kernels::FlceMode::kReport},
};

// Paths; empty: none.
struct StepFiles {
  std::string weights;    // folder of a checkpoint, or its config.json; empty: random weights
  std::string text;       // file to train on; empty: the course's text
  std::string data_type;  // type of the ids in that file; "auto": the file decides
  std::string save;       // new folder for the trained model
  bool save_state = false, save_merged = false;
  std::string resume;  // folder with the state to continue from
};

struct LossSettings {
  LossPath path = LossPath::kPlain;
  bool keep_output = false;  // kHf2024, kHf2025: keeps the logits until the next step
  // kHf2024, kHf2025: adds a tied table's gradients in place, as our step did before revision 4056411.
  bool tied_sum_in_place = false;
  kernels::FlceMode mode = kernels::FlceMode::kChunked;  // kFlce
  std::int64_t chunk = 0;                                // kFlce; 0: automatic
  bool fp32_weight_gradient = false;                     // kFlce: accumulates its chunks in fp32
};

// The loss scale of kFp16Mixed.
struct LossScaling {
  std::int64_t first = 65536;
  std::int64_t window = 1000;  // steps
};

struct GaLoreSettings {
  std::int64_t rank = 0;        // r; 0: H / 4
  std::int64_t interval = 200;  // steps
  double scale = 0.25;          // α
};

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double learning_rate = 1e-3;
  Schedule schedule = Schedule::kConstant;
  std::int64_t warmup_steps = 0;
  std::int64_t schedule_steps = 0;  // kLinear, kCosine; 0: the run's last step
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double clip = 0;                    // largest global norm of the gradients; 0: no limit
  double weight_decay = 0.1;          // matrices only
  Moments moments = Moments::kModel;  // kAdamW
  bool stochastic_rounding = false;   // bf16 weights
  bool in_backward = false;
  GaLoreSettings galore;
};

struct OffloadSettings {
  StateOffload state = StateOffload::kOff;
  std::string file;  // kFile; empty: a temporary file
  bool parameters = false;
  bool checkpoints = false;
};

struct StepSettings {
  // Placeholder for model=custom with `files.weights`, until its config.json is read.
  llama::Config model;
  // Parts that only the closed form supports; runs never set it.
  llama::Extension extension;
  StepFiles files;
  std::int64_t batch = 0;     // B, sequences per micro-batch and rank
  std::int64_t sequence = 0;  // T
  std::int64_t micro_batches = 1;
  int steps = 0;
  int eval_every = 0;  // steps; 0: never, and no text is held out
  std::uint64_t seed = 0;

  Precision precision = Precision::kFp32;
  Gemm gemm = Gemm::kAsStored;
  Fp8Scaling fp8_scaling = Fp8Scaling::kCurrent;
  Checkpointing checkpointing = Checkpointing::kOff;
  std::int64_t checkpoint_every = 1;  // k of kLayer

  LossSettings loss;
  LossScaling loss_scale;
  FusedKernels fused;
  bool fused_adamw = true;
  bool cuda_graph = false;
  OptimizerSettings optimizer;
  AdapterOptions adapters;
  OffloadSettings offload;
  ParallelSettings parallel;

  bool histogram = false;  // counts gradients and updates by exponent

  std::int64_t tokens() const { return batch * sequence; }  // per micro-batch
  bool masters() const { return has_masters(precision) && !adapters.fp32; }
  bool tf32() const { return gemm == Gemm::kTf32; }  // including the head
  bool fp8() const;                                  // for the layers' projections, if their sides allow it
  // True if layers are recomputed, except for a segment's last GEMM.
  bool keeps_layer_inputs() const { return checkpointing == Checkpointing::kLayer; }
  std::int64_t recompute_every() const { return keeps_layer_inputs() ? checkpoint_every : 0; }
  // True if GEMM results are kept and cheap operations recomputed.
  bool rebuilds_cheap() const { return checkpointing == Checkpointing::kSelective; }
  // Layers whose activations are alive at once: L, or the k recomputed ones.
  std::int64_t layers_at_once() const;
  // Bytes per number of a GEMM's kept input.
  std::int64_t input_bytes() const { return fp8() ? 1 : element_bytes(); }
  // Bytes per weight, gradient or activation.
  std::int64_t element_bytes() const { return precision == Precision::kFp32 ? 4 : 2; }
  // Bytes per trained weight or gradient (of the adapters, if any).
  std::int64_t trained_bytes() const { return adapters.fp32 ? 4 : element_bytes(); }
  std::int64_t moment_bytes() const;
  // GaLore's r, or the default if it is 0. H = 2,048: 512.
  std::int64_t low_rank() const;
};

StepSettings step_settings(const record::Params& train_step);

// A fact for the provenance if GEMMs differ from the setting; otherwise empty.
std::string gemm_fact(const StepSettings& step, record::DeviceKind device);

// "fp32", as in the benchmarks.
const char* storage_key(Precision precision);

// Convert the shape that a run took from a checkpoint to facts of its provenance ("model.num_layers": "5") and back.
// nullopt if facts are missing; biases and norms over heads default to off.
std::map<std::string, std::string> shape_facts(const llama::Config& taken);
std::optional<llama::Config> taken_shape(const std::map<std::string, std::string>& provenance);

// Includes the shape from the run's checkpoint.
StepSettings settings_of(const record::RunInfo& run, record::Schema train_step);

}  // namespace headroom::predict
