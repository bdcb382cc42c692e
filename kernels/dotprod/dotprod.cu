// Scalar product, one partial sum a block: each thread accumulates with a grid stride, then the block adds up in shared
// memory. The block is a power of two; dynamic shared memory: one float a thread.
extern __shared__ float sums[];

extern "C" __global__ void dotprod(const float *a, const float *b, float *out, int n) {
  int t = threadIdx.x;
  float v = 0.f;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += a[i] * b[i];
  sums[t] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) sums[t] += sums[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
