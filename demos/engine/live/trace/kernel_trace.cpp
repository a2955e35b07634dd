// Handles callbacks of launches, and activity records, with the types of CUDA 13.0's cupti.h.
#include "demos/engine/live/trace/kernel_trace.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include <cxxabi.h>

#include "demos/engine/live/trace/cupti.h"
#include "demos/record/scope.h"

namespace headroom::live {

using record::Bytes;
using record::KernelSpan;
using record::Nanoseconds;
using record::SpanKind;

namespace {

// Records of CUDA 13.0. 13.1 renumbers them, but newer libraries write these for programs built before 13.1.
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
using MemsetRecord = CUpti_ActivityMemset4;

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;  // about 5,000 kernels
constexpr std::size_t kBufferAlignment = 8;

// Calls that put work on the device or wait for it. cuBLAS and other libraries call the driver directly; driver calls
// inside a runtime call count as that call.
struct Traced {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  const char* name;
};
constexpr CUpti_CallbackDomain kRuntime = CUPTI_CB_DOMAIN_RUNTIME_API, kDriver = CUPTI_CB_DOMAIN_DRIVER_API;
constexpr std::array kTraced{
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, "cudaLaunchKernel"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, "cudaLaunchKernelExC"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000, "cudaLaunchCooperativeKernel"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, "cudaGraphLaunch"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, "cudaMemcpy"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, "cudaMemcpyAsync"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020, "cudaMemset"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, "cudaMemsetAsync"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, "cudaMalloc"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020, "cudaFree"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, "cudaStreamSynchronize"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020, "cudaEventSynchronize"},
    Traced{kRuntime, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cudaDeviceSynchronize"},
    Traced{kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
    Traced{kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, "cuLaunchKernelEx"},
    Traced{kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel"},
    Traced{kDriver, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "cuGraphLaunch"},
    Traced{kDriver, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, "cuMemcpyAsync"},
    Traced{kDriver, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync"},
    Traced{kDriver, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync"},
    Traced{kDriver, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, "cuMemcpyDtoDAsync"},
    Traced{kDriver, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, "cuMemsetD8Async"},
    Traced{kDriver, CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, "cuMemsetD32Async"},
};

// CUPTI converts the device's clock to this one.
std::uint64_t steady_now() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

Nanoseconds signed_now() { return static_cast<Nanoseconds>(steady_now()); }

// Nesting depth of traced calls on this thread, and the outermost call's index.
constexpr std::size_t kNotKept = static_cast<std::size_t>(-1);
thread_local int t_depth = 0;
thread_local std::size_t t_call = kNotKept;

const char* direction(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "copy, host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "copy, device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "copy, device to device";
    default:
      return "copy";
  }
}

}  // namespace

KernelTrace& KernelTrace::install() {
  static KernelTrace& trace = *new KernelTrace;
  return trace;
}

// Callbacks find the object through install(). None runs during construction: nothing uses CUDA then.
KernelTrace::KernelTrace() : cupti_(std::make_unique<Cupti>()) {
  trouble_ = start();
  if (!trouble_.empty()) return;
  std::uint32_t number = 0;  // 130001 for 13.0, update 1
  if (cupti_->version(&number) == CUPTI_SUCCESS) {
    version_ = "CUPTI " + std::to_string(number / 10'000) + "." + std::to_string(number / 100 % 100);
  }
}

std::string KernelTrace::start() {
  if (!cupti_->load()) {
    return "CUPTI (libcupti.so.13) is missing, so kernels cannot be traced: ./run installs it with LibTorch.";
  }
  std::array<char, 256> other{};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "Headroom";
  params.oldSubscriberName = other.data();
  params.oldSubscriberSize = other.size() - 1;
  CUpti_SubscriberHandle subscriber = nullptr;
  const CUptiResult subscribed = cupti_->subscribe(
      &subscriber,
      [](void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
        const auto& call = *static_cast<const CUpti_CallbackData*>(data);
        auto& trace = *static_cast<KernelTrace*>(self);
        if (call.callbackSite == CUPTI_API_EXIT) return trace.leave();
        static const auto names = [] {
          std::array<std::uint16_t, kTraced.size()> numbers{};
          for (std::size_t i = 0; i < kTraced.size(); ++i) numbers[i] = record::intern_operator(kTraced[i].name);
          return numbers;
        }();
        const auto* const found = std::find_if(kTraced.begin(), kTraced.end(), [&](const Traced& traced) {
          return traced.domain == domain && traced.id == id;
        });
        const auto index = static_cast<std::size_t>(found - kTraced.begin());
        const bool known = index < names.size();
        trace.enter(call.correlationId, known ? names[index] : record::kNoOperator,
                    known && std::string_view(found->name).find("Launch") != std::string_view::npos);
      },
      this, &params);
  if (subscribed == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return std::string("Another tool traces this process") +
           (other[0] != '\0' && other[0] != '<' ? std::string(" (") + other.data() + ")" : std::string()) +
           ": stop it to see kernels. The run itself continues.";
  }
  if (subscribed != CUPTI_SUCCESS) return cupti_->sentence(subscribed);

  // By default the buffers take device memory, which no page could explain.
  std::uint8_t host_pinned = 1;
  std::size_t size = sizeof host_pinned;
  CUptiResult result = cupti_->set_attribute(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, &size, &host_pinned);
  if (result == CUPTI_SUCCESS) result = cupti_->register_timestamp(&steady_now);
  if (result == CUPTI_SUCCESS) {
    result = cupti_->register_buffers(
        [](std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
          *buffer = install().give_buffer();
          *bytes = *buffer == nullptr ? 0 : kBufferBytes;
          *most_records = 0;  // as many as fit
        },
        [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
          install().take_buffer(buffer, valid);
        });
  }
  // Kind KERNEL would serialize all kernels.
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
    if (result == CUPTI_SUCCESS) result = cupti_->enable(kind);
  }
  for (const Traced& traced : kTraced) {
    if (result == CUPTI_SUCCESS) result = cupti_->enable_callback(1, subscriber, traced.domain, traced.id);
  }
  return result == CUPTI_SUCCESS ? std::string() : cupti_->sentence(result);
}

void KernelTrace::begin(Nanoseconds now) {
  if (!trouble_.empty()) return;
  (void)cupti_->flush_all(0);  // drops earlier records
  const std::lock_guard guard(mutex_);
  origin_ = signed_now() - now;
  calls_.clear();
  call_of_.clear();
  activities_.clear();
  streams_.clear();
  step_ = -1;
  recording_ = true;
}

void KernelTrace::end() { recording_ = false; }

void KernelTrace::enter(std::uint32_t correlation, std::uint16_t name, bool launches) {
  if (t_depth++ > 0) {
    if (t_call == kNotKept) return;
    const std::lock_guard guard(mutex_);
    call_of_.try_emplace(correlation, t_call);  // the driver's number of the same call
    return;
  }
  t_call = kNotKept;
  if (!recording_.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(mutex_);
  t_call = calls_.size();
  call_of_[correlation] = t_call;
  calls_.push_back({.tag = record::current_tag().pack(),
                    .begin = signed_now(),
                    .end = 0,
                    .bytes = record::kUnknownBytes,
                    .correlation = correlation,
                    .step = step_.load(std::memory_order_relaxed),
                    .name = name,
                    .launches = launches});
}

void KernelTrace::leave() {
  if (--t_depth > 0 || t_call == kNotKept) return;
  const Nanoseconds now = signed_now();
  const std::lock_guard guard(mutex_);
  if (t_call < calls_.size()) calls_[t_call].end = now;
  t_call = kNotKept;
}

std::size_t KernelTrace::calls() const {
  const std::lock_guard guard(mutex_);
  return calls_.size();
}

// A GEMM may first clear a counter by memset; the bytes belong to the GEMM's kernel.
void KernelTrace::add_bytes(std::size_t first, Bytes bytes) {
  const std::lock_guard guard(mutex_);
  if (first >= calls_.size()) return;
  const auto begin = calls_.begin() + static_cast<std::ptrdiff_t>(first);
  auto call = std::find_if(begin, calls_.end(), [](const TracedCall& each) { return each.launches; });
  if (call == calls_.end()) call = begin;
  if (call->bytes == record::kUnknownBytes) call->bytes = bytes;
}

// CUPTI asks for buffers during a launch, where fresh pages would cost a millisecond.
std::uint8_t* KernelTrace::give_buffer() {
  const std::lock_guard guard(mutex_);
  if (buffers_.empty()) return static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  std::uint8_t* const buffer = buffers_.back();
  buffers_.pop_back();
  return buffer;
}

// Runs on CUPTI's thread or the flushing one.
void KernelTrace::take_buffer(std::uint8_t* buffer, std::size_t bytes) {
  const bool wanted = recording_.load(std::memory_order_relaxed);
  std::size_t lost = 0;
  if (cupti_->num_dropped(nullptr, 0, &lost) == CUPTI_SUCCESS && wanted) dropped_ += lost;
  CUpti_Activity* next = nullptr;
  const std::lock_guard guard(mutex_);
  const auto keep = [this](const auto& made, SpanKind kind, std::uint16_t name, Bytes moved) {
    activities_.push_back({.begin = static_cast<Nanoseconds>(made.start),
                           .end = static_cast<Nanoseconds>(made.end),
                           .bytes = moved,
                           .correlation = made.correlationId,
                           .stream = made.streamId,
                           .name = name,
                           .kind = kind});
  };
  while (wanted && cupti_->next_record(buffer, bytes, &next) == CUPTI_SUCCESS) {
    if (next->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto& kernel = *reinterpret_cast<const KernelRecord*>(next);
      keep(kernel, SpanKind::kKernel, kernel_name(kernel.name), record::kUnknownBytes);
    } else if (next->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto& copy = *reinterpret_cast<const CopyRecord*>(next);
      keep(copy, SpanKind::kCopy, record::intern_operator(direction(copy.copyKind)), static_cast<Bytes>(copy.bytes));
    } else if (next->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      const auto& memset = *reinterpret_cast<const MemsetRecord*>(next);
      keep(memset, SpanKind::kMemset, record::intern_operator("memset"), static_cast<Bytes>(memset.bytes));
    }
  }
  buffers_.push_back(buffer);
}

std::uint16_t KernelTrace::kernel_name(const char* mangled) {
  const auto [place, added] = names_.try_emplace(mangled == nullptr ? "" : mangled, record::kNoOperator);
  if (added) place->second = record::intern_operator(readable_kernel_name(place->first.c_str()));
  return place->second;
}

std::uint8_t KernelTrace::stream_number(std::uint32_t stream) {
  const auto found = std::find(streams_.begin(), streams_.end(), stream);
  const auto number = static_cast<std::size_t>(found - streams_.begin());
  if (found == streams_.end()) streams_.push_back(stream);
  return static_cast<std::uint8_t>(std::min<std::size_t>(number, 255));
}

KernelSpan KernelTrace::span_of(const TracedActivity& activity) {
  KernelSpan span{.start = activity.begin - origin_,
                  .duration = std::max<Nanoseconds>(activity.end - activity.begin, 0),
                  .bytes = activity.bytes,
                  .correlation = activity.correlation,
                  .name = activity.name,
                  .kind = activity.kind,
                  .stream = stream_number(activity.stream)};
  if (const auto call = call_of_.find(activity.correlation); call != call_of_.end()) {
    TracedCall& from = calls_[call->second];
    const record::Tag tag = record::Tag::unpack(from.tag);
    span.step = from.step;
    span.op = tag.op;
    span.layer = tag.layer;
    span.phase = tag.phase;
    span.correlation = from.correlation;
    // Kernels of a graph share one call, whose bytes count once.
    if (span.bytes == record::kUnknownBytes) span.bytes = std::exchange(from.bytes, record::kUnknownBytes);
  }
  return span;
}

std::vector<KernelSpan> KernelTrace::collect() {
  std::vector<KernelSpan> spans;
  if (!trouble_.empty()) return spans;
  (void)cupti_->flush_all(0);
  const std::lock_guard guard(mutex_);
  std::sort(activities_.begin(), activities_.end(),
            [](const TracedActivity& a, const TracedActivity& b) { return a.begin < b.begin; });
  spans.reserve(activities_.size() + calls_.size());
  for (const TracedActivity& activity : activities_) spans.push_back(span_of(activity));
  for (const TracedCall& call : calls_) {
    const record::Tag tag = record::Tag::unpack(call.tag);
    spans.push_back({.start = call.begin - origin_,
                     .duration = std::max<Nanoseconds>(call.end - call.begin, 0),
                     .bytes = record::kUnknownBytes,
                     .correlation = call.correlation,
                     .step = call.step,
                     .name = call.name,
                     .op = tag.op,
                     .layer = tag.layer,
                     .kind = SpanKind::kRuntimeCall,
                     .phase = tag.phase});
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const KernelSpan& a, const KernelSpan& b) { return a.start < b.start; });
  calls_.clear();
  call_of_.clear();
  activities_.clear();
  return spans;
}

std::uint64_t KernelTrace::take_dropped() { return dropped_.exchange(0); }

std::string readable_kernel_name(const char* mangled) {
  int status = -1;
  const std::unique_ptr<char, decltype(&std::free)> demangled(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                              &std::free);
  std::string name = status == 0 ? demangled.get() : mangled;
  for (const std::string_view noise : {"(anonymous namespace)::", "<unnamed>::"}) {
    for (auto at = name.find(noise); at != std::string::npos; at = name.find(noise, at)) name.erase(at, noise.size());
  }
  if (name.starts_with("void ")) name.erase(0, 5);
  // The parameters begin at the first bracket outside template arguments.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && i > 0) {
      name.resize(i);
      break;
    }
  }
  constexpr std::size_t kLongest = 200;
  if (name.size() > kLongest) name.replace(kLongest, std::string::npos, "…");
  return name;
}

}  // namespace headroom::live
