// Histogram of bytes by their upper six bits, without atomics: every thread counts in 64 bytes of its own.
#define BINS 64
#define THREADS 64

// A partial histogram a block of THREADS threads; four bytes of data a word. A thread takes at most 63 words, so that no
// counter of a byte overflows.
extern "C" __global__ void histogram64_partial(const unsigned *in, unsigned *partial, int words) {
  // a row a bin; the bytes of a word belong to threads of different warps or half-warps, so that the lanes of a
  // half-warp are in different banks
  __shared__ unsigned counts[BINS * THREADS / 4];
  unsigned char *own = (unsigned char *)counts + (threadIdx.x % 16) * 4 + threadIdx.x / 16;
  int t = threadIdx.x;
#pragma unroll 4
  for (int i = 0; i < BINS / 4; i++) counts[i * THREADS + t] = 0;
  __syncthreads();
#pragma unroll 1
  for (int i = blockIdx.x * THREADS + t; i < words; i += gridDim.x * THREADS) {
    unsigned word = in[i];
    own[(word >> 2 & 63) * THREADS]++;
    own[(word >> 10 & 63) * THREADS]++;
    own[(word >> 18 & 63) * THREADS]++;
    own[(word >> 26) * THREADS]++;
  }
  __syncthreads();
  // thread t adds up row t, two bytes of a word at once; each lane begins elsewhere, in a bank of its own
  unsigned sums = 0;
#pragma unroll 4
  for (int i = 0; i < THREADS / 4; i++) {
    unsigned word = counts[t * (THREADS / 4) + (i + t / 2) % (THREADS / 4)];
    sums += (word & 0x00ff00ffu) + (word >> 8 & 0x00ff00ffu);
  }
  partial[blockIdx.x * BINS + t] = (sums & 0xffffu) + (sums >> 16);
}

// A block a bin adds up `histograms` partial ones. The block is a power of two; dynamic shared memory: a word a thread.
extern __shared__ unsigned s[];
extern "C" __global__ void histogram64_merge(const unsigned *partial, unsigned *bins, int histograms) {
  int t = threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = t; i < histograms; i += blockDim.x) sum += partial[i * BINS + blockIdx.x];
  s[t] = sum;
#pragma unroll 1
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) s[t] += s[t + d];
  }
  if (t == 0) bins[blockIdx.x] = s[0];
}
