// The panels. GPU sizes are those that training has; on a CPU tensors are just too large for its caches (64 MiB and
// more).
#include "demos/experiments/bench_plan.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace headroom::experiments {

namespace {

using record::DeviceKind;

struct LlamaShape {
  const char* label;
  std::int64_t hidden, intermediate, heads, kv_heads, head_dim;
};
constexpr std::array kLlamas{
    LlamaShape{"Llama 3.2 1B", 2048, 8192, 32, 8, 64},
    LlamaShape{"Llama 3.2 3B", 3072, 8192, 24, 8, 128},
    LlamaShape{"Llama 3 8B", 4096, 14336, 32, 8, 128},
};
constexpr std::int64_t kVocab = 128256;  // of Llama 3

class Planner {
 public:
  Planner(const record::Params& params, DeviceKind device)
      : kernel_(params.text("kernel")),
        panel_(params.text("panel")),
        storage_(params.text("storage")),
        rows_(params.integer("rows")),
        width_(params.integer("width")),
        quick_(params.on("quick")),
        gpu_(device == DeviceKind::kGpu) {
    if (storage_ == "auto") storage_ = gpu_ ? "bf16" : "fp32";
  }

  std::vector<BenchCase> plan() {
    if (panel_ != "report") kernels();
    if (panel_ != "kernels") report();
    return std::move(cases_);
  }

 private:
  void kernels() {
    for (const char* norm : {"rms_norm", "add_rms_norm", "layer_norm"}) {
      if (gpu_)
        by_width(norm, 8192, {2048, 4096, 8192, 16384});
      else
        by_width(norm, 0, {2048, 8192});
    }
    ropes();
    for (const char* gated : {"swiglu", "geglu"}) by_llama_mlp(gated);
    if (gpu_)
      by_width("cross_entropy", 8192, {40960, 81920, kVocab, 163840, 262144});
    else
      by_width("cross_entropy", 256, {81920, kVocab});
    linear_cross_entropies();
    embeddings();
    for (const char* of_weights : {"adamw", "adamw_8bit", "nf4"}) {
      if (gpu_)
        by_width(of_weights, 1, {std::int64_t{1} << 24, std::int64_t{1} << 27});
      else
        by_width(of_weights, 1, {std::int64_t{1} << 22, std::int64_t{1} << 24});
    }
  }

  // The set-up of figures 9 and 10 of the Liger paper (Hsu et al. 2024, arXiv:2410.10989): rows, widths and storage. On a
  // CPU cross entropy and LayerNorm take fewer rows, and the MLPs are left out: their products would take minutes.
  void report() {
    const std::vector<std::int64_t> lengths{4096, 8192, 12288, 16384};
    const std::string small = gpu_ ? "bf16" : "fp32";
    for (const std::int64_t vocab : {40960, 81920, 122880, 163840})
      add_report({.kernel = "cross_entropy", .storage = "fp32", .rows = gpu_ ? 8 * 2048 : 128, .width = vocab});
    for (const char* mlp : {"geglu", "swiglu"}) {
      if (!gpu_) break;
      for (const std::int64_t length : lengths)
        add_report({.kernel = mlp, .storage = small, .rows = 4 * length, .width = 11008, .batch = 4, .hidden = 4096});
    }
    for (const std::int64_t hidden : lengths)
      add_report({.kernel = "rms_norm", .storage = small, .rows = 2048, .width = hidden});
    for (const std::int64_t hidden : lengths)
      add_report({.kernel = "layer_norm", .storage = "fp32", .rows = gpu_ ? 4096 : 1024, .width = hidden});
    for (const std::int64_t hidden : lengths) {
      add_report({.kernel = "rope",
                  .storage = small,
                  .rows = 2048,
                  .width = 40 * (hidden / 32),
                  .heads = 32,
                  .kv_heads = 8,
                  .head_dim = hidden / 32});
    }
  }

