// C = A*B, register blocked and double buffered through registers: the next tile is loaded into registers before the
// present one is multiplied, and stored to the other buffer afterwards.
//
// Block of 256 threads, 64x64 tile of C, 8 deep, 4x4 elements a thread. M and N are multiples of 64, K of 8; the grid is
// (N/64, M/64).
extern "C" __global__ __launch_bounds__(256) void sgemm_prefetch(int M, int N, int K, const float *A, const float *B, float *C) {
  __shared__ float As[2][8][64];
  __shared__ float Bs[2][8][64];
  int tid = threadIdx.x, tx = tid & 15, ty = tid >> 4;
  int ar = tid >> 2, ac = (tid & 3) * 2;      // A: 64 rows x 8 cols, 2 floats a thread
  int br = tid >> 5, bc = (tid & 31) * 2;     // B: 8 rows x 64 cols, 2 floats a thread
  const float *Ap = A + (blockIdx.y * 64 + ar) * K + ac;
  const float *Bp = B + br * N + blockIdx.x * 64 + bc;
  float c[4][4];
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) c[i][j] = 0.f;
  float2 ra = *(const float2 *)Ap, rb = *(const float2 *)Bp;
  As[0][ac][ar] = ra.x; As[0][ac + 1][ar] = ra.y;
  *(float2 *)&Bs[0][br][bc] = rb;
  __syncthreads();
  int buf = 0;
  for (int k0 = 8; k0 <= K; k0 += 8) {
    if (k0 < K) { ra = *(const float2 *)(Ap + k0); rb = *(const float2 *)(Bp + (size_t)k0 * N); }
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float4 a = *(const float4 *)&As[buf][k][ty * 4];
      float4 b = *(const float4 *)&Bs[buf][k][tx * 4];
      float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) c[i][j] += av[i] * bv[j];
    }
    if (k0 < K) {
      buf ^= 1;
      As[buf][ac][ar] = ra.x; As[buf][ac + 1][ar] = ra.y;
      *(float2 *)&Bs[buf][br][bc] = rb;
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float4 o; o.x = c[i][0]; o.y = c[i][1]; o.z = c[i][2]; o.w = c[i][3];
    *(float4 *)&C[(blockIdx.y * 64 + ty * 4 + i) * N + blockIdx.x * 64 + tx * 4] = o;
  }
}
