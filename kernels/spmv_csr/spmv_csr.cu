// y = A x for a sparse matrix in compressed rows: row r has the entries row_start[r] to row_start[r + 1] - 1, each a
// column and a value.

// One row a thread: neighbouring lanes read far from each other, and a warp takes as long as its longest row.
extern "C" __global__ void spmv_thread(const int *__restrict__ row_start, const int *__restrict__ column,
                                       const float *__restrict__ value, const float *__restrict__ x,
                                       float *__restrict__ y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = row_start[row]; i < row_start[row + 1]; ++i) sum = fmaf(value[i], x[column[i]], sum);
  y[row] = sum;
}

// One row a warp: lanes read side by side, short rows leave most of them idle. Blocks are whole warps.
extern "C" __global__ void spmv_warp(const int *__restrict__ row_start, const int *__restrict__ column,
                                     const float *__restrict__ value, const float *__restrict__ x,
                                     float *__restrict__ y, int rows) {
  int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = row_start[row] + lane; i < row_start[row + 1]; i += 32) sum = fmaf(value[i], x[column[i]], sum);
  for (int step = 16; step > 0; step /= 2) sum = sum + __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = sum;
}
