// Computes the candidates for a step's peak.
#include "demos/predict/forms/step_moments.h"

#include <algorithm>

#include "demos/predict/cards/gpu_extras.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/forms/trained_weights.h"
#include "demos/predict/optimizers.h"

namespace headroom::predict {

using record::Bytes;
using record::Category;

namespace {

constexpr Bytes kIdBytes = 8;

// Bytes in addition to those that are always allocated.
struct Extra {
  std::int64_t layer = 0;
  Bytes gradients = 0, activations = 0, logits = 0, workspace = 0;
  std::int64_t streamed_layers = 0;  // layers whose weights are on the device
  std::int64_t gathered_layers = 0;  // the same if ranks share the weights
  bool gathered_table = false;
};

class StepMoments {
 public:
  StepMoments(const StepSettings& step, record::DeviceKind device)
      : step_(step),
        device_(device),
        on_gpu_(device == record::DeviceKind::kGpu),
        c_(step.model),
        s_(step.element_bytes()),
        rows_(layer_input_bytes(step)),
        layer_(layer_bytes(step)),
        trained_(step.adapters.kind == AdapterKind::kOff),
        shares_weights_(step.parallel.shares(Zero::kWeights)),
        shares_gradients_(step.parallel.shares(Zero::kGradients)),
        table_(trained_ ? s_ * c_.vocab_size * c_.hidden_size : 0),
        norm_(trained_ ? s_ * c_.hidden_size : 0),
        layer_gradient_(trained_ ? s_ * layer_parameters(c_, step.extension)
                                 : step.trained_bytes() * adapter_parameters(step) / c_.num_layers),
        mlps_(llama::mlps(c_, step.extension)),
        hidden_(s_ * step.tokens() * mlps_.taken_size() / c_.num_layers) {}

  std::vector<StepMoment> take() {
    add(Place::kLoss, {.gradients = gradients_at_loss(),
                       .activations = kept_at_loss() + final_norm_at_loss(step_),
                       .logits = loss_bytes(step_) + lean_gradient(),
                       .streamed_layers = 1,
                       .gathered_layers = ahead(c_.num_layers),
                       .gathered_table = true});
    if (step_.fp8() && !step_.keeps_layer_inputs()) fp8_forward();
    head();
    final_norm();
    for (const std::int64_t i : highest_layers()) layer(i);
    if (step_.optimizer.in_backward) step_of_last_layer();
    embedding();
    add(Place::kOptimizer, {.gradients = gradients_at_end(),
                            .logits = kept_output_bytes(step_),
                            .workspace = optimizer_scratch_bytes(step_, updated_at_end())});
    return std::move(moments_);
  }

 private:
  void add(Place place, const Extra& extra) {
    StepMoment moment{.place = place, .layer = extra.layer};
    const auto of = [&](Category category) -> Bytes& { return moment.bytes[static_cast<std::size_t>(category)]; };
    of(Category::kWeights) = weights(extra);
    of(Category::kOptimizerState) = optimizer_state_on_device(step_);
    of(Category::kGradients) = extra.gradients;
    of(Category::kActivations) = extra.activations;
    of(Category::kLogits) = extra.logits;
    of(Category::kWorkspace) = libraries() + extra.workspace;
    of(Category::kOther) = tables();
    moments_.push_back(moment);
  }

  Bytes libraries() const {
    if (!on_gpu_) return 0;
    return kBlasWorkspace + (loss_in_chunks(step_) || step_.fp8() ? kBlasLtWorkspace : 0);
  }

  // Layers gathered ahead of `left` remaining ones.
  std::int64_t ahead(std::int64_t left) const { return std::min(step_.parallel.prefetch, left); }

