// RMSNorm, 16 bytes at a time, the row kept in registers between its two uses.

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
  constexpr int kHeld = (WIDTH / 4 + THREADS - 1) / THREADS;
  const float4* row = reinterpret_cast<const float4*>(x + static_cast<long long>(blockIdx.x) * WIDTH);
  const float4* scale = reinterpret_cast<const float4*>(weight);
  float4* out = reinterpret_cast<float4*>(y + static_cast<long long>(blockIdx.x) * WIDTH);

  float4 held[kHeld];
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int i = threadIdx.x + k * THREADS;
    held[k] = i < WIDTH / 4 ? row[i] : make_float4(0, 0, 0, 0);
    squares += held[k].x * held[k].x + held[k].y * held[k].y + held[k].z * held[k].z + held[k].w * held[k].w;
  }
  const float rstd = rsqrtf(block_sum(squares) / WIDTH + epsilon);

#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int i = threadIdx.x + k * THREADS;
    if (i >= WIDTH / 4) continue;
    const float4 v = held[k], w = scale[i];
    out[i] = make_float4(v.x * rstd * w.x, v.y * rstd * w.y, v.z * rstd * w.z, v.w * rstd * w.w);
  }
}
