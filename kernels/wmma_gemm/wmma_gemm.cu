// D = alpha*A*B + beta*C on tensor cores, half-precision factors and single-precision sums, straight from global memory:
// no shared memory and no barrier. A warp makes 32x32 of D from two by two fragments, so that each fragment that it loads
// serves twice. Matrices are by rows, M = 32*gridDim.y, N = 32*gridDim.x*(warps of a block), K a multiple of 16; halves
// are passed two to a word. Sums run along K in ascending order.
extern "C" __global__ void __launch_bounds__(128) wmma_gemm(const int *__restrict__ A, const int *__restrict__ B,
                                                            const float *__restrict__ C, float *__restrict__ D,
                                                            float alpha, float beta, int K) {
  int warps = blockDim.x / 32, N = 32 * gridDim.x * warps;
  int row = 32 * blockIdx.y, column = 32 * (blockIdx.x * warps + threadIdx.x / 32);
  int a[2][8], b[2][8];
  float sum[2][2][8] = {};
#pragma unroll 1
  for (int k = 0; k < K; k += 16) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      __hmma_m16n16k16_ld_a(a[h], A + ((row + 16 * h) * K + k) / 2, K, 0);
      __hmma_m16n16k16_ld_b(b[h], B + (k * N + column + 16 * h) / 2, N, 0);
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < 2; j++) __hmma_m16n16k16_mma_f32f32(sum[i][j], a[i], b[j], sum[i][j], 0, 0);
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 2; j++) {
      int at = (row + 16 * i) * N + column + 16 * j;
      float old[8];
      __hmma_m16n16k16_ld_c_f32(old, C + at, N, 0);
#pragma unroll
      for (int e = 0; e < 8; e++) old[e] = fmaf(alpha, sum[i][j][e], __fmul_rn(beta, old[e]));
      __hmma_m16n16k16_st_c_f32(D + at, old, N, 0);
    }
}