  Bytes weights(const Extra& extra) const {
    return shares_weights_ ? shared_weights() + gathered_weights(extra) : own_weights(extra.streamed_layers);
  }
  // This rank's slices of all matrices, and whole vectors and adapters.
  Bytes shared_weights() const {
    StepSettings all = step_;
    all.adapters.kind = AdapterKind::kOff;
    const Bytes held = s_ * updated_parameters(all) + step_.trained_bytes() * adapter_parameters(step_);
    if (!step_.adapters.quantised()) return held;
    const std::int64_t slices = updated_parameters_of_layer(all) - vectors_of_layer();
    return held - s_ * c_.num_layers * slices + nf4_bytes(c_, step_.extension);
  }
  std::int64_t vectors_of_layer() const {
    return layer_parameters(c_, step_.extension) - projection_parameters(c_, step_.extension) / c_.num_layers;
  }
  Bytes gathered_weights(const Extra& extra) const {
    const Bytes layer =
        step_.adapters.quantised() ? 0 : s_ * projection_parameters(c_, step_.extension) / c_.num_layers;
    return extra.gathered_layers * layer + (extra.gathered_table ? s_ * c_.vocab_size * c_.hidden_size : 0);
  }

  Bytes own_weights(std::int64_t streamed_layers) const {
    const llama::Extension& extension = step_.extension;
    const Bytes outer = s_ * outer_parameters(c_), layer = s_ * layer_parameters(c_, extension);
    if (step_.offload.parameters) return outer + streamed_layers * layer;
    const Bytes all = s_ * llama::num_parameters(c_, extension) + step_.trained_bytes() * adapter_parameters(step_);
    if (!step_.adapters.quantised()) return all;
    return all - s_ * projection_parameters(c_, extension) + nf4_bytes(c_, extension);
  }

  // Token ids and targets of all micro-batches; cosine and sine per position (fused kernel: fp32, half a head); eager
  // attention's mask.
  Bytes tables() const {
    const Bytes t = step_.sequence;
    const Bytes rope = 2 * t * (step_.fused.rope ? kFp32 * c_.head_dim / 2 : s_ * c_.head_dim);
    return 2 * kIdBytes * step_.micro_batches * step_.tokens() + rope + (eager() ? s_ * t * t : 0) +
           fp8_scale_bytes(step_);
  }

  bool eager() const { return step_.fused.attention == Attention::kEager; }

  // The graph keeps the logits, which their gradient has overwritten.
  Bytes logits_in_backward() const {
    const bool over = step_.loss.path == LossPath::kPlain && step_.fused.cross_entropy;
    return kept_output_bytes(step_) + (over ? s_ * c_.vocab_size * step_.tokens() : 0);
  }
  // With slices of the vocabulary, the normed rows' gradient accumulates in fp32.
  Bytes lean_gradient() const {
    const bool lean = loss_in_chunks(step_) && step_.loss.mode == kernels::FlceMode::kLean;
    return lean ? kFp32 * step_.tokens() * c_.hidden_size : 0;
  }

