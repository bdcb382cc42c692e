// Bitonic sort, ascending.

// Each block sorts its own segment, one element a thread, in shared memory (one int a thread, dynamic). The block is a
// power of two.
extern __shared__ int s[];

extern "C" __global__ void bitonic_shared(int *data) {
  unsigned t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
  s[t] = data[at];
  __syncthreads();
  for (unsigned k = 2; k <= blockDim.x; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) {
      unsigned partner = t ^ j;
      if (partner > t) {
        bool up = (t & k) == 0;
        int a = s[t], b = s[partner];
        if ((a > b) == up) {
          s[t] = b;
          s[partner] = a;
        }
      }
      __syncthreads();
    }
  data[at] = s[t];
}

// One compare-and-exchange step over all of global memory: distance j within sequences of length k. A whole sort is
// one launch for each step.
extern "C" __global__ void bitonic_step(int *data, unsigned j, unsigned k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ j;
  if (partner > i) {
    bool up = (i & k) == 0;
    int a = data[i], b = data[partner];
    if ((a > b) == up) {
      data[i] = b;
      data[partner] = a;
    }
  }
}

// Each warp sorts 32 elements in registers, by shuffles: no shared memory, no barrier, no divergence.
extern "C" __global__ void bitonic_warp(int *data) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  int v = data[i];
#pragma unroll
  for (unsigned k = 2; k <= 32; k *= 2)
#pragma unroll
    for (unsigned j = k / 2; j > 0; j /= 2) {
      int other = __shfl_xor_sync(0xffffffffu, v, j);
      bool up = (lane & k) == 0, low = (lane & j) == 0;
      int small = v < other ? v : other, large = v < other ? other : v;
      v = up == low ? small : large;
    }
  data[i] = v;
}
