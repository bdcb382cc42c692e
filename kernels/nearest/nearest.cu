// The point of a set that is nearest to a query. A candidate is one 64-bit number, the bits of its squared distance
// above its index: distances are not negative, so that the smallest number is the nearest point, the first of equals.
typedef unsigned long long candidate;
constexpr candidate NONE = ~0ull;

// The smallest candidate of a block, in thread 0: over each warp by shuffles, then over the warps by the first of them.
// Whole warps, at most 32.
WB_INLINE candidate block_least(candidate mine) {
  __shared__ candidate of_warp[32];
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) mine = min(mine, __shfl_down_sync(0xffffffffu, mine, step));
  if (lane == 0) of_warp[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    mine = lane < blockDim.x / 32 ? of_warp[lane] : NONE;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) mine = min(mine, __shfl_down_sync(0xffffffffu, mine, step));
  }
  return mine;
}

// One candidate for each block: the nearest of the points that it visits by a grid-stride loop.
extern "C" __global__ void nearest_point(const float *__restrict__ x, const float *__restrict__ y, candidate *least,
                                         float query_x, float query_y, int points) {
  candidate mine = NONE;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += gridDim.x * blockDim.x) {
    float dx = x[i] - query_x, dy = y[i] - query_y, distance = fmaf(dx, dx, __fmul_rn(dy, dy));
    mine = min(mine, (candidate)__float_as_uint(distance) << 32 | (unsigned)i);
  }
  mine = block_least(mine);
  if (threadIdx.x == 0) least[blockIdx.x] = mine;
}

// One block: the smallest of many candidates, as its index and its distance.
extern "C" __global__ void nearest_merge(const candidate *__restrict__ from, unsigned *index, float *distance, int count) {
  candidate mine = NONE;
#pragma unroll 1
  for (int i = threadIdx.x; i < count; i += blockDim.x) mine = min(mine, from[i]);
  mine = block_least(mine);
  if (threadIdx.x == 0) {
    *index = (unsigned)mine;
    *distance = sqrtf(__uint_as_float((unsigned)(mine >> 32)));
  }
}
