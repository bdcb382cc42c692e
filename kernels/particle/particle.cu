// A particle filter for a point on a line, a block for each filter and a thread for each particle: move, weigh by a
// measurement, normalise, resample. Weights become integers of 16 bits before they are added, so that sums are exact.
// Whole warps, at most 32; particles beyond `count` do not exist.
constexpr unsigned ALL = 0xffffffffu;

// The largest weight, in all threads. Two barriers.
WB_INLINE float block_largest(float mine, float *of_warp) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) mine = fmaxf(mine, __shfl_xor_sync(ALL, mine, step));
  if (lane == 0) of_warp[warp] = mine;
  __syncthreads();
  mine = lane < blockDim.x / 32 ? of_warp[lane] : 0.f;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) mine = fmaxf(mine, __shfl_xor_sync(ALL, mine, step));
  __syncthreads();
  return mine;
}

// Sums of this and all threads before it. One barrier.
WB_INLINE unsigned block_running_sum(unsigned mine, unsigned *of_warp) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    unsigned before = __shfl_up_sync(ALL, mine, step);
    if (lane >= step) mine += before;
  }
  if (lane == 31) of_warp[warp] = mine;
  __syncthreads();
#pragma unroll 1
  for (unsigned w = 0; w < warp; w++) mine += of_warp[w];
  return mine;
}

// Particles move by `speed` and by their own share of `noise`. A weight is 1/(1 + d*d) of the distance d to the
// measurement, in units of `spread`: a sensor that is sometimes far off. Resampling is systematic: `count` evenly spaced
// marks over the sum of all weights, the first at `start` 65536ths of a space; each takes the particle in whose weight it
// falls. `mean` gets, for each filter, the sum of the resampled positions in steps of 1/256.
extern "C" __global__ void particle_step(const float *__restrict__ from, float *__restrict__ to,
                                         const float *__restrict__ noise, const float *__restrict__ measured,
                                         int *mean, float speed, float spread, unsigned start, int count) {
  __shared__ float position[1024], largest_of_warp[32];
  __shared__ unsigned sums[1024], sum_of_warp[32];
  int t = threadIdx.x, at = blockIdx.x * count + t;
  bool exists = t < count;
  float weight = 0.f;
  if (exists) {
    float x = from[at] + speed + noise[at], d = __fdiv_rn(x - measured[blockIdx.x], spread);
    position[t] = x;
    weight = __frcp_rn(fmaf(d, d, 1.f));
  }
  float largest = block_largest(weight, largest_of_warp);
  unsigned share = (unsigned)(__fdiv_rn(weight, largest) * 65535.f);
  sums[t] = block_running_sum(share, sum_of_warp);
  __syncthreads();
  int fixed = 0;
  if (exists) {
    unsigned total = sums[count - 1];
    unsigned mark = (unsigned)(((unsigned long long)t * 65536u + start) * total / (65536ull * (unsigned)count));
    // the first particle whose running sum is beyond the mark
    int low = 0, high = count - 1;
#pragma unroll 1
    while (low < high) {
      int middle = (low + high) / 2;
      if (sums[middle] > mark) high = middle;
      else low = middle + 1;
    }
    float x = position[low];
    to[at] = x;
    fixed = __float2int_rn(x * 256.f);
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) fixed += __shfl_xor_sync(ALL, fixed, step);
  if (t % 32 == 0) atomicAdd(&mean[blockIdx.x], fixed);
}
