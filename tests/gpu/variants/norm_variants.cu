// Candidates for the norms of rows: other cuts of the kernels in row_norm_forward.cuh and row_norm_backward.cuh, a forward
// pass with resident blocks, and fp32 rows wider than 8,192 in registers.
#include <memory>
#include <string>
#include <vector>

#include "kernels/row_norm/row_norm_backward.cuh"
#include "kernels/row_norm/row_norm_forward.cuh"
#include "tests/gpu/variants/variants.h"

namespace headroom::kernels::row_norm {

namespace {

// The forward pass by blocks that stay: while a row is worked on, the group's next is on its way into registers.
template <typename T, NormKind kKind, int kVectors, int kThreads, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks) resident_forward_kernel(NormForward norm) {
  constexpr int kWidth = kElements<T>;
  constexpr bool kMean = kKind == NormKind::kLayer;
  __shared__ float4
      memory[2][kThreads / kWarp];  // one barrier a row is enough when successive rows use separate memory
  const int row_vectors = static_cast<int>(norm.width / kWidth);
  const auto width = static_cast<float>(norm.width);
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.y;
  std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  uint4 x[kVectors], next[kVectors];
  const auto fetch = [&](uint4(&to)[kVectors], std::int64_t of) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = v * blockDim.x + threadIdx.x;
      const bool there = column < row_vectors && of < norm.rows;
      to[v] = there ? static_cast<const uint4*>(norm.x)[of * row_vectors + column] : uint4{};
    }
  };
  fetch(x, row);
  for (int turn = 0; row < norm.rows; row += step, turn ^= 1) {
    fetch(next, row + step);
    float mean = 0, rstd;
    if constexpr (kMean) {
      const float2 moments = group_moments<T>(x, row_vectors, width, norm.epsilon, memory[turn]);
      mean = moments.x;
      rstd = moments.y;
    } else {
      rstd = group_rstd<T>(x, width, norm.epsilon, memory[turn]);
    }
    if (threadIdx.x == 0) {
      norm.rstd[row] = rstd;
      if constexpr (kMean) norm.mean[row] = mean;
    }
    const float shift = -mean * rstd;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int column = v * blockDim.x + threadIdx.x;
      keep_packed(x[v]);
      if (column < row_vectors) {
        Numbers<T> y(x[v]);
        const Numbers<T> weight(__ldg(static_cast<const uint4*>(norm.weight) + column));
        if constexpr (kMean) {
          const Numbers<T> bias(__ldg(static_cast<const uint4*>(norm.bias) + column));
#pragma unroll
          for (int e = 0; e < kWidth; ++e) y.at[e] = (y.at[e] * rstd + shift) * weight.at[e] + bias.at[e];
        } else {
#pragma unroll
          for (int e = 0; e < kWidth; ++e) y.at[e] = y.at[e] * rstd * weight.at[e];
        }
        static_cast<uint4*>(norm.y)[row * row_vectors + column] = y.packed();
      }
      x[v] = next[v];
    }
  }
}

template <typename T, NormKind kKind, int kVectors, int kThreads, int kBlocks>
int launch_resident_forward(const NormForward& norm) {
  const dim3 block = cut(norm.width / kElements<T>, kVectors, kThreads);
  const unsigned most = static_cast<unsigned>(kBlocks * multiprocessors());
  resident_forward_kernel<T, kKind, kVectors, kThreads, kBlocks>
      <<<std::min(blocks_for(norm.rows, block), most), block>>>(norm);
  return cudaGetLastError();
}

template <typename T, NormKind kKind, int kVectors, int kThreads, int kBlocks, bool kStreams>
int launch_forward_cut(const NormForward& norm) {
  const dim3 block = cut(norm.width / kElements<T>, kVectors, kThreads);
  if (block.x > kThreads) return cudaErrorInvalidConfiguration;
  forward_kernel<T, kKind, kVectors, kThreads, kBlocks, kStreams><<<blocks_for(norm.rows, block), block>>>(norm);
  return cudaGetLastError();
}

