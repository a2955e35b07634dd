// RMSNorm, 16 bytes at a time.

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

extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float epsilon) {
  static_assert(WIDTH % 4 == 0, "a row is read 4 numbers at a time");
  const float4* row = reinterpret_cast<const float4*>(x + static_cast<long long>(blockIdx.x) * WIDTH);
  const float4* scale = reinterpret_cast<const float4*>(weight);
  float4* out = reinterpret_cast<float4*>(y + static_cast<long long>(blockIdx.x) * WIDTH);

  float squares = 0;
  for (int i = threadIdx.x; i < WIDTH / 4; i += THREADS) {
    const float4 v = row[i];
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  const float rstd = rsqrtf(block_sum(squares) / WIDTH + epsilon);

  for (int i = threadIdx.x; i < WIDTH / 4; i += THREADS) {
    const float4 v = row[i], w = scale[i];
    out[i] = make_float4(v.x * rstd * w.x, v.y * rstd * w.y, v.z * rstd * w.z, v.w * rstd * w.w);
  }
}
