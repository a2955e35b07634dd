#include "lessons/steps/step_work.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

namespace headroom::lessons {

using record::KernelSpan;
using record::Nanoseconds;
using record::Recording;
using record::SpanKind;

bool computes(const KernelSpan& span) { return span.kind == SpanKind::kKernel || span.kind == SpanKind::kHostOperator; }

std::vector<KernelSpan> spans_of(const Recording& recording, const SpanFilter& filter) {
  std::vector<KernelSpan> found;
  for (const KernelSpan& span : recording.kernel_spans()) {
    if (span.step != filter.step) continue;
    if (filter.phase >= 0 && static_cast<int>(span.phase) != filter.phase) continue;
    if (recording.op_name(span.op).ends_with(filter.op)) found.push_back(span);
  }
  std::ranges::stable_sort(found, {}, &KernelSpan::start);
  return found;
}

StepWork work_of(const std::vector<KernelSpan>& spans) {
  StepWork work;
  Nanoseconds first = 0, until = 0;
  bool any = false;
  for (const KernelSpan& span : spans) {  // by start
    if (span.kind == SpanKind::kRuntimeCall) continue;
    work.on_cpu = work.on_cpu || span.kind == SpanKind::kHostOperator;
    if (computes(span)) {
      ++work.launches;
      work.kernel_time += span.duration;
    } else {
      ++work.copies;
    }
    if (span.bytes > 0) work.bytes += span.bytes;
    if (!any) first = until = span.start;
    any = true;
    work.idle += std::max<Nanoseconds>(span.start - until, 0);
    until = std::max(until, span.start + span.duration);
  }
  work.length = until - first;
  return work;
}

std::string work_text(const StepWork& work, const ShownUnit& unit) {
  const std::string_view noun = work.on_cpu ? "operator" : "launch", plural = work.on_cpu ? "s" : "es";
  std::string text =
      fmt::format("{} {}{}, {} {}", record::format_count(static_cast<std::int64_t>(work.launches)), noun,
                  work.launches == 1 ? "" : plural, amount_text(static_cast<double>(work.kernel_time), unit),
                  work.on_cpu ? "computing" : "of kernels");
  if (work.idle > 0) text += fmt::format(", {} idle", amount_text(static_cast<double>(work.idle), unit));
  if (work.bytes > 0) text += fmt::format(", {} moved", record::format_bytes(work.bytes));
  return text;
}

std::vector<std::int32_t> traced_steps(const Recording& recording) {
  std::set<std::int32_t> steps;
  for (const KernelSpan& span : recording.kernel_spans())
    if (span.step >= 0) steps.insert(span.step);
  return {steps.begin(), steps.end()};
}

std::int32_t last_traced_step(const Recording& recording) {
  std::int32_t last = -1;
  for (const KernelSpan& span : recording.kernel_spans()) last = std::max(last, span.step);
  return last;
}

std::string why_not_traced(const Recording& recording) {
  if (last_traced_step(recording) >= 0) return {};
  const auto& provenance = recording.info().provenance;
  if (const auto trouble = provenance.find("trace_trouble"); trouble != provenance.end()) return trouble->second;
  if (recording.info().source == record::Source::kPredicted) return "A prediction runs no kernel: run the step itself.";
  if (provenance.count("traced") == 0) return "The kernels of this run were not traced.";
  return recording.outcome() ? "The run ended before its first step was complete."
                             : "Waiting for the first complete step.";
}

Work work_kind(const Recording& recording, const KernelSpan& span) {
  if (span.kind == SpanKind::kRuntimeCall) return Work::kHost;
  if (span.kind == SpanKind::kCopy || span.kind == SpanKind::kMemset) return Work::kMove;
  const std::string_view name = recording.op_name(span.name);
  if (name.starts_with("headroom::")) return Work::kOurs;
  // cuBLAS and cuDNN name kernels after tile shapes; CPU operators are PyTorch's.
  constexpr std::array<std::string_view, 8> kProducts{"gemm",  "gemv", "cutlass", "nvjet",
                                                      "flash", "fmha", "splitK",  "attention"};
  const bool product =
      std::ranges::any_of(kProducts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
  const bool cpu_product = name == "mm" || name == "bmm" || name == "addmm" || name == "baddbmm" || name == "addmm_";
  return product || cpu_product ? Work::kProduct : Work::kOther;
}

}  // namespace headroom::lessons
