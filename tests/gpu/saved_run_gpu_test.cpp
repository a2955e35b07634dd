// Saving a run on a GPU, and resuming from it.
#include <vector>

#include "tests/llama/checkpoints/resumed_run.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;

}  // namespace

TEST_CASE("ten saved and ten resumed steps on a GPU equal twenty steps bit for bit") {
  const Settings small{"model=custom", "hidden_size=64", "num_layers=2",         "num_heads=4",    "num_kv_heads=2",
                       "head_dim=16",  "batch=2",        "intermediate_size=96", "vocab_size=320", "seq=32"};
  const std::vector<Settings> kinds{
      {"vocab_size=140000"},  // 36 MB, copied in several pieces
      {"precision=bf16", "rounding=stochastic"},
      {"precision=fp16_mixed", "loss_scale=1024", "loss_scale_window=4"},
      {"precision=bf16", "gemm=fp8", "fp8_scaling=delayed"},
      {"precision=bf16", "optimizer=adamw_8bit"},
      {"precision=bf16", "adapters=qlora", "lora_rank=4"},
      {"precision=bf16_mixed", "adapters=lora", "lora_rank=4", "lora_precision=fp32"},
      {"precision=bf16_mixed", "offload.optimizer=host"},
      {"precision=fp16_mixed", "loss_scale=65536", "loss_scale_window=4", "offload.optimizer=host"},
  };
  for (const Settings& kind : kinds) {
    CAPTURE(text_of(kind));
    check_resumed(joined(small, kind), kGpu);
  }
}
