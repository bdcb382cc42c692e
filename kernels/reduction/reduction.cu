// Sum of integers, one partial sum a block, in the six classic steps of optimisation, and once by shuffles alone.
// Dynamic shared memory: one int a thread. The block is a power of two (from reduce4 on, at least 64).
extern __shared__ int s[];

// Interleaved addressing; the test on the thread index splits every warp.
extern "C" __global__ void reduce0(const int *in, int *out, unsigned n) {
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// Interleaved addressing by consecutive threads: no split warps, but bank conflicts that double each round.
extern "C" __global__ void reduce1(const int *in, int *out, unsigned n) {
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    unsigned at = 2 * d * t;
    if (at < blockDim.x) s[at] += s[at + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// Sequential addressing: no bank conflicts.
extern "C" __global__ void reduce2(const int *in, int *out, unsigned n) {
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// The first addition happens on the way in: half the blocks for the same data.
extern "C" __global__ void reduce3(const int *in, int *out, unsigned n) {
  unsigned t = threadIdx.x, i = blockIdx.x * 2 * blockDim.x + t;
  int v = i < n ? in[i] : 0;
  if (i + blockDim.x < n) v += in[i + blockDim.x];
  s[t] = v;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// What is left for the last warp: 64 values in shared memory. Each lane reads one, the warp synchronises, each adds; no
// block barrier any more.
WB_INLINE void finish_in_warp(unsigned t, int v, int *out) {
  if (t >= 32) return;
  v += s[t + 32];
#pragma unroll
  for (unsigned d = 16; d > 0; d /= 2) {
    __syncwarp();
    s[t] = v;
    __syncwarp();
    if (t < d) v += s[t + d];
  }
  if (t == 0) out[blockIdx.x] = v;
}

// The last warp is unrolled, without block barriers.
extern "C" __global__ void reduce4(const int *in, int *out, unsigned n) {
  unsigned t = threadIdx.x, i = blockIdx.x * 2 * blockDim.x + t;
  int v = i < n ? in[i] : 0;
  if (i + blockDim.x < n) v += in[i + blockDim.x];
  s[t] = v;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 32; d /= 2) {
    if (t < d) s[t] = v += s[t + d];
    __syncthreads();
  }
  finish_in_warp(t, v, out);
}

// Several elements a thread, with a grid stride: the number of blocks no longer depends on n.
extern "C" __global__ void reduce5(const int *in, int *out, unsigned n) {
  unsigned t = threadIdx.x;
  int v = 0;
#pragma unroll 1
  for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) v += in[i];
  s[t] = v;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 32; d /= 2) {
    if (t < d) s[t] = v += s[t + d];
    __syncthreads();
  }
  finish_in_warp(t, v, out);
}

// Floating point, by shuffles: each warp reduces in registers, the first warp reduces the warps' sums.
extern "C" __global__ void reduce_shfl(const float *in, float *out, int n) {
  __shared__ float sums[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float v = i < n ? in[i] : 0.f;
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  if ((t & 31) == 0) sums[t >> 5] = v;
  __syncthreads();
  if (t < 32) {
    v = t < (blockDim.x >> 5) ? sums[t] : 0.f;
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (t == 0) out[blockIdx.x] = v;
  }
}
