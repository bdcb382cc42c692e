// C = A*B on tensor cores: half-precision factors, single-precision sums. Matrices are by rows, M = 32*gridDim.y,
// N = 32*gridDim.x, K a multiple of 16; halves are passed two to a word. A block of 4 warps makes a 32x32 tile of C, each
// warp 16x16 of it, from 32x16 and 16x32 tiles of A and B in shared memory. Sums run along K in ascending order.

// A tile of 256 words, `words` in a row, from global (row length `from`, in words) to shared memory (row length `to`).
WB_INLINE void copy_tile(unsigned *shared, const unsigned *global, int words, int to, int from) {
#pragma unroll
  for (int round = 0; round < 2; round++) {
    int i = 128 * round + threadIdx.x, row = i / words, word = i % words;
    shared[row * to + word] = global[row * from + word];
  }
}

// This kernel uses the warp-level matrix functions of CUDA C++, whose fragments have an unspecified layout. Two of the rows
// that a fragment of A loads together begin in the same bank.
extern "C" __global__ void __launch_bounds__(128) hgemm_wmma(const unsigned *A, const unsigned *B, float *C, int K) {
  __shared__ __attribute__((aligned(32))) unsigned As[32 * 8], Bs[16 * 16];
  int warp = threadIdx.x / 32, N = 32 * gridDim.x;
  int row = warp / 2 * 16, col = warp % 2 * 16;
  A += 32 * blockIdx.y * K / 2;
  B += 32 * blockIdx.x / 2;
  int a[8], b[8];
  float c[8] = {0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f};
#pragma unroll 1
  for (int k0 = 0; k0 < K; k0 += 16) {
    copy_tile(As, A + k0 / 2, 8, 8, K / 2);
    copy_tile(Bs, B + k0 * N / 2, 16, 16, N / 2);
    __syncthreads();
    __hmma_m16n16k16_ld_a(a, (const int *)As + row * 8, 16, 0);
    __hmma_m16n16k16_ld_b(b, (const int *)Bs + col / 2, 32, 0);
    __hmma_m16n16k16_mma_f32f32(c, a, b, c, 0, 0);
    __syncthreads();
  }
  __hmma_m16n16k16_st_c_f32(C + (32 * blockIdx.y + row) * N + 32 * blockIdx.x + col, c, N, 0);
}

// The same product with the instructions themselves: ldmatrix from rows that are padded so that no two of eight begin in
// the same bank, mma.sync of m16n8k16, and single elements stored from their documented places.
extern "C" __global__ void __launch_bounds__(128) hgemm_mma(const unsigned *A, const unsigned *B, float *C, int K) {
  __shared__ __attribute__((aligned(16))) unsigned As[32 * 12], Bs[16 * 20];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, N = 32 * gridDim.x;
  int row = warp / 2 * 16, col = warp % 2 * 16;
  A += 32 * blockIdx.y * K / 2;
  B += 32 * blockIdx.x / 2;
  // where the row is that this lane names: of four 8x8 matrices, two down and two to the right
  unsigned a_at = wb_shared_address(As + (row + lane % 16) * 12 + lane / 16 * 4);
  unsigned b_at = wb_shared_address(Bs + lane % 16 * 20 + col / 2 + lane / 16 * 4);
  float c[2][4] = {{0.f, 0.f, 0.f, 0.f}, {0.f, 0.f, 0.f, 0.f}};
#pragma unroll 1
  for (int k0 = 0; k0 < K; k0 += 16) {
    copy_tile(As, A + k0 / 2, 8, 12, K / 2);
    copy_tile(Bs, B + k0 * N / 2, 16, 20, N / 2);
    __syncthreads();
    unsigned a[4], b[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(a_at) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(b_at) : "memory");
#pragma unroll
    for (int half = 0; half < 2; half++)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%0, %1, %2, %3};"
                   : "+f"(c[half][0]), "+f"(c[half][1]), "+f"(c[half][2]), "+f"(c[half][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * half]), "r"(b[2 * half + 1]));
    __syncthreads();
  }
  float *at = C + (32 * blockIdx.y + row + lane / 4) * N + 32 * blockIdx.x + col + lane % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    *(float2 *)(at + 8 * half) = float2{c[half][0], c[half][1]};
    *(float2 *)(at + 8 * half + 8 * N) = float2{c[half][2], c[half][3]};
  }
}