// As launch_backward_rows, with all that it decides given: threads of a block, and blocks of a multiprocessor.
template <typename T, bool kMean, bool kAddSum, int kVectors, int kStages, int kThreads, int kBlocks, bool kEarly>
int launch_backward_cut(const NormBackward& norm, int block_threads, int blocks_a_processor) {
  constexpr auto* kernel = &backward_kernel<T, kMean, kAddSum, kVectors, kStages, kThreads, kBlocks, kEarly>;
  const dim3 block = cut(norm.width / kElements<T>, kVectors, block_threads);
  if (block.x * block.y > kThreads) return cudaErrorInvalidConfiguration;
  constexpr bool kSharedWeight = kVectors > kHeldVectors && kThreads <= kBlockThreads;
  const int slots = Ring < kAddSum ? 3 : 2, kVectors, kStages > ::kSlots + (kSharedWeight ? kVectors : 0);
  const int shared = slots * kVectorBytes * static_cast<int>(block.x * block.y);
  if (!take_shared(kernel, shared)) return cudaErrorInvalidConfiguration;
  const std::int64_t most = std::min<std::int64_t>(blocks_a_processor * multiprocessors(), kMostPartialRows);
  const std::int64_t turns_of_all = (norm.rows + block.y - 1) / block.y;
  const std::int64_t turns = (turns_of_all + most - 1) / most;
  const auto blocks = static_cast<unsigned>((turns_of_all + turns - 1) / turns);
  kernel<<<blocks, block, static_cast<std::size_t>(shared)>>>(norm);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? launch_column_sum<T>(norm, static_cast<int>(blocks), nullptr) : error;
}

}  // namespace

}  // namespace headroom::kernels::row_norm

namespace headroom::test {

namespace {

using kernels::Bf16;
using kernels::NormBackward;
using kernels::NormForward;
using kernels::NormKind;
using kernels::Storage;
namespace row_norm = kernels::row_norm;

constexpr float kEpsilon = 1e-5f;

template <typename Norm>
struct Way {
  std::string name;
  std::function<int(const Norm&)> launch;
};

// All memory of one forward pass, and the results of the first way in `expected`.
class Forward {
 public:
  Forward(Storage storage, std::int64_t rows, std::int64_t width, const Way<NormForward>& current)
      : storage_(storage),
        rows_(rows),
        width_(width),
        x_(rows * width * kernels::bytes_of(storage)),
        weight_(width * kernels::bytes_of(storage)),
        bias_(weight_.bytes()),
        y_(x_.bytes()),
        mean_(rows * 4),
        rstd_(rows * 4),
        expected_(x_.bytes()),
        expected_rstd_(rows * 4) {
    x_.fill(storage, 1);
    weight_.fill(storage, 2);
    bias_.fill(storage, 3);
    must_end(current.launch(args()));
    expected_.copy_from(y_);
    expected_rstd_.copy_from(rstd_);
  }
  NormForward args() const {
    return {.storage = storage_,
            .rows = rows_,
            .width = width_,
            .epsilon = kEpsilon,
            .x = x_.data(),
            .residual = nullptr,
            .weight = weight_.data(),
            .bias = bias_.data(),
            .sum = nullptr,
            .y = y_.data(),
            .mean = mean_.as<float>(),
            .rstd = rstd_.as<float>()};
  }
  double error_of(const Way<NormForward>& way) const {
    y_.fill_bytes(0xff);
    rstd_.fill_bytes(0xff);
    must_end(way.launch(args()));
    return std::max(relative_error(y_, expected_, storage_ == Storage::kFp32 ? Format::kFp32 : Format::kBf16),
                    relative_error(rstd_, expected_rstd_, Format::kFp32));
  }

 private:
  Storage storage_;
  std::int64_t rows_, width_;
  Memory x_, weight_, bias_, y_, mean_, rstd_, expected_, expected_rstd_;
};

class Backward {
 public:
  Backward(Storage storage, std::int64_t rows, std::int64_t width, bool has_mean, bool adds,
           const Way<NormBackward>& current)
      : storage_(storage),
        rows_(rows),
        width_(width),
        has_mean_(has_mean),
        adds_(adds),
        dy_(rows * width * kernels::bytes_of(storage)),
        x_(dy_.bytes()),
        d_sum_(adds ? dy_.bytes() : 0),
        weight_(width * kernels::bytes_of(storage)),
        mean_(rows * 4),
        rstd_(rows * 4),
        dx_(dy_.bytes()),
        dweight_(weight_.bytes()),
        dbias_(weight_.bytes()),
        dweight_partials_(kernels::partial_rows(rows) * width * 4),
        dbias_partials_(has_mean ? dweight_partials_.bytes() : 0),
        expected_dx_(dy_.bytes()),
        expected_dweight_(weight_.bytes()),
        expected_dbias_(weight_.bytes()) {
    dy_.fill(storage, 1);
    x_.fill(storage, 2);
    if (adds) d_sum_.fill(storage, 3);
    weight_.fill(storage, 4);
    mean_.fill(Storage::kFp32, 5, 0.1f);
    std::vector<float> ones(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < ones.size(); ++i) ones[i] = 0.5f + static_cast<float>(i % 7) / 7;
    rstd_.upload(ones.data());
    dbias_.fill_bytes(0);
    must_end(current.launch(args()));
    expected_dx_.copy_from(dx_);
    expected_dweight_.copy_from(dweight_);
    expected_dbias_.copy_from(dbias_);
  }
  NormBackward args() const {
    return {.storage = storage_,
            .rows = rows_,
            .width = width_,
            .dy = dy_.data(),
            .x = x_.data(),
            .weight = weight_.data(),
            .d_sum = adds_ ? d_sum_.data() : nullptr,
            .mean = has_mean_ ? mean_.as<float>() : nullptr,
            .rstd = rstd_.as<float>(),
            .dx = dx_.data(),
            .dweight = dweight_.data(),
            .dbias = has_mean_ ? dbias_.data() : nullptr,
            .dweight_partials = dweight_partials_.as<float>(),
            .dbias_partials = has_mean_ ? dbias_partials_.as<float>() : nullptr};
  }
  double error_of(const Way<NormBackward>& way) const {
    dx_.fill_bytes(0xff);
    dweight_.fill_bytes(0xff);
    if (has_mean_) dbias_.fill_bytes(0xff);
    dweight_partials_.fill_bytes(0xff);
    must_end(way.launch(args()));
    const Format format = storage_ == Storage::kFp32 ? Format::kFp32 : Format::kBf16;
    return std::max({relative_error(dx_, expected_dx_, format), relative_error(dweight_, expected_dweight_, format),
                     relative_error(dbias_, expected_dbias_, format)});
  }

