// headroom bench train_step: compares the step's time with a lower bound: the time of its GEMMs plus the time to move
// all other bytes at copy bandwidth.
#include "app/cli/commands/bench.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/drive.h"
#include "app/cli/output.h"
#include "app/common/session.h"
#include "app/common/settings_json.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/predict/time/step_bound.h"
#include "demos/record/quantile.h"

namespace headroom::app {

using record::Error;
using record::ErrorKind;
using record::Measurement;
using record::Params;

namespace {

constexpr double kBoundGoal = 0.70;  // share of the bound's tokens per second

bool has_gpu(const backend::Backend& engine) {
  const auto devices = engine.devices();
  return std::any_of(devices.begin(), devices.end(), [](const auto& device) { return record::names_gpu(device.key); });
}

record::Result<Params> params_for(const BenchOptions& options, const backend::Backend& engine) {
  Params params = fast_step();
  std::vector<std::string> assignments{fmt::format("steps={}", options.quick ? kQuickSteps : kSteps)};
  const std::string device = options.device.value_or("auto");
  assignments.push_back("device=" + device);
  if (device != "cpu" && has_gpu(engine))
    assignments.insert(assignments.end(), {"precision=bf16", "cuda_graph=on"});
  else
    assignments.emplace_back("model=tiny");  // larger GEMMs take a CPU hours
  assignments.insert(assignments.end(), options.set.begin(), options.set.end());
  for (const std::string& assignment : assignments)
    if (auto set = params.set_assignment(assignment); !set) return set.error();
  if (auto enough = check_steps(params); !enough) return enough.error();
  if (params.integer("accumulate") != 1)
    return Error{"The bound is defined for one batch per step: keep accumulate=1."};
  if (params.text("adapters") != "off" || params.text("optimizer") != "adamw")
    return Error{"The bound is defined for AdamW on all weights: keep adapters=off and optimizer=adamw."};
  if (params.text("model") == "custom")
    return Error{
        "The bound is defined for published models: use model=llama-3.2-1b, llama-3.2-3b, llama-3-8b or tiny."};
  return params;
}

// Parameters for measuring the GEMMs, and the closed-form bound.
struct Shape {
  Params products;
  predict::StepBound bound;
  std::int64_t tokens = 0;
};

record::Result<Shape> shape_of(const Params& params) {
  const predict::StepSettings step = predict::step_settings(params);
  Shape shape{.products = Params(experiments::find_demo("step_bound")->schema),
              .bound = predict::step_bound(step),
              .tokens = step.tokens()};
  for (const auto& [key, value] : {std::pair<const char*, std::string>{"model", params.text("model")},
                                   {"tokens", std::to_string(shape.tokens)},
                                   {"storage", predict::storage_key(step.precision)},
                                   {"device", params.text("device")}}) {
    if (auto set = shape.products.set(key, std::string_view(value)); !set) return set.error();
  }
  return shape;
}

// The bound's times (ns), the copy rate, and the GEMMs' FLOPs.
struct BoundTimes {
  double products = 0, other = 0;
  double copy_bytes_per_second = 0;
  double flops = 0;

  double whole() const { return products + other; }
};

record::Result<BoundTimes> times_of(const record::Recording& measured, const predict::StepBound& bound) {
  const auto& rows = measured.measurements();
  if (rows.size() != bound.products.size() + 1 || rows.front().median <= 0)
    return Error{"The run recorded no GEMM times, so there is no bound.", ErrorKind::kEngine};
  BoundTimes times{.copy_bytes_per_second = static_cast<double>(rows.front().bytes) * 1e9 / rows.front().median};
  for (std::size_t i = 0; i < bound.products.size(); ++i) {
    const auto count = static_cast<double>(bound.products[i].times);
    times.products += count * rows[i + 1].median;
    times.flops += count * bound.products[i].flops();
  }
  times.other = static_cast<double>(bound.other_bytes()) * 1e9 / times.copy_bytes_per_second;
  return times;
}

nlohmann::json json_of(const Params& step, const Shape& shape, const record::Recording& products,
                       const BoundTimes& bound, double median) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < shape.bound.products.size(); ++i) {
    const Measurement& row = products.measurements()[i + 1];
    rows.push_back({{"layer", row.label},
                    {"pass", row.pass},
                    {"tokens", row.rows},
                    {"outputs", row.width},
                    {"inputs", row.vocab},
                    {"times", shape.bound.products[i].times},
                    {"median_ns", row.median},
                    {"flops", row.flops}});
  }
  const auto tokens = static_cast<double>(shape.tokens);
  return {{"params", settings_json(experiments::training_step().id, step.to_map(), {})},
          {"provenance", products.info().provenance},
          {"products", std::move(rows)},
          {"products_ns", bound.products},
          {"other_bytes", shape.bound.other_bytes()},
          {"copy_bytes_per_second", bound.copy_bytes_per_second},
          {"bound_ns", bound.whole()},
          {"bound_tokens_per_second", tokens * 1e9 / bound.whole()},
          {"step_ns", median},
          {"tokens_per_second", tokens * 1e9 / median},
          {"part_of_bound", bound.whole() / median},
          {"goal", kBoundGoal}};
}