  bool accumulates() const { return step_.micro_batches > 1; }
  // True if gradients move to the host after their layer's backward pass.
  bool leaves() const { return step_.offload.state != StateOffload::kOff; }
  Bytes head_gradient() const {
    return loss_in_chunks(step_) && step_.loss.fp32_weight_gradient && trained_ ? kFp32 * c_.vocab_size * c_.hidden_size
                                                                                : table_;
  }
  Bytes all_gradients() const {
    const Bytes outer = (c_.tie_word_embeddings ? 0 : table_) + head_gradient() + norm_;
    return outer + c_.num_layers * layer_gradient_;
  }
  // Gradients of earlier micro-batches; a step starts without any.
  Bytes earlier_gradients() const { return accumulates() ? kept_gradients() : 0; }
  // Bytes of all gradients after their sum over ranks.
  Bytes kept_gradients() const {
    return shares_gradients_ ? step_.trained_bytes() * updated_parameters(step_) : all_gradients();
  }
  // True if a micro-batch adds to the gradients of earlier ones as it makes its own.
  bool adds() const { return accumulates() && !shares_gradients_; }
  // An fp32 copy of gradients while they are summed over ranks.
  Bytes fp32_copy(Bytes gradients) const {
    const bool fp32 = step_.parallel.ranks > 1 && step_.parallel.fp32_sums && step_.trained_bytes() != kFp32;
    return fp32 ? gradients / step_.trained_bytes() * kFp32 : 0;
  }
  // Layers whose gradients are summed over ranks together. A bucket's sum ends when the next bucket is full.
  std::int64_t layers_in_bucket() const {
    if (step_.parallel.ranks == 1 || layer_gradient_ == 0) return 1;
    return std::clamp<Bytes>((step_.parallel.bucket + layer_gradient_ - 1) / layer_gradient_, 1, c_.num_layers + 1);
  }
  // After `done` layers' backward: those that wait for a full bucket, and those in the running sum.
  std::int64_t waiting(std::int64_t done) const { return done % layers_in_bucket(); }
  std::int64_t in_sum(std::int64_t done) const {
    return step_.parallel.ranks == 1 || done < layers_in_bucket() ? 0 : layers_in_bucket();
  }
  // Gradients on their way to the host: the last layer's or, with several ranks, those of the sum that ended with it.
  Bytes leaving(std::int64_t done) const {
    if (!leaves() || done == 0) return 0;
    if (step_.parallel.ranks == 1) return layer_gradient_;
    const bool just_ended = waiting(done) == 0 && done >= 2 * layers_in_bucket();
    return !just_ended ? 0 : shares_gradients_ ? layer_part() : layer_gradient_;
  }
  // A rank's part of a layer's gradients.
  Bytes layer_part() const { return step_.trained_bytes() * updated_parameters_of_layer(step_); }
  // The chunked loss computes the head's weight gradient, or adds to an earlier one.
  Bytes gradients_at_loss() const {
    return earlier_gradients() + (loss_in_chunks(step_) && !adds() ? head_gradient() : 0);
  }
  // Gradients after the head's backward pass. A tied table's gradient waits for the embedding's, unless the chunked
  // loss has added it to an earlier one.
  Bytes gradients_behind_head() const {
    if (!adds()) return earlier_gradients() + head_gradient() + norm_;
    const bool waits = c_.tie_word_embeddings && !loss_in_chunks(step_);
    return earlier_gradients() + (waits ? head_gradient() : 0);
  }
  // Gradients after layer i's backward pass. `gone`: those on their way to the host have arrived and are freed.
  Bytes gradients_behind_layer(std::int64_t i, bool gone = false) const {
    const std::int64_t done = c_.num_layers - i, unsummed = waiting(done) + in_sum(done);
    const Bytes copies = in_sum(done) * fp32_copy(layer_gradient_);
    const Bytes whole = unsummed * layer_gradient_ + copies + (gone ? 0 : leaving(done));
    if (shares_gradients_) {
      const bool kept = !accumulates() && !leaves() && !step_.optimizer.in_backward;
      return gradients_behind_head() + whole + (kept ? (done - unsummed) * layer_part() : 0);
    }
    if (leaves() && accumulates() && i == 0) return outer_gradients() + whole;
    if (accumulates() || step_.optimizer.in_backward) return gradients_behind_head() + copies;
    return gradients_behind_head() + (leaves() ? whole : done * layer_gradient_ + copies);
  }
  Bytes outer_gradients() const { return all_gradients() - c_.num_layers * layer_gradient_; }
  Bytes gradients_at_end() const {
    const bool outer_only = step_.optimizer.in_backward || leaves();
    if (shares_gradients_)
      return outer_only ? step_.trained_bytes() * updated_outer_parameters(step_) : kept_gradients();
    return outer_only ? outer_gradients() : all_gradients();
  }

  std::int64_t updated_at_end() const {
    const std::int64_t layers = layer_gradient_ / step_.trained_bytes() * c_.num_layers;
    if (step_.parallel.shards() > 1)
      return step_.optimizer.in_backward ? updated_outer_parameters(step_) : updated_parameters(step_);
    return trained_parameters(step_) - (step_.optimizer.in_backward ? layers : 0);
  }

