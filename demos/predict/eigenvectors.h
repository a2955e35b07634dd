// What the eigenvectors of a symmetric matrix [n, n] in fp32 take beside them, in bytes: torch.linalg.eigh.
#pragma once

#include <cstdint>

#include "demos/record/units.h"

namespace headroom::predict {

// LAPACK's syevd on the CPU: 1 + 6n + 2n² numbers, which PyTorch asks for in fp32 and rounds up, and 3 + 5n integers.
record::Bytes lapack_work(std::int64_t n);
record::Bytes lapack_integers(std::int64_t n);

// cuSOLVER's work array on an H200 (CUDA 13.0), as recorded: syevd from n = 513 on, 16n² + 508n + 131,980 at n = 1,024,
// 1,536, 2,048, 3,712 and 3,968; up to 512 syevj, 86,800 at 128 and 1,124,416 at 512, between them as on a line beside
// 4n². Its integers are no array there.
record::Bytes cusolver_work(std::int64_t n);

}  // namespace headroom::predict