std::string table_of(const Shape& shape, const record::Recording& products, const BoundTimes& bound, double median) {
  std::string text;
  for (std::size_t i = 0; i < shape.bound.products.size(); ++i) {
    const Measurement& row = products.measurements()[i + 1];
    text += fmt::format("  {:<26} {:<16} {:>3} × {:>10}  {:>6.3g} TFLOP/s\n", row.label, row.pass,
                        shape.bound.products[i].times, duration(row.median), row.flops / row.median / 1e3);
  }
  const auto line = [&](std::string_view what, double time, const std::string& more) {
    text += fmt::format("  {:<46} {:>10}   {}\n", what, duration(time), more);
  };
  const auto rate = [&](double time) {
    return fmt::format("{:.0f} tokens/s", static_cast<double>(shape.tokens) * 1e9 / time);
  };
  line("products alone", bound.products, fmt::format("{:.3g} TFLOP/s", bound.flops / bound.products / 1e3));
  line("all other bytes, at copy speed", bound.other,
       fmt::format("{} at {:.0f} GB/s", record::format_bytes(shape.bound.other_bytes()),
                   bound.copy_bytes_per_second / 1e9));
  line("bound", bound.whole(), rate(bound.whole()));
  line("step", median, rate(median));
  const double part = bound.whole() / median;
  text += fmt::format("  {:<46} {:>9.1f}%\n", "of the bound", 100 * part);
  if (products.info().device == record::DeviceKind::kGpu)
    text +=
        fmt::format("  (goal: at least {:.0f}%: {})\n", 100 * kBoundGoal, part >= kBoundGoal ? "reached" : "missed");
  return text;
}

}  // namespace

record::Result<ExitCode> bench_train_step(const BenchOptions& options) {
  if (options.record) return Error{"bench train_step writes no recording: remove --record."};
  Session session(choose_engine(options.engine));
  const InterruptGuard guard;
  const auto ready = ready_engine(session);
  if (!ready) return ready.error();
  backend::Backend& engine = *ready.value();
  const auto step = params_for(options, engine);
  if (!step) return step.error();
  if (const auto refused = experiments::refused_combination(step.value())) return Error{*refused, ErrorKind::kRefused};
  if (auto there = check_device(engine, step.value()); !there) return there.error();
  const auto shape = shape_of(step.value());
  if (!shape) return shape.error();

  backend::RunRequest request = run_request("step_bound", shape.value().products);
  request.record = false;
  const auto products = drive_to_end(engine, request, options.time_limit);
  if (!products) return products.error();
  request = run_request(experiments::training_step().id, step.value());
  request.record = false;
  const auto trained = drive_to_end(engine, request, options.time_limit);
  if (!trained) return trained.error();
  const auto bound = times_of(*products.value(), shape.value().bound);
  if (!bound) return bound.error();
  const double median = record::quantiles_of(step_times(*trained.value())).median;
  if (median <= 0) return Error{"The run recorded no step times, so there is nothing to compare.", ErrorKind::kEngine};
  if (options.json)
    put_json(json_of(step.value(), shape.value(), *products.value(), bound.value(), median));
  else
    put(table_of(shape.value(), *products.value(), bound.value(), median));
  return ExitCode::kDone;
}

}  // namespace headroom::app
