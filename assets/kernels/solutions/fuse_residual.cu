// sum = x + residual, y = RMSNorm(sum), in one launch. The sum is still written, since
// the layers behind need it, but it is not read again from another kernel.

// The sum of `value` over the block, in every thread.
__device__ float block_sum(float value) {
  __shared__ float parts[THREADS];
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  return parts[0];
}

extern "C" __global__ void add_rms_norm(const float* x, const float* residual, const float* weight, float* sum,
                                        float* y, float epsilon) {
  const long long begin = static_cast<long long>(blockIdx.x) * WIDTH;

  float squares = 0;
  for (int i = threadIdx.x; i < WIDTH; i += THREADS) {
    const float s = x[begin + i] + residual[begin + i];
    sum[begin + i] = s;
    squares += s * s;
  }
  const float rstd = rsqrtf(block_sum(squares) / WIDTH + epsilon);

  // A thread reads what it has written itself.
  for (int i = threadIdx.x; i < WIDTH; i += THREADS) y[begin + i] = sum[begin + i] * rstd * weight[i];
}
