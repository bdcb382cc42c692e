// Scalar products of several pairs of vectors, `length` elements each, one behind the other. A block takes pair after
// pair: SUMS partial sums, each of every SUMS-th element, then a tree over barriers. Fewer threads than sums: a thread
// makes several.
#define SUMS 128

extern "C" __global__ void scalar_products(const float *a, const float *b, float *out, int pairs, int length) {
  __shared__ float sums[SUMS];
  int t = threadIdx.x;
#pragma unroll 1
  for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
    const float *x = a + pair * length, *y = b + pair * length;
#pragma unroll 1
    for (int first = t; first < SUMS; first += blockDim.x) {
      float v = 0.f;
#pragma unroll 1
      for (int i = first; i < length; i += SUMS) v += x[i] * y[i];
      sums[first] = v;
    }
#pragma unroll 1
    for (int d = SUMS / 2; d > 0; d /= 2) {
      __syncthreads();
#pragma unroll 1
      for (int i = t; i < d; i += blockDim.x) sums[i] += sums[i + d];
    }
    if (t == 0) out[pair] = sums[0];
    __syncthreads();
  }
}
