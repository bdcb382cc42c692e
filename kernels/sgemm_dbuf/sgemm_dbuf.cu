// C = A*B, double buffered with asynchronous copies (the second version in Jeanmougin et al., ECRTS 2025): while the warps multiply one tile, the
// next one is on its way from global to shared memory, and one barrier an iteration is enough.
//
// Tiling, block, arguments and order of additions are those of sgemm_naive: block (32, w, 1), w = 4 to 32 warps, kt a
// multiple of 8, K a multiple of kt. Dynamic shared memory: 2*(w + 32)*kt floats.
extern __shared__ float tiles[];

WB_INLINE void copy_tile(float *As, float *Bs, const float *A, const float *B, int k0, int K, int N, int kt) {
  int tx = threadIdx.x, ty = threadIdx.y, w = blockDim.y;
#pragma unroll 1
  for (int k = tx; k < kt; k += 32) wb_cp_async4(&As[ty * kt + k], &A[k0 + k]);
#pragma unroll 1
  for (int k = ty; k < kt; k += w) wb_cp_async4(&Bs[k * 32 + tx], &B[(k0 + k) * N]);
  wb_cp_async_commit();
}

extern "C" __global__ void sgemm_dbuf(const float *A, const float *B, float *C, int K, int kt) {
  int tx = threadIdx.x, ty = threadIdx.y, w = blockDim.y;
  int N = 32 * gridDim.x, col = 32 * blockIdx.x + tx, row = w * blockIdx.y + ty;
  int a_size = w * kt, size = a_size + 32 * kt, buffer = 0;
  A += row * K;
  B += col;
  float acc = 0.f;
  copy_tile(tiles, tiles + a_size, A, B, 0, K, N, kt);
#pragma unroll 1
  for (int k0 = 0; k0 < K; k0 += kt) {
    float *As = tiles + buffer, *Bs = As + a_size;
    buffer = size - buffer;
    wb_cp_async_wait(0);
    // This tile has arrived for every warp, and every warp is done with the tile before, whose buffer comes next.
    __syncthreads();
    if (k0 + kt < K) copy_tile(tiles + buffer, tiles + buffer + a_size, A, B, k0 + kt, K, N, kt);
    const float *a = As + ty * kt, *b = Bs + tx;
#pragma unroll 1
    for (int k = 0; k < kt; k += 8, a += 8, b += 8 * 32)
#pragma unroll
      for (int u = 0; u < 8; u++) acc += a[u] * b[u * 32];
  }
  C[row * N + col] = acc;
}
