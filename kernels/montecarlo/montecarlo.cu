// Monte Carlo with generators of its own in each thread and results that are counted in integers.

// Philox 4x32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): four words that
// depend on nothing but a counter and a key.
WB_INLINE uint4 philox(uint4 counter, unsigned key0, unsigned key1) {
#pragma unroll
  for (int round = 0; round < 10; round++) {
    unsigned high0 = __umulhi(0xd2511f53u, counter.x), low0 = 0xd2511f53u * counter.x;
    unsigned high1 = __umulhi(0xcd9e8d57u, counter.z), low1 = 0xcd9e8d57u * counter.z;
    counter = uint4{high1 ^ counter.y ^ key0, low1, high0 ^ counter.w ^ key1, low0};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return counter;
}

WB_INLINE unsigned inside_circle(unsigned x, unsigned y) {
  x >>= 16;
  y >>= 16;
  return (unsigned long long)x * x + (unsigned long long)y * y < 1ull << 32;
}

// How many of random points of the unit square are inside of the quarter circle: two points a draw, `draws` draws a
// thread. Adds the sum of each block to `inside`. Whole warps.
extern "C" __global__ void montecarlo_pi(unsigned *inside, unsigned seed, int draws) {
  __shared__ unsigned sum;
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
#pragma unroll 1
  for (int draw = 0; draw < draws; draw++) {
    uint4 r = philox(uint4{(unsigned)draw, thread, 0u, 0u}, seed, 0u);
    count += inside_circle(r.x, r.y) + inside_circle(r.z, r.w);
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(0xffffffffu, count, step);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, count);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(inside, sum);
}

// A call option with a barrier, one path a thread: each step the price goes up or down by one tick, a bit of a xorshift
// generator each. A path that touches the barrier is worth nothing and ends there, so that lanes leave the loop one by
// one. Adds what the paths pay, in ticks, to paid[0] and how many ended at the barrier to paid[1]. Whole warps.
extern "C" __global__ void montecarlo_barrier(unsigned *paid, unsigned seed, int price, int strike, int barrier,
                                              int steps, int paths) {
  int path = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = (path + 1) * 2654435761u ^ seed, pays = 0;
  bool out = false;
  if (path < paths) {
    if (x == 0) x = seed;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
      if (step % 16 == 0) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
      }
      price += x >> (step % 16 + 8) & 1 ? 1 : -1;
      if (price <= barrier) {
        out = true;
        break;
      }
    }
    if (!out) pays = max(price - strike, 0);
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) pays += __shfl_xor_sync(0xffffffffu, pays, step);
  unsigned outs = __popc(__ballot_sync(0xffffffffu, out));
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&paid[0], pays);
    atomicAdd(&paid[1], outs);
  }
}
