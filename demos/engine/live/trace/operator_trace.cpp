// Tracks nested operators.
#include "demos/engine/live/trace/operator_trace.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/operator_name.h>

#include "demos/record/scope.h"

namespace headroom::live {

using record::Bytes;
using record::KernelSpan;
using record::Nanoseconds;

namespace {

OperatorTrace* the_trace = nullptr;

// Operators that allocate or make a view, but touch no memory.
constexpr std::array<std::string_view, 8> kTouchNothing{"aten::empty",       "aten::empty_strided", "aten::empty_like",
                                                        "aten::new_empty",   "aten::resize_",       "aten::detach_",
                                                        "aten::as_strided_", "aten::set_"};
// Operators whose first argument is only written.
constexpr std::array<std::string_view, 6> kOnlyWrite{"aten::copy_",   "aten::fill_",    "aten::zero_",
                                                     "aten::normal_", "aten::uniform_", "aten::random_"};

template <class List, class Item>
bool among(const List& list, const Item& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Counts stored elements: a repeated dimension (stride 0) counts as size 1.
Bytes bytes_of(const at::Tensor& tensor) {
  Bytes elements = 1;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) == 0) return 0;
    if (tensor.stride(i) != 0) elements *= tensor.size(i);
  }
  return elements * static_cast<Bytes>(tensor.itemsize());
}

template <class Visit>
void each_tensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (tensor.defined() && tensor.has_storage() && !tensor.is_sparse()) visit(tensor);
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (tensor.defined() && tensor.has_storage()) visit(tensor);
    }
  } else if (value.isList()) {  // optional tensors, such as indices
    for (const c10::IValue& item : value.toListRef()) {
      if (item.isTensor()) each_tensor(item, visit);
    }
  }
}

// True if the last arguments are outputs, as in "mm.out".
bool is_out_variant(const at::RecordFunction& function) {
  const auto name = function.operator_name();
  return name && std::string_view(name->overload_name).ends_with("out");
}

bool writes_into_argument(const at::RecordFunction& function) {
  return std::string_view(function.name()).ends_with('_') || is_out_variant(function);
}

// Tensors read by an operator, listed when it begins: LibTorch frees the arguments before the operator ends.
struct Reads {
  Bytes bytes = 0;
  std::vector<const void*> storages;
};

bool counts(const at::Tensor& tensor, bool on_gpu) { return tensor.is_cuda() || !on_gpu; }

Reads reads_of(const at::RecordFunction& function, bool on_gpu) {
  Reads reads;
  const std::string_view name = function.name();
  const bool only_writes_first = among(kOnlyWrite, name);
  const auto inputs = function.inputs();
  const std::size_t first_written =
      is_out_variant(function) ? inputs.size() - std::min(inputs.size(), function.num_outputs()) : inputs.size();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    each_tensor(inputs[i], [&](const at::Tensor& tensor) {
      reads.storages.push_back(tensor.storage().data());
      const bool read = i < first_written && !(i == 0 && only_writes_first);
      if (counts(tensor, on_gpu) && read) reads.bytes += bytes_of(tensor);
    });
  }
  return reads;
}

// Lower bound of bytes read and written; 0 for a view.
Bytes moved_bytes(const at::RecordFunction& function, const Reads& reads, bool on_gpu) {
  if (function.scope() == at::RecordScope::USER_SCOPE) return reads.bytes;  // it touches only its arguments
  if (among(kTouchNothing, function.name())) return 0;
  const bool into_argument = writes_into_argument(function);
  bool writes = false;
  Bytes bytes = reads.bytes;
  for (const c10::IValue& output : function.outputs()) {
    each_tensor(output, [&](const at::Tensor& tensor) {
      const void* const storage = tensor.storage().data();
      if (!into_argument && among(reads.storages, storage)) return;  // a view
      writes = true;
      if (counts(tensor, on_gpu)) bytes += bytes_of(tensor);
    });
    if (output.isScalar()) writes = true;  // item()'s number
  }
  return writes ? bytes : 0;
}

std::string_view short_name(std::string_view name) {
  constexpr std::string_view kPrefix = "aten::";
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

}  // namespace

struct OperatorTrace::Frame final : at::ObserverContext {
  Nanoseconds begin = 0;
  std::size_t first_call = 0;  // index among device calls
  std::size_t first_span = 0;  // index among CPU spans
  Reads reads;
  record::Tag tag;
};

OperatorTrace::OperatorTrace(KernelTrace* kernels, std::function<Nanoseconds()> now)
    : kernels_(kernels), now_(std::move(now)) {
  the_trace = this;
  handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&begins, &ends)
                                           .needsInputs(true)
                                           .needsOutputs(true)
                                           .scopes({at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE}));
}

OperatorTrace::~OperatorTrace() {
  at::removeCallback(handle_);
  the_trace = nullptr;
}

std::unique_ptr<at::ObserverContext> OperatorTrace::begins(const at::RecordFunction& function) {
  if (the_trace == nullptr) return nullptr;
  auto frame = std::make_unique<Frame>();
  frame->first_call = the_trace->kernels_ != nullptr ? the_trace->kernels_->calls() : 0;
  frame->first_span = the_trace->spans_.size();
  frame->reads = reads_of(function, the_trace->kernels_ != nullptr);
  frame->tag = record::current_tag();
  frame->begin = the_trace->now_();
  return frame;
}

void OperatorTrace::ends(const at::RecordFunction& function, at::ObserverContext* context) {
  if (the_trace != nullptr && context != nullptr) the_trace->leave(function, static_cast<const Frame&>(*context));
}

void OperatorTrace::leave(const at::RecordFunction& function, const Frame& frame) {
  if (kernels_ != nullptr) {
    if (kernels_->calls() == frame.first_call) return;
    const Bytes bytes = moved_bytes(function, frame.reads, /*on_gpu=*/true);
    if (bytes > 0) kernels_->add_bytes(frame.first_call, bytes);
    return;
  }
  const Nanoseconds duration = now_() - frame.begin;
  const Bytes bytes = moved_bytes(function, frame.reads, /*on_gpu=*/false);
  if (bytes == 0) return;
  // Keeps this operator's span or those of operators that it called: whichever took longer by themselves.
  Nanoseconds inside = 0;
  for (std::size_t i = frame.first_span; i < spans_.size(); ++i) inside += spans_[i].duration;
  if (frame.first_span < spans_.size() && inside > duration - inside) return;
  spans_.resize(std::min(spans_.size(), frame.first_span));
  spans_.push_back({.start = frame.begin,
                    .duration = duration,
                    .bytes = bytes,
                    .step = step_,
                    .name = record::intern_operator(short_name(function.name())),
                    .op = frame.tag.op,
                    .layer = frame.tag.layer,
                    .kind = record::SpanKind::kHostOperator,
                    .phase = frame.tag.phase});
}

std::vector<KernelSpan> OperatorTrace::collect() { return std::exchange(spans_, {}); }

}  // namespace headroom::live