  // A segment's layers are recomputed together; without checkpoints all layers are one segment.
  std::int64_t first_of_segment(std::int64_t i) const { return i - i % step_.layers_at_once(); }
  std::int64_t end_of_segment(std::int64_t i) const {
    return std::min(first_of_segment(i) + step_.layers_at_once(), c_.num_layers);
  }
  // Inputs of the segments up to layer i's; with offload, at most `most_on_device` of them.
  Bytes kept_inputs(std::int64_t i, std::int64_t most_on_device) const {
    const std::int64_t all = i / step_.layers_at_once() + 1;
    return rows_ * (step_.offload.checkpoints ? std::min(most_on_device, all) : all);
  }
  Bytes between() const { return between_layers_bytes(step_); }
  // A GPU's fp32 attention copies K and V for each query head.
  Bytes repeated_keys() const {
    const bool repeats = on_gpu_ && !eager() && s_ == kFp32;
    return repeats ? 2 * s_ * step_.tokens() * (c_.num_heads - c_.num_kv_heads) * c_.head_dim : 0;
  }
  Bytes whole_layer() const { return layer_.sum() + repeated_keys(); }
  // Activations excluding the final norm's. With offload, the input with which the backward pass starts stays on the
  // device.
  Bytes kept_at_loss() const {
    if (step_.keeps_layer_inputs()) return kept_inputs(c_.num_layers - 1, 1);
    return c_.num_layers * (whole_layer() + between());
  }
  // The graph keeps the normed rows' gradient of the chunked loss until backward ends.
  Bytes held() const { return loss_in_chunks(step_) ? rows_ : 0; }
  // The fused norm overwrites held() with its own gradient, which the last segment reads.
  Bytes shared_with_held(std::int64_t i) const {
    const bool last = step_.keeps_layer_inputs() ? end_of_segment(i) == c_.num_layers : i == c_.num_layers - 1;
    return step_.fused.rms_norm && last ? held() : 0;
  }
  // Rows gathered for experts: each token's row once per chosen expert.
  Bytes gathered() const { return rows_ * mlps_.expert.taken / c_.num_layers; }
  bool keeps_in_mlp() const { return step_.fused.keep && mlp_is_read(step_); }

  Bytes codes(std::int64_t width) const { return step_.fp8() ? step_.tokens() * width : 0; }

  // fp8 codes take one byte per number, in addition to their sources. Also alive in the last layer's down projection:
  // SwiGLU's product, Q and K before RoPE, attention's result. A recomputed product is overwritten by its codes; the
  // temporary sixteenth of the codes is not counted.
  void fp8_forward() {
    const Bytes turned = step_.fused.rope ? 0 : s_ * step_.tokens() * (c_.num_heads + c_.num_kv_heads) * c_.head_dim;
    add(Place::kForward,
        {.layer = c_.num_layers - 1,
         .gradients = earlier_gradients(),
         .activations = kept_at_loss() + hidden_ + 2 * rows_ + turned,
         .logits = kept_output_bytes(step_),
         .workspace = (gated_in_parts() ? 0 : codes(c_.intermediate_size)) + widest_projection() / s_});
  }

  // For a weight gradient in the MLP: codes of the result's gradient and, unless kept, of the input.
  Bytes codes_read(std::int64_t result, std::int64_t input) const {
    return codes(result) + (keeps_in_mlp() ? 0 : codes(input));
  }

  // The logits' gradient in the model's type, and the head's two gradients.
  void head() {
    if (loss_in_chunks(step_)) return;
    add(Place::kHead, {.gradients = earlier_gradients() + head_gradient(),
                       .activations = kept_at_loss() + final_norm_at_loss(step_) + rows_,
                       .logits = s_ * c_.vocab_size * step_.tokens() + kept_output_bytes(step_),
                       .streamed_layers = 1,
                       .gathered_layers = ahead(c_.num_layers),
                       .gathered_table = true});
  }

  // PyTorch's operators use six fp32 tensors: the input, the normed rows' gradient, and the results of product,
  // reciprocal and square.
  void final_norm() {
    const Bytes norm = step_.fused.rms_norm ? 2 * rows_ : 6 * kFp32 * step_.tokens() * c_.hidden_size + held();
    add(Place::kFinalNorm, {.gradients = gradients_behind_head(),
                            .activations = kept_at_loss() + norm,
                            .logits = logits_in_backward(),
                            .streamed_layers = 1,
                            .gathered_layers = ahead(c_.num_layers),
                            .gathered_table = true});
  }

