// Softmax of the rows of a matrix: exponentials of the distance to the row's largest element, divided by their sum.
constexpr unsigned ALL = 0xffffffffu;

WB_INLINE float warp_largest(float v) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(ALL, v, step));
  return v;
}

WB_INLINE float warp_sum(float v) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(ALL, v, step);
  return v;
}

// A warp for each row, rows of at most 128 elements in the registers of the lanes, no barrier.
extern "C" __global__ void softmax_warp(const float *__restrict__ in, float *__restrict__ out, int rows, int columns) {
  int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float v[4], largest = -__builtin_inff(), sum = 0.f;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int column = lane + 32 * k;
    v[k] = column < columns ? in[row * columns + column] : -__builtin_inff();
    largest = fmaxf(largest, v[k]);
  }
  largest = warp_largest(largest);
#pragma unroll
  for (int k = 0; k < 4; k++) sum += v[k] = __expf(v[k] - largest);
  float factor = __frcp_rn(warp_sum(sum));
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (lane + 32 * k < columns) out[row * columns + lane + 32 * k] = v[k] * factor;
}

// A block for each row, of any length: three passes over the row, two reductions over barriers. Whole warps, at most 32.
extern "C" __global__ void softmax_block(const float *__restrict__ in, float *__restrict__ out, int columns) {
  __shared__ float of_warp[32];
  int t = threadIdx.x, warps = blockDim.x / 32;
  in += blockIdx.x * columns;
  out += blockIdx.x * columns;
  float largest = -__builtin_inff(), sum = 0.f;
#pragma unroll 1
  for (int i = t; i < columns; i += blockDim.x) largest = fmaxf(largest, in[i]);
  largest = warp_largest(largest);
  if (t % 32 == 0) of_warp[t / 32] = largest;
  __syncthreads();
  largest = warp_largest(t % 32 < warps ? of_warp[t % 32] : -__builtin_inff());
  __syncthreads();
#pragma unroll 1
  for (int i = t; i < columns; i += blockDim.x) {
    float e = __expf(in[i] - largest);
    out[i] = e;
    sum += e;
  }
  sum = warp_sum(sum);
  if (t % 32 == 0) of_warp[t / 32] = sum;
  __syncthreads();
  float factor = __frcp_rn(warp_sum(t % 32 < warps ? of_warp[t % 32] : 0.f));
#pragma unroll 1
  for (int i = t; i < columns; i += blockDim.x) out[i] *= factor;
}
