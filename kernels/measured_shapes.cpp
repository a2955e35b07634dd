// GPU sizes are those of training; CPU tensors just exceed the caches (64 MiB and more).
#include "kernels/measured_shapes.h"

#include <algorithm>

namespace headroom::kernels {

std::int64_t rows_or(const ShapeRequest& request, std::int64_t rows) { return request.rows > 0 ? request.rows : rows; }

std::vector<MeasuredShape> shapes_by_width(const ShapeRequest& request, std::int64_t rows,
                                           std::vector<std::int64_t> widths) {
  if (request.quick) widths = {widths[widths.size() / 2]};
  if (request.width > 0) widths = {request.width};
  std::vector<MeasuredShape> shapes;
  for (const std::int64_t width : widths) {
    const std::int64_t some = rows > 0 ? rows : std::max<std::int64_t>(2, (std::int64_t{1} << 24) / width);
    shapes.push_back({.shape = {.rows = rows_or(request, some), .width = width}, .label = {}});
  }
  return shapes;
}

std::vector<MeasuredShape> norm_shapes(const ShapeRequest& request) {
  if (request.gpu) return shapes_by_width(request, 8192, {2048, 4096, 8192, 16384});
  return shapes_by_width(request, 0, {2048, 8192});
}

std::vector<MeasuredShape> gated_shapes(const ShapeRequest& request) {
  // A tensor has at least 64 MiB at F 8192, in bf16 on a GPU and in fp32 on a CPU.
  const std::int64_t rows = rows_or(request, request.gpu ? 8192 : 2048);
  if (request.width > 0) return {{.shape = {.rows = rows, .width = request.width}, .label = {}}};
  std::vector<MeasuredShape> shapes;
  if (request.gpu && !request.quick)  // gate, up and output together take 66 and 192 MiB
    shapes = {{.shape = {.rows = 1408, .width = 8192}, .label = "1,408 tokens"},
              {.shape = {.rows = 4096, .width = 8192}, .label = "4,096 tokens"}};
  for (const LlamaShape& llama : kLlamas) {
    if (llama.intermediate == 8192 && llama.hidden == 3072) continue;  // the 3B has the F of the 1B
    if (request.quick && llama.hidden != 2048) continue;
    shapes.push_back({.shape = {.rows = rows, .width = llama.intermediate},
                      .label = llama.hidden == 2048 ? "Llama 3.2 1B, 3B" : llama.label});
  }
  return shapes;
}

std::vector<MeasuredShape> weight_shapes(const ShapeRequest& request) {
  constexpr std::int64_t kOne = 1;
  ShapeRequest whole = request;
  whole.rows = 0;  // a weight has no tokens
  return request.gpu ? shapes_by_width(whole, 1, {kOne << 24, kOne << 27})
                     : shapes_by_width(whole, 1, {kOne << 22, kOne << 24});
}

std::vector<MeasuredShape> mlp_report_shapes(const ShapeRequest& request) {
  std::vector<MeasuredShape> shapes;
  if (!request.gpu) return shapes;
  for (const std::int64_t length : kReportLengths)
    shapes.push_back(
        {.shape = {.rows = 4 * length, .width = 11008, .batch = 4, .hidden = 4096}, .label = {}, .storage = "bf16"});
  return shapes;
}

std::int64_t mlp_report_x(const Shape& shape) { return shape.rows / 4; }  // tokens per sequence; the batch is 4

std::int64_t mlp_report_inputs(const Shape& shape) {
  constexpr std::int64_t kHidden = 4096;
  return 2 * shape.rows * kHidden + 3 * kHidden * shape.width;
}

}  // namespace headroom::kernels
