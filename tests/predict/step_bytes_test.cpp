// The closed forms against hand-computed numbers, for Llama 3.2 1B unless stated otherwise.
#include "demos/predict/forms/step_bytes.h"

#include <initializer_list>
#include <string_view>

#include "demos/experiments/demo.h"
#include "demos/predict/optimizers.h"
#include "tests/predict/settings.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::predict;

namespace {

constexpr std::int64_t kParameters = 1'235'814'400;

// Too narrow for whole blocks.
const llama::Config kNarrow{.id = "custom",
                            .hidden_size = 64,
                            .intermediate_size = 128,
                            .num_layers = 1,
                            .num_heads = 4,
                            .num_kv_heads = 4,
                            .head_dim = 16,
                            .vocab_size = 256};

}  // namespace

TEST_CASE("a model's parameters are those of its layers and those outside") {
  const llama::Config& c = *llama::find_config("llama-3.2-1b");
  CHECK(layer_parameters(c) == 60'821'504);
  CHECK(outer_parameters(c) == 128'256LL * 2048 + 2048);
  CHECK(16 * layer_parameters(c) + outer_parameters(c) == kParameters);
  llama::Config other = c;
  other.qkv_bias = other.o_bias = other.qk_norm = true;
  CHECK(layer_parameters(other) == 60'821'504 + 2048 + 2 * 512 + 2048 + 2 * 64);
  CHECK(projection_parameters(other) == projection_parameters(c));
  CHECK(projection_parameters(c) == 16LL * (2 * 2048 * 2048 + 2 * 512 * 2048 + 3 * 2048 * 8192));
}

TEST_CASE("8-bit moments take 2.031 bytes per parameter") {
  CHECK(moments_8bit_bytes(256) == 520);
  CHECK(moments_8bit_bytes(257) == 514 + 16);
  CHECK(moments_8bit_bytes(4096, 2048) == 8192 + 16);
  // 2 P + 8 · P/256; P is a multiple of 256.
  CHECK(moments_8bit_bytes(kParameters) == 2'471'628'800 + 38'619'200);
  // Blocks per tensor: the table 64, the matrices 4 · 16 and 3 · 32, the three norms one each.
  StepSettings step = tests::with({"optimizer=adamw_8bit"});
  step.model = kNarrow;
  CHECK(optimizer_state_bytes(step) == 2 * (256 * 64 + 4 * 4'096 + 3 * 8'192 + 3 * 64) + 8 * (64 + 64 + 96 + 3));
  // Adapters of rank 1: 14 vectors of 64 or 128.
  step.adapters = {.kind = AdapterKind::kLora, .rank = 1};
  CHECK(optimizer_state_bytes(step) == 2 * (11 * 64 + 3 * 128) + 8 * 14);
}

TEST_CASE("checkpoints take B T H s per kept input") {
  CHECK(checkpoint_bytes(tests::with({"precision=bf16", "checkpointing=layer"})) == 268'435'456);
  CHECK(checkpoint_bytes(tests::with({"precision=bf16", "checkpointing=every", "checkpoint_every=4"})) == 67'108'864);
  // inputs of layers 0, 5, 10 and 15
  CHECK(checkpoint_bytes(tests::with({"precision=bf16", "checkpointing=every", "checkpoint_every=5"})) ==
        4 * 16'777'216);
  // k has no effect.
  CHECK(checkpoint_bytes(tests::with({"precision=bf16", "checkpointing=layer", "checkpoint_every=4"})) == 268'435'456);
}

TEST_CASE("a layer keeps its backward's inputs, and checkpointing keeps inputs and recomputed layers") {
  // Per token, bf16, composed: norms 2 × (4 H + 4 H + 4), queries and output 2 × 2 H, keys and values 2 × 2 · 512,
  // log-sum-exp 4 · 32, the MLP 8 · 8,192.
  const auto bytes = [](std::initializer_list<std::string_view> more) { return layer_bytes(tests::with(more)).sum(); };
  CHECK(bytes({"precision=bf16"}) == 4096LL * (32'776 + 8192 + 2048 + 128 + 65'536));
  CHECK(bytes({"precision=bf16"}) == 445'153'280);
  // Fused: the second norm's input, two numbers per row, gate and up; together 11.5 layer inputs.
  const record::Bytes fused = bytes({"precision=bf16", "fused.rms_norm=on", "fused.swiglu=on"});
  CHECK(fused == 4096LL * (4096 + 8 + 8192 + 2048 + 128 + 32'768));
  // With fused.keep, also both norms' results and SwiGLU's.
  CHECK(bytes({"precision=bf16", "fused.rms_norm=on", "fused.swiglu=on", "fused.keep=on"}) ==
        fused + 4096LL * (2 * 4096 + 16'384));
  CHECK(bytes({"precision=bf16", "fused.rms_norm=on", "fused.swiglu=on", "fused.keep=on", "adapters=lora",
               "lora_targets=attention"}) -
            bytes({"precision=bf16", "fused.rms_norm=on", "fused.swiglu=on", "adapters=lora",
                   "lora_targets=attention"}) ==
        4096LL * 4096);  // the first norm's result
  CHECK(bytes({"precision=bf16", "fused.rms_norm=on", "fused.keep=on"}) ==
        bytes({"precision=bf16", "fused.rms_norm=on"}));  // no effect without fused.swiglu
  CHECK(bytes({"precision=bf16", "batch=8"}) == 2 * 445'153'280LL);
  // Eager: queries, keys and values per head, output, and 32 scores per pair of tokens.
  CHECK(bytes({"precision=bf16", "attention=eager"}) == 4096LL * (32'776 + 4 * 4096 + 65'536) + 805'306'368);
  CHECK(score_bytes(tests::with({"precision=bf16"})) == 805'306'368);
  CHECK(score_bytes(tests::with({"precision=fp32"})) == 4 * 32LL * 1024 * 1024 * 4);
  // Selective: norm inputs, gate and up; with eager attention also queries, keys and values.
  CHECK(bytes({"precision=bf16", "checkpointing=selective"}) == 4096LL * (4096 + 8192 + 2048 + 128 + 32'768));
  CHECK(bytes({"precision=bf16", "checkpointing=selective", "attention=eager"}) ==
        4096LL * (4096 + 4096 + 2048 + 32'768));
  // Frozen norms keep no normed rows. Seven adapters of rank 16 keep 32 bytes per token each. Adapters in attention
  // only: the MLP's norm and SwiGLU keep no results.
  CHECK(bytes({"precision=bf16", "adapters=lora"}) == 4096LL * (24'584 + 8192 + 2048 + 128 + 65'536 + 7 * 32));
  CHECK(bytes({"precision=bf16", "adapters=lora", "lora_targets=attention"}) ==
        4096LL * (24'584 - 4096 + 8192 + 2048 + 128 + 49'152 + 4 * 32));
  // Adapters in fp32 keep 64 bytes per token each; their weights and gradients take four bytes, without masters.
  CHECK(bytes({"precision=bf16", "adapters=lora", "lora_precision=fp32"}) -
            bytes({"precision=bf16", "adapters=lora"}) ==
        4096LL * 7 * 32);
  const StepSettings fp32 = tests::with({"precision=bf16_mixed", "adapters=lora", "lora_precision=fp32"});
  CHECK(fp32.trained_bytes() == 4);
  CHECK_FALSE(fp32.masters());
  CHECK(optimizer_state_bytes(fp32) == 8 * adapter_parameters(fp32));
  CHECK(tests::with({"precision=bf16", "adapters=lora"}).trained_bytes() == 2);
  CHECK(tests::with({"precision=bf16", "lora_precision=fp32"}).trained_bytes() == 2);
  // Norms of 32 + 8 heads of 64. Fused: inputs and a number per head; composed: fp32 inputs and normed heads.
  StepSettings head_norms = tests::with({"precision=bf16", "fused.rms_norm=on", "fused.swiglu=on"});
  head_norms.model.qk_norm = true;
  CHECK(layer_bytes(head_norms).sum() == fused + 4096LL * (2 * 2560 + 4 * 40));
  head_norms = tests::with({"precision=bf16"});
  head_norms.model.qk_norm = true;
  CHECK(layer_bytes(head_norms).sum() == 445'153'280 + 4096LL * (6 * 2560 + 4 * 40));

  CHECK(activation_bytes(tests::with({"precision=bf16"})) == 7'189'561'344);  // measured: 6,857 MiB
  const auto every = [](std::string_view k) {
    return activation_bytes(tests::with({"precision=bf16", "checkpointing=every", k}));
  };
  CHECK(every("checkpoint_every=1") == 268'435'456 + 445'153'280);
  CHECK(every("checkpoint_every=4") == 1'847'721'984);
  CHECK(every("checkpoint_every=64") == 16'777'216 + 16 * 445'153'280LL);  // at most all layers
  CHECK(activation_bytes(tests::with({"precision=bf16", "checkpointing=layer"})) == every("checkpoint_every=1"));
  // The fused norm also keeps the inputs of a segment's later layers.
  CHECK(activation_bytes(tests::with(
            {"precision=bf16", "checkpointing=every", "checkpoint_every=2", "fused.rms_norm=on", "fused.swiglu=on"})) ==
        8 * 16'777'216 + 2 * fused + 16'777'216);
  // All layers, each with its input.
  CHECK(activation_bytes(tests::with({"precision=bf16", "checkpointing=selective"})) ==
        16 * (4096LL * (4096 + 8192 + 2048 + 128 + 32'768) + 16'777'216) + 67'108'864);
}

TEST_CASE("each loss path has its number of logit tensors") {
  const auto bytes = [](std::string_view first, std::string_view second = "seed=0") {
    return loss_bytes(tests::with({"precision=bf16", "batch=8", first, second}));
  };
  constexpr std::int64_t kLogits = 4 * 8192LL * 128'256;  // in fp32
  constexpr std::int64_t kShifted = 4 * 8184LL * 128'256;
  CHECK(kLogits == 4'202'692'608);
  CHECK(bytes("loss=hf_2024") == 2 * kLogits + 2 * kShifted);
  CHECK(bytes("loss=hf_2024") - bytes("loss=hf_2024", "keep_output=off") == kLogits);
  CHECK(bytes("loss=hf_2025", "keep_output=off") == 3 * kLogits);
  CHECK(bytes("loss=hf_2025") == 3 * kLogits + kLogits / 2);
  CHECK(bytes("loss=plain") == 3 * kLogits);
  CHECK(bytes("loss=plain", "fused.cross_entropy=on") == kLogits / 2);
  // Our rule: 1,024 tokens, 262.7 MB. Liger's: 256, 65.7 MB.
  CHECK(bytes("loss=flce") == 1'024LL * 128'256 * 2);
  CHECK(bytes("loss=flce", "loss_mode=report") == 256LL * 128'256 * 2);
  // Five equal chunks instead of four of 1,024 and a short one.
  const StepSettings even = tests::with({"precision=bf16", "loss=flce", "batch=5", "seq=1000"});
  CHECK(loss_chunk(even) == 1'000);
  CHECK(loss_bytes(even) == 256'512'000);
  // With V ≤ H, Liger's rule takes all tokens. Rows are aligned to 16 bytes.
  StepSettings small = tests::with({"precision=bf16", "loss=flce", "loss_mode=report", "batch=5", "seq=1000"});
  small.model.vocab_size = 1'001;
  CHECK(loss_chunk(small) == 5'000);
  CHECK(loss_bytes(small) == 5'000LL * 1'008 * 2);
}

TEST_CASE("the closed form of the fused loss uses the kernel's chunk rule") {
  const auto chunk = [](std::string_view batch, std::string_view first = "seed=0", std::string_view second = "seed=0") {
    return loss_chunk(tests::with({"precision=bf16", "loss=flce", batch, first, second}));
  };
  // The next power of two of ⌈N / 63⌉, with ⌈V / H⌉ = 63.
  CHECK(chunk("batch=1", "loss_mode=report") == 32);
  CHECK(chunk("batch=8", "loss_mode=report") == 256);
  CHECK(chunk("batch=112", "loss_mode=report") == 2'048);
  CHECK(chunk("batch=8") == 1'024);
  CHECK(chunk("batch=8", "weight_gradient=fp32") == 2'048);
  CHECK(chunk("batch=1", "weight_gradient=fp32") == 1'024);  // at most all tokens
  CHECK(chunk("batch=8", "loss_chunk=100") == 100);
  CHECK(chunk("batch=1", "loss_chunk=5000") == 1'024);
  CHECK(chunk("batch=8", "loss_mode=report", "loss_chunk=100") == 256);  // ignored by Liger's rule
  // Slices of 76 MiB: 79,691,776 B / (2 · 8,192) = 4,864 columns, a multiple of 128.
  CHECK(chunk("batch=8", "loss_mode=lean") == 4'864);
  CHECK(loss_bytes(tests::with({"precision=bf16", "loss=flce", "batch=8", "loss_mode=lean"})) == 79'691'776);
}

TEST_CASE("adapters train r (in + out) weights per matrix") {
  const llama::Config square{.hidden_size = 2048,
                             .intermediate_size = 2048,
                             .num_layers = 1,
                             .num_heads = 32,
                             .num_kv_heads = 32,
                             .head_dim = 64,
                             .vocab_size = 256};
  CHECK(lora_parameters(square, 16, AdapterTargets::kAttention) == 4 * 65'536);
  CHECK(lora_parameters(square, 16, AdapterTargets::kMlp) == 3 * 65'536);
  // 1B: r · (4,096 + 2,560 + 2,560 + 4,096 + 3 · 10,240) · 16
  CHECK(adapter_parameters(tests::with({"adapters=lora"})) == 11'272'192);
  CHECK(trained_parameters(tests::with({"adapters=qlora"})) == 11'272'192);
  CHECK(adapter_parameters(tests::with({})) == 0);
  CHECK(trained_parameters(tests::with({})) == kParameters);
}

TEST_CASE("NF4 with double quantization takes 4.127 bits per weight") {
  // 973,078,528 weights in 7 · 16 matrices, each with a mean.
  const record::Bytes bytes = nf4_bytes(*llama::find_config("llama-3.2-1b"));
  CHECK(bytes == 486'539'264 + 15'204'352 + 237'568 + 4 * 7 * 16);
  CHECK(static_cast<double>(bytes) * 8 / 973'078'528 == Approx(4.127).epsilon(1e-4));
  // Four matrices of 64 × 64 with 64 absmaxes, three of 64 × 128 with 128; each has one scale and one mean.
  CHECK(nf4_bytes(kNarrow) == 4 * (2'048 + 64 + 4 + 4) + 3 * (4'096 + 128 + 4 + 4));
}

TEST_CASE("foreach AdamW copies the second moments of the weights that it steps together") {
  const auto foreach = tests::with({"precision=bf16", "optimizer=adamw_foreach"});
  CHECK(optimizer_state_on_device(foreach) == 4 * kParameters);
  CHECK(optimizer_scratch_bytes(foreach, kParameters) == 2 * kParameters);
  CHECK(optimizer_scratch_bytes(tests::with({"precision=bf16"}), kParameters) == 0);
}

TEST_CASE("paged AdamW has no moments in the device's allocator") {
  const auto paged = tests::with({"precision=bf16_mixed", "optimizer=paged_adamw_8bit"});
  CHECK(optimizer_state_on_device(paged) == 4 * kParameters);  // masters
  CHECK(optimizer_state_bytes(paged) ==
        optimizer_state_bytes(tests::with({"precision=bf16_mixed", "optimizer=adamw_8bit"})));
}

TEST_CASE("GaLore keeps moments of r rows and the projection") {
  CHECK(galore_elements(2048, 8192, 512) == 2 * 512 * 8192 + 512 * 2048);
  CHECK(galore_elements(8192, 2048, 512) == galore_elements(2048, 8192, 512));
  CHECK(galore_elements(512, 2048, 4096) == 2 * 512 * 2048 + 512 * 512);  // at most all rows
  // A layer at r = 512: q and o, k and v, the MLP.
  const std::int64_t layer = 2 * 3'145'728LL + 2 * 2'359'296LL + 3 * 9'437'184LL;
  CHECK(galore_elements(tests::with({"optimizer=galore"})) == 16 * layer);
}

TEST_CASE("the optimizer's state is the masters and moments of trained weights") {
  CHECK(optimizer_state_bytes(tests::with({})) == 8 * kParameters);
  CHECK(optimizer_state_bytes(tests::with({"precision=bf16"})) == 4 * kParameters);
  CHECK(optimizer_state_bytes(tests::with({"precision=bf16", "moments=fp32"})) == 8 * kParameters);
  CHECK(optimizer_state_bytes(tests::with({"moments=bf16"})) == 4 * kParameters);
  CHECK(optimizer_state_bytes(tests::with({"precision=bf16_mixed"})) == 14'829'772'800);  // 12 P
  CHECK(optimizer_state_bytes(tests::with({"precision=bf16_mixed", "adapters=lora"})) == 12 * 11'272'192);
  CHECK(optimizer_state_bytes(tests::with({"precision=bf16", "optimizer=adamw_8bit"})) == 2'510'248'000);
  CHECK(optimizer_state_bytes(tests::with({"precision=bf16_mixed", "offload.optimizer=file"})) == 12 * kParameters);
}

TEST_CASE("the tiles of fp32 attention equal an H200's requests") {
  CHECK(predict::fp32_attention_tiles(28 * 64, 138, 128) == 234'995'712);
  CHECK(predict::fp32_attention_tiles(1, 64, 64) == 64 * 64 * 4 + 16);  // one block of 64 queries and one of columns
  CHECK(predict::fp32_attention_tiles(1, 65, 96) == 2 * (128 * 64 * 4 + 16));  // wider heads: 128 queries
}

TEST_CASE("an fp8 GEMM keeps one byte per number of its input, and scales are small") {
  const LayerBytes bf16 = layer_bytes(tests::with({"precision=bf16"})),
                   fp8 = layer_bytes(tests::with({"precision=bf16", "gemm=fp8"}));
  const record::Bytes tokens = 4096, hidden = 2048, intermediate = 8192;
  CHECK(bf16.attention_norm - fp8.attention_norm == tokens * hidden);
  CHECK(bf16.attention == fp8.attention);  // attention's result stays in 16 bits
  CHECK(bf16.mlp_norm - fp8.mlp_norm == tokens * hidden);
  CHECK(bf16.mlp - fp8.mlp == tokens * intermediate);
  CHECK(fp8_scale_bytes(tests::with({"precision=bf16", "gemm=fp8"})) == 26'884);
  CHECK(fp8_scale_bytes(tests::with({"precision=bf16"})) == 0);
  CHECK_FALSE(tests::with({"precision=bf16", "gemm=fp8", "batch=1", "seq=1023"}).fp8());  // not a multiple of 16
}
