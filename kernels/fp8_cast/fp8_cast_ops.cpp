// Casts to fp8 on tensors.
#include "kernels/fp8_cast/fp8_cast_ops.h"

#include <algorithm>
#include <atomic>

#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kFp8CastGrain = 32768;
constexpr std::int64_t kSide = 16;  // cuBLASLt needs sides that are multiples of it
constexpr std::uintptr_t kAligned = 16;

Fp8Scaling* scaling_of(const at::Tensor& scaling) {
  return reinterpret_cast<Fp8Scaling*>(scaling.mutable_data_ptr<float>());
}

void check_scaling(const at::Tensor& scaling, at::Device device, const char* op) {
  TORCH_CHECK(scaling.defined() && scaling.scalar_type() == at::kFloat && scaling.is_contiguous() &&
                  scaling.size(-1) == kFp8ScalingFloats && scaling.device() == device,
              op, ": a scaling must be a row of fp8_scalings() on the device of the others");
}

Storage check_input(const at::Tensor& x, const char* op) {
  const Storage storage = checked_storage(x, op);
  TORCH_CHECK(x.numel() % (kSide * kSide) == 0 && x.numel() > 0, op,
              ": x must be a matrix with sides that are "
              "multiples of ",
              kSide);
  const bool aligned = x.is_meta() || reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % kAligned == 0;
  TORCH_CHECK(aligned, op, ": x must start at a multiple of 16 bytes");
  return storage;
}

float amax_on_cpu(const at::Tensor& x, Storage storage) {
  std::atomic<std::uint32_t> most = 0;  // stored as bits, which have the same order
  at::parallel_for(0, x.numel(), kFp8CastGrain, [&](std::int64_t begin, std::int64_t end) {
    const std::uint32_t mine = bits_of(fp8_amax_cpu(x.const_data_ptr(), storage, begin, end));
    std::uint32_t before = most.load();
    while (before < mine && !most.compare_exchange_weak(before, mine)) {
    }
  });
  return float_of(most.load());
}

}  // namespace

at::ScalarType type_of(Fp8Format format) { return format == Fp8Format::kE4m3 ? at::kFloat8_e4m3fn : at::kFloat8_e5m2; }

at::Tensor fp8_scalings(std::int64_t count, const at::TensorOptions& options) {
  return at::zeros({count, kFp8ScalingFloats}, options.dtype(at::kFloat).requires_grad(false));
}

void fp8_measure_(const at::Tensor& x, const at::Tensor& scaling, Fp8Format format, bool keeps,
                  const at::Tensor& not_scaled) {
  constexpr const char* kOp = "fp8_measure_";
  const Storage storage = check_input(x, kOp);
  check_scaling(scaling, x.device(), kOp);
  check_number(not_scaled, at::kInt, x.device(), kOp, "not_scaled");
  if (x.is_meta()) return;
  const Traced traced("fp8_measure", {x});
  auto* const count = not_scaled.mutable_data_ptr<std::int32_t>();
  if (x.is_cuda())
    return launch_on(x.device(), kOp, [&](CUstream_st* stream) {
      return fp8_measure_cuda(x.const_data_ptr(), storage, x.numel(), format, scaling_of(scaling), keeps, count,
                              stream);
    });
  Fp8Scaling& s = *scaling_of(scaling);
  s.most = fp8_most(format);
  s.amax = fp8_larger(s.amax, amax_on_cpu(x, storage));
  fp8_choose(s, s.amax, count);
  if (!keeps) s.amax = 0;
}

namespace {

Storage check_cast(const at::Tensor& x_RC, const at::Tensor& scaling, const char* op) {
  const Storage storage = check_input(x_RC, op);
  check_scaling(scaling, x_RC.device(), op);
  TORCH_CHECK(x_RC.dim() == 2 && x_RC.size(0) % kSide == 0 && x_RC.size(1) % kSide == 0, op,
              ": sides must be multiples of ", kSide, ", not ", x_RC.sizes());
  return storage;
}

std::uint8_t* codes_in(const at::Tensor& of) {
  return of.defined() ? static_cast<std::uint8_t*>(of.mutable_data_ptr()) : nullptr;
}

void run_cast(const at::Tensor& x_RC, Storage storage, const at::Tensor& scaling, Fp8Format format,
              const Fp8Codes& codes, bool measures, const char* op) {
  const Traced traced(op, {x_RC, codes.rows, codes.transposed});
  const Fp8CastArgs args{.x = x_RC.const_data_ptr(),
                         .storage = storage,
                         .rows = x_RC.size(0),
                         .columns = x_RC.size(1),
                         .codes = codes_in(codes.rows),
                         .transposed = codes_in(codes.transposed),
                         .transposed_stride = codes.transposed.defined() ? codes.transposed.stride(0) : 0,
                         .format = format,
                         .scaling = scaling_of(scaling),
                         .measures = measures};
  if (x_RC.is_cuda())
    return launch_on(x_RC.device(), op, [&](CUstream_st* stream) { return fp8_cast_cuda(args, stream); });
  at::parallel_for(0, args.rows, std::max<std::int64_t>(1, kFp8CastGrain / args.columns),
                   [&](std::int64_t begin, std::int64_t end) { fp8_cast_cpu(args, begin, end); });
  if (measures) args.scaling->amax = fp8_larger(args.scaling->amax, amax_on_cpu(x_RC, storage));
}

}  // namespace