  // rows 0: as many as make a tensor of 64 MiB in fp32.
  void by_width(const char* kernel, std::int64_t rows, std::vector<std::int64_t> widths) {
    if (quick_) widths = {widths[widths.size() / 2]};
    if (width_ > 0) widths = {width_};
    for (const std::int64_t width : widths) {
      const std::int64_t some = rows > 0 ? rows : std::max<std::int64_t>(2, (std::int64_t{1} << 24) / width);
      add({.kernel = kernel, .storage = storage_, .rows = rows_or(some), .width = width});
    }
  }

  void by_llama_mlp(const char* kernel) {
    // 64 MiB and more at F 8192 in bf16 on a GPU, and in fp32 on a CPU.
    const std::int64_t rows = rows_or(gpu_ ? 8192 : 2048);
    if (width_ > 0) {
      add({.kernel = kernel, .storage = storage_, .rows = rows, .width = width_});
      return;
    }
    if (gpu_ && !quick_)  // F 8192 at which gate, up and product are 64 MiB together, and 200
      for (const std::int64_t few : {1408, 4096})
        add({.kernel = kernel,
             .storage = storage_,
             .label = fmt::format("{} tokens", record::format_count(few)),
             .rows = few,
             .width = 8192});
    for (const LlamaShape& llama : kLlamas) {
      if (llama.intermediate == 8192 && llama.hidden == 3072) continue;  // the 3B has the F of the 1B
      if (quick_ && llama.hidden != 2048) continue;
      add({.kernel = kernel,
           .storage = storage_,
           .label = llama.hidden == 2048 ? "Llama 3.2 1B, 3B" : llama.label,
           .rows = rows,
           .width = llama.intermediate});
    }
  }

  void ropes() {
    for (const LlamaShape& llama : kLlamas) {
      if (quick_ && llama.hidden != 4096) continue;
      add({.kernel = "rope",
           .storage = storage_,
           .label = llama.label,
           .rows = rows_or(gpu_ ? 8192 : 4096),
           .width = (llama.heads + llama.kv_heads) * llama.head_dim,
           .heads = llama.heads,
           .kv_heads = llama.kv_heads,
           .head_dim = llama.head_dim});
    }
  }

  void linear_cross_entropies() {
    struct Size {
      std::int64_t rows, hidden;
    };
    const std::vector<Size> gpu{{4096, 2048}, {8192, 2048}, {16384, 2048}, {8192, 4096}};
    const std::vector<Size> cpu{{512, 256}};
    for (const Size& size : gpu_ ? gpu : cpu) {
      if (quick_ && gpu_ && (size.rows != 8192 || size.hidden != 2048)) continue;
      add({.kernel = "fused_linear_cross_entropy",
           .storage = storage_,
           .rows = rows_or(size.rows),
           .width = width_ > 0 ? width_ : size.hidden,
           .vocab = gpu_ ? kVocab : 32768});
      if (width_ > 0 && rows_ > 0) return;
    }
  }

  void embeddings() {
    for (const std::int64_t hidden : {2048, 4096}) {
      if (hidden != 2048 && (quick_ || width_ > 0 || !gpu_)) continue;
      add({.kernel = "embedding_backward",
           .storage = storage_,
           .rows = rows_or(8192),
           .width = width_ > 0 ? width_
                    : gpu_     ? hidden
                               : 512,
           .vocab = kVocab});
    }
  }

  std::int64_t rows_or(std::int64_t rows) const { return rows_ > 0 && rows > 1 ? rows_ : rows; }

  void add(BenchCase one) {
    if (kernel_ != "all" && kernel_ != one.kernel) return;
    one.panel = one.kernel;
    cases_.push_back(std::move(one));
  }

  void add_report(BenchCase one) {
    if (kernel_ != "all" && kernel_ != one.kernel) return;
    const std::string panel = "report." + one.kernel;
    if (quick_ && !cases_.empty() && cases_.back().panel == panel) return;
    one.panel = panel;
    cases_.push_back(std::move(one));
  }

  std::string kernel_, panel_, storage_;
  std::int64_t rows_, width_;
  bool quick_, gpu_;
  std::vector<BenchCase> cases_;
};

}  // namespace

std::vector<BenchCase> bench_plan(const record::Params& params, DeviceKind device) {
  return Planner(params, device).plan();
}

}  // namespace headroom::experiments