  // Candidates for the peak: the last layers of the last two and the first two segments, and the first layer; with
  // several ranks also the first and the last layer before which most gradients wait for their sum. Memory is monotonic
  // between these layers.
  std::vector<std::int64_t> highest_layers() const {
    const std::int64_t layers = c_.num_layers, at_once = step_.layers_at_once(), bucket = layers_in_bucket();
    std::vector<std::int64_t> all{layers - 1, first_of_segment(layers - 1) - 1, std::min(2 * at_once, layers) - 1,
                                  at_once - 1, 0};
    if (step_.parallel.ranks > 1) {
      all.push_back(std::max<std::int64_t>(layers - 2 * bucket, 0));
      all.push_back(std::min(layers % bucket, layers - 1));
    }
    std::erase(all, -1);
    std::sort(all.rbegin(), all.rend());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  // Tensors that the adapters of gate, up and down keep, and the gradient of down's tensor.
  Bytes low_in_mlp() const {
    return !trained_ && mlp_is_read(step_) ? 4 * step_.trained_bytes() * step_.tokens() * step_.adapters.rank : 0;
  }

  // Candidates in a layer: recompute, MLP, before the MLP's norm, attention.
  void layer(std::int64_t i) {
    const bool again = step_.keeps_layer_inputs(), top = i + 1 == end_of_segment(i);
    const std::int64_t first = first_of_segment(i);
    if (again && top) recompute(i);
    Bytes others = (i - first) * (whole_layer() + between());
    // A segment's input, and the gradient of its result.
    others += again ? kept_inputs(i, 2) + (top ? 0 : rows_) : between();
    const Extra rest{.layer = i,
                     .gradients = gradients_behind_layer(i + 1, again),
                     .activations = others + held() + rows_,
                     .logits = logits_in_backward(),
                     .streamed_layers = i + 1 - first + (top && first > 0 ? 1 : 0),
                     .gathered_layers = gathered_at(i)};
    const Bytes matrix = trained_ ? widest_projection() : 0;
    // By now, gradients have replaced the experts' results.
    const Bytes routed = layer_.routing + (step_.rebuilds_cheap() ? gathered() : 0) + low_in_mlp();
    const Bytes before_mlp = layer_.attention_norm + layer_.attention + repeated_keys() + layer_.mlp_norm + routed;
    // Fused: gate and up with gradients in place, the product's gradient, and the product if kept. PyTorch's operators:
    // also SiLU's result, separate gradients and, if recomputed, the product.
    const std::int64_t in_mlp = step_.fused.swiglu ? (keeps_in_mlp() ? 4 : 3) : step_.rebuilds_cheap() ? 7 : 6;
    const std::int64_t down = adds() && !step_.fused.swiglu ? 0 : 1;  // 0: already added to an earlier gradient
    const Bytes coded = step_.fp8() && keeps_in_mlp() ? hidden_ - hidden_ / s_ : 0;  // bytes that codes save
    if (gated_in_parts())
      add_parts(rest, matrix, before_mlp + 2 * hidden_ - shared_with_held(i));
    else
      add_layer(rest, down * matrix, before_mlp + in_mlp * hidden_ - coded - shared_with_held(i),
                dense_weight() + (step_.fused.swiglu ? codes_read(c_.hidden_size, c_.intermediate_size) : 0));
    // The fused norm's result, which the gradients of gate and up read, is recomputed or kept.
    const Bytes normed = keeps_in_mlp() || step_.fp8() ? 0 : rows_;
    const Bytes at_norm = before_mlp + 2 * hidden_ + rows_ + normed + gathered() - shared_with_held(i);
    if (step_.fused.rms_norm)
      add_layer(rest, (adds() ? 2 : 3) * matrix, at_norm, codes_read(c_.intermediate_size, c_.hidden_size));
    add_layer(rest, adds() ? 0 : layer_gradient_, attention() - (again ? shared_with_held(i) : 0),
              on_gpu_ ? attention_scratch_bytes(step_) : 0);
  }

  // In layer i's backward: its segment's layers up to it, if they were recomputed, and those gathered ahead.
  std::int64_t gathered_at(std::int64_t i) const {
    if (!step_.keeps_layer_inputs()) return 1 + ahead(i);
    return i + 1 - first_of_segment(i) + ahead(first_of_segment(i));
  }

  // Backward pass of the down projection in fp8 if SwiGLU's product is recomputed: first some rows of the product's
  // gradient, with codes of product, result's gradient and weight; then only codes and the weight's gradient.
  bool gated_in_parts() const {
    return step_.fp8() && step_.fused.swiglu && !keeps_in_mlp() && !step_.extension.experts;
  }
  void add_parts(const Extra& rest, Bytes matrix, Bytes activations) {
    const Bytes some = s_ * rows_at_once_in_fp8(step_.tokens()) * c_.intermediate_size;
    const Bytes read = codes(c_.intermediate_size) + codes(c_.hidden_size);
    add_layer(rest, 0, activations + some, read + widest_projection() / s_);
    add_layer(rest, matrix, activations, read);
  }

  void add_layer(Extra moment, Bytes gradients, Bytes activations, Bytes workspace) {
    moment.gradients += gradients;
    moment.activations += activations;
    moment.workspace = workspace;
    add(Place::kLayer, moment);
  }

  // Eager: Q, K, the values' gradient, and fp32 scores four times (softmax, its gradient, their product, the result);
  // with selective checkpointing also attention's result and its gradient. Other kernels: the kept tensors and four
  // gradients.
  Bytes attention() const {
    const std::int64_t n = step_.tokens(), q = c_.num_heads * c_.head_dim, k = c_.num_kv_heads * c_.head_dim;
    const Bytes again = step_.keeps_layer_inputs() ? rows_ : 0;  // the stream's gradient and the result's are two
                                                                 // tensors
    const Bytes kept = layer_.attention_norm + again;
    const Bytes scores = 4 * kFp32 * n * step_.sequence * c_.num_heads;
    if (eager()) return kept + (step_.rebuilds_cheap() ? layer_.attention + 5 * n * s_ * q : 3 * n * s_ * q) + scores;
    return kept + layer_.attention + repeated_keys() + n * s_ * (2 * q + 2 * (repeated_keys() > 0 ? q : k));
  }
  // A layer's gate, up or down projection; its experts form one grouped GEMM.
  Bytes widest_projection() const { return s_ * c_.hidden_size * mlps_.stored_size() / c_.num_layers; }
  // A 4-bit matrix is dequantized for its GEMM. 8,192 × 2,048 in bf16: 33,554,432.
  Bytes dense_weight() const { return step_.adapters.quantised() ? widest_projection() : 0; }

  // Recompute of a segment's last layer, without its last GEMM and sum. Besides the kept tensors: Q and K before RoPE,
  // attention's result, a sum, the gradient from above, and at the end SwiGLU's product unless kept. During up's GEMM,
  // the normed rows replace the product. Gradients that move to the host are freed after the segment's first recomputed
  // layer.
  void recompute(std::int64_t i) {
    const std::int64_t first = first_of_segment(i), layers = i + 1 - first;
    const Bytes turned = step_.fused.rope ? 0 : s_ * step_.tokens() * (c_.num_heads + c_.num_kv_heads) * c_.head_dim;
    const Bytes sum = between() > 0 ? 0 : rows_;  // 0: counted in between()
    const bool read = mlp_is_read(step_);
    const Bytes product = hidden_ * (step_.fused.swiglu ? read && !trained_ && !keeps_in_mlp() : !read);
    const Bytes behind_up = hidden_ * (step_.fused.swiglu ? keeps_in_mlp() : 1 + read);
    const Bytes normed = (step_.fused.rms_norm ? keeps_in_mlp() : read) ? 0 : rows_;
    Extra rest{.layer = i,
               .gradients = gradients_behind_layer(i + 1, layers > 1),
               .activations = kept_inputs(i, 2) + layers * whole_layer() + (layers - 1) * between() + turned + sum +
                              2 * rows_ + held() - shared_with_held(i),
               .logits = logits_in_backward(),
               .streamed_layers = layers + (first > 0 ? 1 : 0),
               .gathered_layers = gathered_at(i)};
    rest.activations += product;
    add(Place::kRecompute, rest);
    rest.activations += normed - behind_up - product;
    rest.workspace = dense_weight();
    add(Place::kRecompute, rest);
  }

  // Weight update in the backward pass: all gradients of the last layer, none of its activations.
  void step_of_last_layer() {
    const Bytes done = step_.keeps_layer_inputs() ? rows_ : whole_layer() + between();
    add(Place::kLayerStep, {.layer = c_.num_layers - 1,
                            .gradients = gradients_behind_head() + layer_gradient_,
                            .activations = kept_at_loss() - done + rows_ + held(),
                            .logits = logits_in_backward(),
                            .workspace = copied_moment_bytes(step_, layer_gradient_ / step_.trained_bytes()),
                            .gathered_layers = 1 + ahead(c_.num_layers - 1)});
  }

  // The embedding's backward pass: a second table gradient, unless the fused kernel adds to an existing one; then their
  // sum, if it needs a third table.
  void embedding() {
    const bool there = adds() || (c_.tie_word_embeddings && loss_in_chunks(step_));
    const Bytes second = step_.fused.embedding && there ? 0 : table_;
    const auto add_sum = [&](Bytes before) {
      add(Place::kEmbedding, {.gradients = before + second,
                              .activations = (trained_ ? rows_ : 0) + held(),
                              .logits = logits_in_backward(),
                              .workspace = trained_ ? embedding_scratch_bytes(step_, device_) : 0});
      if (!sums_tied_apart(step_)) return;
      add(Place::kEmbedding, {.gradients = before + 2 * second,
                              .activations = (trained_ ? 0 : -rows_) + held(),
                              .logits = logits_in_backward()});
    };
    add_sum(gradients_behind_layer(0));
    // Only the last micro-batch's gradients leave.
    if (leaves() && step_.micro_batches > 2 && !shares_gradients_) add_sum(gradients_behind_head());
    if (step_.parallel.ranks > 1) sum_of_outer();
  }

  // The last sum over ranks: whole gradients of the outer weights and of waiting layers and, if ranks share gradients,
  // the rank's parts.
  void sum_of_outer() {
    const bool kept = !step_.optimizer.in_backward && !leaves();
    const std::int64_t layers = waiting(c_.num_layers);
    if (shares_gradients_ && !accumulates()) {  // the sum before it ends: parts are made next to whole gradients
      const Bytes embedding = c_.tie_word_embeddings ? 0 : table_;
      add(Place::kEmbedding, {.gradients = gradients_behind_layer(0) + embedding + in_sum(c_.num_layers) * layer_part(),
                              .logits = kept_output_bytes(step_)});
    }
    const Bytes summed = outer_gradients() + layers * layer_gradient_;
    Bytes gradients = summed + fp32_copy(summed);
    if (shares_gradients_)
      gradients +=
          (kept ? c_.num_layers : layers) * layer_part() + step_.trained_bytes() * updated_outer_parameters(step_);
    else if (kept)
      gradients += (c_.num_layers - layers) * layer_gradient_;
    add(Place::kEmbedding, {.gradients = gradients, .logits = kept_output_bytes(step_)});
  }

  const StepSettings& step_;
  record::DeviceKind device_;
  bool on_gpu_;
  const llama::Config& c_;
  Bytes s_, rows_;  // s: bytes per element; rows: bytes of a tensor [tokens, H]
  LayerBytes layer_;
  bool trained_;  // false: only adapters are trained
  bool shares_weights_, shares_gradients_;
  Bytes table_, norm_, layer_gradient_;
  llama::Mlps mlps_;
  Bytes hidden_;  // bytes of a layer's tensor [tokens, active MLP units]
  std::vector<StepMoment> moments_;
};

}  // namespace

std::vector<StepMoment> step_moments(const StepSettings& step, record::DeviceKind device) {
  return StepMoments(step, device).take();
}

const StepMoment& highest_of(const std::vector<StepMoment>& moments) {
  return *std::ranges::max_element(moments, {}, [](const StepMoment& moment) { return record::total(moment.bytes); });
}

Bytes final_norm_at_loss(const StepSettings& step) {
  const bool kept = step.adapters.kind == AdapterKind::kOff || loss_in_chunks(step);
  return final_norm_bytes(step) - (kept ? 0 : layer_input_bytes(step));
}

}  // namespace headroom::predict