Fp8Codes fp8_cast(const at::Tensor& x_RC, const at::Tensor& scaling, Fp8Format format, const Fp8Layouts& layouts) {
  constexpr const char* kOp = "fp8_cast";
  const Storage storage = check_cast(x_RC, scaling, kOp);
  const std::int64_t rows = x_RC.size(0), columns = x_RC.size(1);
  const at::TensorOptions options = x_RC.options().dtype(type_of(format)).requires_grad(false);
  Fp8Codes codes;
  if (layouts.rows) codes.rows = at::empty({rows, columns}, options);
  if (layouts.transposed) codes.transposed = at::empty({columns, rows}, options);
  if (x_RC.is_meta()) return codes;
  run_cast(x_RC, storage, scaling, format, codes, layouts.measures, kOp);
  return codes;
}

void fp8_cast_into(const at::Tensor& x_RC, const at::Tensor& scaling, Fp8Format format, const Fp8Codes& codes,
                   bool measures) {
  constexpr const char* kOp = "fp8_cast_into";
  const Storage storage = check_cast(x_RC, scaling, kOp);
  const auto fits = [&](const at::Tensor& part, std::int64_t rows, std::int64_t columns) {
    return !part.defined() ||
           (part.dim() == 2 && part.size(0) == rows && part.size(1) == columns && part.stride(1) == 1 &&
            part.stride(0) % kSide == 0 && part.storage_offset() % kSide == 0 && part.scalar_type() == type_of(format));
  };
  const bool fit = fits(codes.rows, x_RC.size(0), x_RC.size(1)) && fits(codes.transposed, x_RC.size(1), x_RC.size(0));
  TORCH_CHECK(fit && (!codes.rows.defined() || codes.rows.is_contiguous()), kOp,
              ": the codes must be rows or columns of a matrix, from a multiple of ", kSide);
  if (!x_RC.is_meta()) run_cast(x_RC, storage, scaling, format, codes, measures, kOp);
}

at::Tensor fp8_cast_in_place(const at::Tensor& x_RC, const at::Tensor& scaling, Fp8Format format, bool measures) {
  constexpr std::int64_t kFirstPart = 16;
  TORCH_CHECK(x_RC.element_size() == 2, "fp8_cast_in_place: x must have two bytes per number");
  check_cast(x_RC, scaling, "fp8_cast_in_place");
  const std::int64_t rows = x_RC.size(0), columns = x_RC.size(1);
  const at::Tensor codes = x_RC.view({-1}).view(type_of(format)).narrow(0, 0, rows * columns).view({rows, columns});
  const std::int64_t beside = std::min(rows, (rows / kFirstPart + kSide - 1) / kSide * kSide);
  codes.narrow(0, 0, beside)
      .view(at::kByte)
      .copy_(fp8_cast(x_RC.narrow(0, 0, beside), scaling, format, {.rows = true, .measures = measures})
                 .rows.view(at::kByte));
  // Codes of rows [n, 2 n) overwrite the bytes of x's rows [n / 2, n).
  for (std::int64_t first = beside; first < rows; first *= 2) {
    const std::int64_t n = std::min(first, rows - first);
    fp8_cast_into(x_RC.narrow(0, first, n), scaling, format, {.rows = codes.narrow(0, first, n), .transposed = {}},
                  measures);
  }
  return codes;
}

void fp8_advance_(const at::Tensor& scalings, const at::Tensor& not_scaled) {
  constexpr const char* kOp = "fp8_advance_";
  check_scaling(scalings, scalings.device(), kOp);
  check_number(not_scaled, at::kInt, scalings.device(), kOp, "not_scaled");
  if (scalings.is_meta()) return;
  const Traced traced(kOp, {scalings, scalings});
  auto* const count = not_scaled.mutable_data_ptr<std::int32_t>();
  if (scalings.is_cuda())
    return launch_on(scalings.device(), kOp, [&](CUstream_st* stream) {
      return fp8_advance_cuda(scaling_of(scalings), scalings.size(0), count, stream);
    });
  for (std::int64_t i = 0; i < scalings.size(0); ++i) fp8_advance(scaling_of(scalings)[i], count);
}

}  // namespace headroom::kernels
