// fp32 GEMMs on the CPU, with operands converted a tile at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/record_function.h>

namespace headroom::kernels {

// Tiles are outside LibTorch's allocator, since tensor cores would need no such memory.
class ProductTiles {
 public:
  static constexpr std::int64_t kSide = 512;

  // result = a · b. `read_a` and `read_b` convert a row of an operand's tile to fp32; `write` writes a row of sums.
  template <class A, class B, class Result, class ReadA, class ReadB, class Write>
  static void multiply(at::Tensor& result_NP, const at::Tensor& a_NM, const at::Tensor& b_MP, const ReadA& read_a,
                       const ReadB& read_b, const Write& write) {
    const at::DisableRecordFunctionGuard untraced;  // the GEMM is one operator
    const std::int64_t inner = a_NM.size(1);
    for_each_part(result_NP.size(0), [&](std::int64_t row, std::int64_t rows) {
      for_each_part(result_NP.size(1), [&](std::int64_t column, std::int64_t columns) {
        at::Tensor sum = at::from_blob(scratch(2), {rows, columns}, at::kFloat);
        std::fill_n(scratch(2), rows * columns, 0.0F);
        for_each_part(inner, [&](std::int64_t first, std::int64_t count) {
          const at::Tensor a = tile<A>(a_NM.narrow(0, row, rows).narrow(1, first, count), scratch(0), read_a);
          const at::Tensor b = tile<B>(b_MP.narrow(0, first, count).narrow(1, column, columns), scratch(1), read_b);
          at::addmm_out(sum, sum, a, b);
        });
        put<Result>(result_NP.narrow(0, row, rows).narrow(1, column, columns), scratch(2), write);
      });
    });
  }

 private:
  template <class Work>
  static void for_each_part(std::int64_t size, const Work& work) {
    for (std::int64_t first = 0; first < size; first += kSide) work(first, std::min(kSide, size - first));
  }

  // Reads elements in the order of memory.
  template <class T, class Read>
  static at::Tensor tile(const at::Tensor& part, float* to, const Read& read) {
    if (part.stride(0) < part.stride(1)) return tile<T>(part.t(), to, read).t();
    const auto* const from = static_cast<const T*>(part.const_data_ptr());
    const std::int64_t rows = part.size(0), columns = part.size(1);
    for (std::int64_t i = 0; i < rows; ++i) read(from + i * part.stride(0), part.stride(1), to + i * columns, columns);
    return at::from_blob(to, {rows, columns}, at::kFloat);
  }

  template <class T, class Write>
  static void put(const at::Tensor& part, const float* sums, const Write& write) {
    auto* const to = static_cast<T*>(part.mutable_data_ptr());
    const std::int64_t rows = part.size(0), columns = part.size(1);
    for (std::int64_t i = 0; i < rows; ++i) write(sums + i * columns, to + i * part.stride(0), part.stride(1), columns);
  }

  // Kept between calls: new pages would cost more than a small GEMM.
  static float* scratch(std::size_t which) {
    static thread_local std::array<std::vector<float>, 3> kept;
    if (kept[which].empty()) kept[which].resize(kSide * kSide);
    return kept[which].data();
  }
};

}  // namespace headroom::kernels
