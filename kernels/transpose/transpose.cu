// Transpose of a w x h matrix (w columns) in 32x32 tiles by blocks of (32, 8). w and h are multiples of 32; the grid is
// (w/32, h/32).
#define TILE 32
#define ROWS 8

// Straight from global to global: coalesced reads, writes that touch 32 lines a warp.
extern "C" __global__ void transpose_naive(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
  for (int j = 0; j < TILE; j += ROWS) out[x * h + y + j] = in[(y + j) * w + x];
}

// Through a tile in shared memory whose columns lie in one bank each; WIDTH 33 moves them apart.
template <int WIDTH> WB_INLINE void through_tile(float (*t)[WIDTH], const float *in, float *out, int w, int h, int bx, int by) {
  int tx = threadIdx.x, ty = threadIdx.y, x = bx * TILE + tx, y = by * TILE + ty;
#pragma unroll
  for (int j = 0; j < TILE; j += ROWS) t[ty + j][tx] = in[(y + j) * w + x];
  __syncthreads();
  x = by * TILE + tx;
  y = bx * TILE + ty;
#pragma unroll
  for (int j = 0; j < TILE; j += ROWS) out[(y + j) * h + x] = t[tx][ty + j];
}

// Both sides coalesced, but the column read is a 32-way bank conflict.
extern "C" __global__ void transpose_conflict(const float *in, float *out, int w, int h) {
  __shared__ float t[TILE][TILE];
  through_tile(t, in, out, w, h, blockIdx.x, blockIdx.y);
}

// One padding column: no conflicts.
extern "C" __global__ void transpose_padded(const float *in, float *out, int w, int h) {
  __shared__ float t[TILE][TILE + 1];
  through_tile(t, in, out, w, h, blockIdx.x, blockIdx.y);
}

// The blocks go along diagonals, so that neighbours in time write to different partitions of global memory.
extern "C" __global__ void transpose_diagonal(const float *in, float *out, int w, int h) {
  __shared__ float t[TILE][TILE + 1];
  int number = blockIdx.y * gridDim.x + blockIdx.x;
  int by = number % gridDim.y, bx = (number / gridDim.y + by) % gridDim.x;
  through_tile(t, in, out, w, h, bx, by);
}
