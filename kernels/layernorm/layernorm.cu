// Layer normalisation: each row minus its mean, divided by its standard deviation, times `scale` plus `shift` of the
// column. A block for each row; whole warps, at most 32.
constexpr unsigned ALL = 0xffffffffu;

// The sum over the block, in all threads. Two barriers.
WB_INLINE float block_sum(float v) {
  __shared__ float of_warp[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(ALL, v, step);
  if (lane == 0) of_warp[warp] = v;
  __syncthreads();
  v = lane < blockDim.x / 32 ? of_warp[lane] : 0.f;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(ALL, v, step);
  __syncthreads();
  return v;
}

// The mean first, then the mean square of the distances to it: the row is read three times.
extern "C" __global__ void layernorm_passes(const float *__restrict__ in, const float *__restrict__ scale,
                                            const float *__restrict__ shift, float *__restrict__ out, float epsilon,
                                            int columns) {
  int t = threadIdx.x;
  in += blockIdx.x * columns;
  out += blockIdx.x * columns;
  float sum = 0.f, squares = 0.f;
#pragma unroll 1
  for (int i = t; i < columns; i += blockDim.x) sum += in[i];
  float mean = __fdiv_rn(block_sum(sum), (float)columns);
#pragma unroll 1
  for (int i = t; i < columns; i += blockDim.x) {
    float d = in[i] - mean;
    squares = fmaf(d, d, squares);
  }
  float factor = rsqrtf(__fdiv_rn(block_sum(squares), (float)columns) + epsilon);
#pragma unroll 1
  for (int i = t; i < columns; i += blockDim.x) out[i] = fmaf((in[i] - mean) * factor, scale[i], shift[i]);
}

// How many values, their mean, and the sum of the squares of their distances to it.
struct moments {
  float count, mean, squares;
};

// The moments of two sets together (Chan, Golub and LeVeque's rule); either may be empty.
WB_INLINE moments merged(moments a, moments b) {
  float count = a.count + b.count, apart = b.mean - a.mean, share = count > 0.f ? __fdividef(b.count, count) : 0.f;
  return {count, fmaf(apart, share, a.mean), fmaf(apart * apart * a.count, share, a.squares + b.squares)};
}

WB_INLINE moments warp_merged(moments m) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    m = merged(m, {__shfl_down_sync(ALL, m.count, step), __shfl_down_sync(ALL, m.mean, step),
                   __shfl_down_sync(ALL, m.squares, step)});
  return m;
}

// Mean and variance in one pass by Welford's method: a division in each iteration, the row is read twice.
extern "C" __global__ void layernorm_welford(const float *__restrict__ in, const float *__restrict__ scale,
                                             const float *__restrict__ shift, float *__restrict__ out, float epsilon,
                                             int columns) {
  __shared__ moments of_warp[32];
  __shared__ float row_mean, row_factor;
  int t = threadIdx.x, lane = t % 32;
  in += blockIdx.x * columns;
  out += blockIdx.x * columns;
  moments m = {0.f, 0.f, 0.f};
#pragma unroll 1
  for (int i = t; i < columns; i += blockDim.x) {
    float v = in[i], before = v - m.mean;
    m.count += 1.f;
    m.mean += __fdividef(before, m.count);
    m.squares = fmaf(before, v - m.mean, m.squares);
  }
  m = warp_merged(m);
  if (lane == 0) of_warp[t / 32] = m;
  __syncthreads();
  if (t < 32) {
    m = {0.f, 0.f, 0.f};
    if (lane < blockDim.x / 32) m = of_warp[lane];
    m = warp_merged(m);
    if (lane == 0) {
      row_mean = m.mean;
      row_factor = rsqrtf(__fdiv_rn(m.squares, (float)columns) + epsilon);
    }
  }
  __syncthreads();
  float mean = row_mean, factor = row_factor;
#pragma unroll 1
  for (int i = t; i < columns; i += blockDim.x) out[i] = fmaf((in[i] - mean) * factor, scale[i], shift[i]);
}
