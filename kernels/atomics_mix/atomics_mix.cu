// Integer atomics, shared and global, on few and on many distinct words. No result of an atomic is used, so the outcome
// does not depend on their order. g has 128 words; the block is at least 64 threads.
extern "C" __global__ void atomics_mix(int *g, int reps) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 64) s[t] = 0;
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < reps; k++) {
    atomicAdd(&s[(t * 5 + k) & 63], 1);
    atomicAdd(&g[(t + k) & 31], k);
    atomicMax(&g[32 + (k & 3)], t);
  }
  __syncthreads();
  if (t < 64) atomicAdd(&g[64 + t], s[t]);
}
