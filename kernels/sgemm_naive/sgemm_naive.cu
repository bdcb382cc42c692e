// C = A*B, naive shared-memory tiling: copy a tile, barrier, multiply, barrier (the "naive" version of Jeanmougin et al., ECRTS 2025).
//
// Block (32, w, 1) with w = 4 to 32 warps: warp ty computes row ty of a w x 32 tile of C, so the number of warps is free
// at launch. Each iteration copies w x kt of A and kt x 32 of B; kt is a multiple of 8 and K a multiple of kt, so the
// number of iterations is free as well. A is (w*gridDim.y) x K, B is K x (32*gridDim.x), all row major.
// Dynamic shared memory: (w + 32)*kt floats.
extern __shared__ float tiles[];

extern "C" __global__ void sgemm_naive(const float *A, const float *B, float *C, int K, int kt) {
  int tx = threadIdx.x, ty = threadIdx.y, w = blockDim.y;
  int N = 32 * gridDim.x, col = 32 * blockIdx.x + tx, row = w * blockIdx.y + ty;
  float *As = tiles, *Bs = tiles + w * kt;
  float acc = 0.f;
#pragma unroll 1
  for (int k0 = 0; k0 < K; k0 += kt) {
#pragma unroll 1
    for (int k = tx; k < kt; k += 32) As[ty * kt + k] = A[row * K + k0 + k];
#pragma unroll 1
    for (int k = ty; k < kt; k += w) Bs[k * 32 + tx] = B[(k0 + k) * N + col];
    __syncthreads();
    const float *a = As + ty * kt, *b = Bs + tx;
#pragma unroll 1
    for (int k = 0; k < kt; k += 8, a += 8, b += 8 * 32)
#pragma unroll
      for (int u = 0; u < 8; u++) acc += a[u] * b[u * 32];
    __syncthreads();
  }
  C[row * N + col] = acc;
}