 private:
  Storage storage_;
  std::int64_t rows_, width_;
  bool has_mean_, adds_;
  Memory dy_, x_, d_sum_, weight_, mean_, rstd_, dx_, dweight_, dbias_, dweight_partials_, dbias_partials_,
      expected_dx_, expected_dweight_, expected_dbias_;
};

// Times the ways at one shape; checks each there and at an odd one of as many columns.
template <typename Norm, typename Problem>
void measure_ways(Measurement& measurement, const std::vector<Way<Norm>>& ways, const Problem& large,
                  const Problem& odd, std::int64_t bytes) {
  std::vector<Variant> variants;
  for (const Way<Norm>& way : ways) {
    const auto error = [&large, &odd, &way] { return std::max(large.error_of(way), odd.error_of(way)); };
    variants.push_back({way.name, [&large, &way] { return way.launch(large.args()); }, error});
  }
  measurement.measure(bytes, variants);
}

template <typename T>
constexpr Storage kStorageOf = sizeof(T) == 4 ? Storage::kFp32 : Storage::kBf16;

template <typename T>
void measure_forward(Measurement& measurement, const std::vector<Way<NormForward>>& ways, std::int64_t rows,
                     std::int64_t width) {
  const Forward large(kStorageOf<T>, rows, width, ways[0]), odd(kStorageOf<T>, 1031, width - 24, ways[0]);
  measure_ways(measurement, ways, large, odd, 2 * rows * width * kernels::bytes_of(kStorageOf<T>));
}

template <typename T>
void measure_backward(Measurement& measurement, const std::vector<Way<NormBackward>>& ways, std::int64_t rows,
                      std::int64_t width, bool has_mean, bool adds) {
  const Backward large(kStorageOf<T>, rows, width, has_mean, adds, ways[0]);
  const Backward odd(kStorageOf<T>, 1031, width - 24, has_mean, adds, ways[0]);
  measure_ways(measurement, ways, large, odd, (adds ? 4 : 3) * rows * width * kernels::bytes_of(kStorageOf<T>));
}

// Rows of 2,048: two vectors of a row a thread, 128 threads a row.
template <bool kMean, bool kAddSum>
std::vector<Way<NormBackward>> narrow_backward_ways() {
  using row_norm::launch_backward_cut;
  std::vector<Way<NormBackward>> ways{
      {"current", [](const NormBackward& norm) { return row_norm::launch_backward<Bf16, kMean>(norm, nullptr); }}};
  const auto add = [&](const std::string& name, auto launch, std::vector<std::pair<int, int>> cuts) {
    for (const auto [threads, blocks] : cuts) {
      ways.push_back({name + " " + std::to_string(threads) + " threads x " + std::to_string(blocks),
                      [launch, threads, blocks](const NormBackward& norm) { return launch(norm, threads, blocks); }});
    }
  };
  add("early 2 stages", &launch_backward_cut<Bf16, kMean, kAddSum, 2, 2, 512, 1, true>, {{256, 2}, {512, 1}});
  add("3 stages", &launch_backward_cut<Bf16, kMean, kAddSum, 2, 3, 512, 1, false>, {{256, 2}});
  add("early 3 stages", &launch_backward_cut<Bf16, kMean, kAddSum, 2, 3, 512, 1, true>, {{256, 2}, {384, 1}, {512, 1}});
  add("early 4 stages", &launch_backward_cut<Bf16, kMean, kAddSum, 2, 4, 512, 1, true>, {{256, 2}, {512, 1}});
  add("early 3 stages 85 registers", &launch_backward_cut<Bf16, kMean, kAddSum, 2, 3, 384, 2, true>, {{384, 2}});
  add("early 2 stages 64 registers", &launch_backward_cut<Bf16, kMean, kAddSum, 2, 2, 512, 2, true>,
      {{384, 2}, {512, 2}});
  return ways;
}

std::vector<Way<NormForward>> layer_forward_ways() {
  using row_norm::launch_forward_cut;
  using row_norm::launch_resident_forward;
  constexpr NormKind kLayer = NormKind::kLayer;
  return {{"current", [](const NormForward& norm) { return row_norm::launch_forward<Bf16, kLayer>(norm, nullptr); }},
          {"256 threads", &launch_forward_cut<Bf16, kLayer, 4, 256, 6, false>},
          {"128 threads", &launch_forward_cut<Bf16, kLayer, 4, 128, 12, false>},
          {"256 threads streaming", &launch_forward_cut<Bf16, kLayer, 4, 256, 6, true>},
          {"128 threads streaming", &launch_forward_cut<Bf16, kLayer, 4, 128, 12, true>},
          {"512 threads streaming", &launch_forward_cut<Bf16, kLayer, 4, 512, 3, true>},
          {"8 vectors 128 threads", &launch_forward_cut<Bf16, kLayer, 8, 128, 8, false>},
          {"8 vectors 256 threads", &launch_forward_cut<Bf16, kLayer, 8, 256, 4, false>},
          {"resident 256 threads", &launch_resident_forward<Bf16, kLayer, 4, 256, 4>},
          {"resident 128 threads", &launch_resident_forward<Bf16, kLayer, 4, 128, 8>},
          {"resident 512 threads", &launch_resident_forward<Bf16, kLayer, 4, 512, 2>}};
}

}  // namespace

std::vector<Job> norm_jobs() {
  std::vector<Job> jobs;
  jobs.push_back({"rms_norm_backward", "8192x2048", [](Measurement& measurement) {
                    measure_backward<Bf16>(measurement, narrow_backward_ways<false, false>(), 8192, 2048, false, false);
                  }});
  jobs.push_back({"add_rms_norm_backward", "8192x2048", [](Measurement& measurement) {
                    measure_backward<Bf16>(measurement, narrow_backward_ways<false, true>(), 8192, 2048, false, true);
                  }});
  for (const std::int64_t width : {2048, 4096}) {
    jobs.push_back({"layer_norm_forward", "8192x" + std::to_string(width), [width](Measurement& measurement) {
                      measure_forward<Bf16>(measurement, layer_forward_ways(), 8192, width);
                    }});
  }
  for (const std::int64_t width : {12288, 16384}) {
    const std::string shape = "4096x" + std::to_string(width) + " fp32";
    jobs.push_back(
        {"layer_norm_forward", shape, [width](Measurement& measurement) {
           constexpr NormKind kLayer = NormKind::kLayer;
           measure_forward<float>(
               measurement,
               {{"current",
                 [](const NormForward& norm) { return row_norm::launch_forward<float, kLayer>(norm, nullptr); }},
                {"1024 threads", &row_norm::launch_forward_cut<float, kLayer, 4, 1024, 1, false>},
                {"1024 threads 32 registers", &row_norm::launch_forward_cut<float, kLayer, 4, 1024, 2, false>}},
               4096, width);
         }});
    jobs.push_back(
        {"layer_norm_backward", shape, [width](Measurement& measurement) {
           using row_norm::launch_backward_cut;
           std::vector<Way<NormBackward>> ways{
               {"current",
                [](const NormBackward& norm) { return row_norm::launch_backward<float, true>(norm, nullptr); }},
               {"1024 threads, 4 vectors, a stage", [](const NormBackward& norm) {
                  return launch_backward_cut<float, true, false, 4, 1, 1024, 1, false>(norm, 1024, 1);
                }}};
           if (width <= 12288) {
             ways.push_back({"1024 threads, 3 vectors, 2 stages", [](const NormBackward& norm) {
                               return launch_backward_cut<float, true, false, 3, 2, 1024, 1, false>(norm, 1024, 1);
                             }});
           }
           measure_backward<float>(measurement, ways, 4096, width, true, false);
         }});
  }
  return jobs;
}

}  // namespace headroom::test
