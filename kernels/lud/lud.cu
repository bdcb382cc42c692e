// LU decomposition of an n x n matrix in place, without pivoting: L below the diagonal, which is 1, and U from the
// diagonal on. The matrix is cut into tiles of 16 x 16, n is a multiple of 16. For each tile k of the diagonal, in
// order: decompose it, solve for the tiles to the right of it and below, subtract their products from the tiles beyond.
#define TILE 16

// The tile of the diagonal itself. One block of 16 x 16 threads.
extern "C" __global__ void lud_diagonal(float *a, int n, int k) {
  __shared__ float t[TILE][TILE + 1];
  int x = threadIdx.x, y = threadIdx.y, at = (k * TILE + y) * n + k * TILE + x;
  t[y][x] = a[at];
#pragma unroll 1
  for (int p = 0; p < TILE - 1; ++p) {
    __syncthreads();
    if (y > p && x == p) t[y][p] = t[y][p] / t[p][p];
    __syncthreads();
    if (y > p && x > p) t[y][x] = fmaf(-t[y][p], t[p][x], t[y][x]);
  }
  a[at] = t[y][x];
}

// Block b has the tile b + 1 places to the right of the diagonal, where it solves with L, and the one b + 1 places
// below, where it solves with U: threads with z = 0 and 1. Blocks of 16 x 16 x 2 threads.
extern "C" __global__ void lud_perimeter(float *a, int n, int k) {
  __shared__ float corner[TILE][TILE + 1], tiles[2][TILE][TILE + 1];
  int x = threadIdx.x, y = threadIdx.y, below = threadIdx.z, away = (k + 1 + blockIdx.x) * TILE, from = k * TILE;
  int at = below ? (away + y) * n + from + x : (from + y) * n + away + x;
  float(*t)[TILE + 1] = tiles[below];
  if (!below) corner[y][x] = a[(from + y) * n + from + x];
  t[y][x] = a[at];
#pragma unroll 1
  for (int p = 0; p < TILE; ++p) {
    __syncthreads();
    if (below && x == p) t[y][p] = t[y][p] / corner[p][p];
    __syncthreads();
    if (below) {
      if (x > p) t[y][x] = fmaf(-t[y][p], corner[p][x], t[y][x]);
    } else {
      if (y > p) t[y][x] = fmaf(-corner[y][p], t[p][x], t[y][x]);
    }
  }
  a[at] = t[y][x];
}

// A tile beyond: minus the product of the tile in its row below the diagonal and the one in its column to the right of
// it. Blocks of 16 x 16 threads, one for each tile.
extern "C" __global__ void lud_internal(float *a, int n, int k) {
  __shared__ float lower[TILE][TILE + 1], upper[TILE][TILE + 1];
  int x = threadIdx.x, y = threadIdx.y;
  int row = (k + 1 + blockIdx.y) * TILE + y, column = (k + 1 + blockIdx.x) * TILE + x;
  lower[y][x] = a[row * n + k * TILE + x];
  upper[y][x] = a[(k * TILE + y) * n + column];
  float sum = a[row * n + column];
  __syncthreads();
  for (int p = 0; p < TILE; ++p) sum = fmaf(-lower[y][p], upper[p][x], sum);
  a[row * n + column] = sum;
}
