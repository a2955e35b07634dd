// Tensors in fp8 with one scale each (Micikevicius et al. 2022, arXiv:2209.05433).
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "kernels/fp8_cast/fp8_cast.h"

namespace headroom::kernels {

at::ScalarType type_of(Fp8Format format);

// `count` rows of zeros, each laid out as Fp8Scaling. One allocation.
at::Tensor fp8_scalings(std::int64_t count, const at::TensorOptions& options);

// Sets a scaling (a row of fp8_scalings()) from the largest magnitude of x. With `keeps`, this magnitude stays for
// fp8_advance_(). `not_scaled` (int32 [1]) counts failures: see fp8_choose(). Two launches on CUDA.
void fp8_measure_(const at::Tensor& x, const at::Tensor& scaling, Fp8Format format, bool keeps,
                  const at::Tensor& not_scaled);

struct Fp8Layouts {
  bool rows = false, transposed = false;
  bool measures = false;  // raises the scaling's amax, for fp8_advance_()
};
struct Fp8Codes {
  at::Tensor rows;        // [R, C]
  at::Tensor transposed;  // [C, R]; undefined unless requested, like `rows`
};
// Codes of scale · x. x [R, C]: fp32, bf16 or fp16, contiguous, sides multiples of 16. One launch, one allocation per
// layout.
Fp8Codes fp8_cast(const at::Tensor& x_RC, const at::Tensor& scaling, Fp8Format format, const Fp8Layouts& layouts);
// Like fp8_cast(), but writes into part of existing codes, of more rows: `rows` is narrow()ed from [., C], `transposed`
// from [C, .], at a multiple of 16. Either may be undefined.
void fp8_cast_into(const at::Tensor& x_RC, const at::Tensor& scaling, Fp8Format format, const Fp8Codes& codes,
                   bool measures);
// Writes the codes into the memory of 16-bit x, whose numbers are lost. Allocates a sixteenth of the codes, for the
// first rows. Later rows, twice as many in each launch, overwrite rows that already have codes.
at::Tensor fp8_cast_in_place(const at::Tensor& x_RC, const at::Tensor& scaling, Fp8Format format, bool measures);

// Calls fp8_advance() for each scaling. One launch.
void fp8_advance_(const at::Tensor& scalings, const at::Tensor& not_scaled);

// For tests: the numbers that codes stand for, unscaled, in float64 on the CPU.
at::Tensor fp8_numbers(const at::Tensor& codes);
// For tests: the codes of scale · x, by a search through all 256 codes.
at::Tensor fp8_reference(const at::Tensor& x, double scale, Fp8Format format);

}  // namespace headroom::kernels
