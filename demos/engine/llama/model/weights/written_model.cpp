// Maps names to tensors.
#include "demos/engine/llama/model/weights/written_model.h"

#include <map>
#include <string>

#include <c10/util/Exception.h>

namespace headroom::llama {

namespace {

at::Tensor merged(const Projection& p, at::ScalarType type) {
  if (p.quantised == nullptr && !p.a_RI.defined()) return p.weight_OI.detach();
  at::Tensor weight =
      p.quantised != nullptr ? kernels::nf4_dequantise(*p.quantised, type) : p.weight_OI.detach().clone();
  if (p.a_RI.defined()) add_adapter(weight, p);
  return weight;
}

}  // namespace

std::vector<TensorToWrite> whole_model(const Model& model, std::span<const Parameter> held) {
  std::multimap<std::string, TensorToWrite> weights;
  for (const Parameter& each : held)
    weights.emplace(each.name, to_write({.name = each.name, .tensor = each.tensor.detach(), .part = each.part}));
  std::map<std::string, Projection> beside;
  for (std::size_t i = 0; i < model.adapters.size(); ++i)
    for (std::size_t k = 0; k < kProjectionKinds; ++k) {
      const auto kind = static_cast<ProjectionKind>(k);
      beside.emplace("model.layers." + std::to_string(i) + "." + projection_name(kind) + ".weight",
                     projection(model, static_cast<std::int64_t>(i), kind));
    }
  const at::ScalarType type = model.embed_tokens_VH.scalar_type();
  std::vector<TensorToWrite> all;
  for (const WeightShape& weight : weight_shapes(model.config)) {
    const auto adapted = beside.find(weight.name);
    if (adapted != beside.end()) {
      all.push_back({weight.name, type, weight.shape, [p = adapted->second, type] { return merged(p, type); }});
      continue;
    }
    const auto [begin, end] = weights.equal_range(weight.name);
    TORCH_INTERNAL_ASSERT(begin != end, "no rank holds ", weight.name);
    for (auto part = begin; part != end; ++part) all.push_back(part->second);
  }
  return all;
}

std::vector<StateTensor> trained_tensors(const Model& model, std::span<const Parameter> held) {
  const std::string prefix = model.adapters.empty() ? "" : "base_model.model.";
  std::vector<StateTensor> all;
  for (const Parameter& each : held) append(all, prefix + each.name, each.tensor, each.part);
  return all;
}

}  // namespace headroom::llama
