// Products of a dense matrix, rows x columns, row by row, with a vector: along its rows and along its columns.

// y = A x. One thread a row. Neighbouring lanes would read a whole row apart; instead a block loads 32 columns of its
// rows side by side into shared memory, with a free word after each row against bank conflicts. Dynamic shared memory:
// 33 blockDim.x + 32 floats; at least 32 threads.
extern __shared__ float part[];
extern "C" __global__ void gemv_rows(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y,
                                     int rows, int columns) {
  int t = threadIdx.x, lane = t % 32, first = blockIdx.x * blockDim.x, row = first + t;
  float *factors = part + 33 * blockDim.x;
  float sum = 0.0f;
  for (int left = 0; left < columns; left += 32) {
    int wide = columns - left < 32 ? columns - left : 32;
    __syncthreads();
    if (lane < wide) {
      if (t < 32) factors[t] = x[left + t];
      for (int i = t / 32; i < blockDim.x && first + i < rows; i += blockDim.x / 32)
        part[33 * i + lane] = a[(first + i) * columns + left + lane];
    }
    __syncthreads();
    if (row < rows)
#pragma unroll 4
      for (int j = 0; j < wide; ++j) sum = fmaf(part[33 * t + j], factors[j], sum);
  }
  if (row < rows) y[row] = sum;
}

// The sum over the slices of a block, for each of its 32 columns; thread (x, 0) has it.
static __device__ __forceinline__ float over_slices(float own) {
  __shared__ float slices[32][32];
  slices[threadIdx.y][threadIdx.x] = own;
  __syncthreads();
  float sum = own;
  if (threadIdx.y == 0)
    for (int slice = 1; slice < blockDim.y; ++slice) sum = sum + slices[slice][threadIdx.x];
  return sum;
}

// y = A' x. A block has 32 columns, blocks of 32 threads in x; thread y takes every blockDim.y-th row.
extern "C" __global__ void gemv_columns(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y,
                                        int rows, int columns) {
  int column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  if (column < columns)
    for (int row = threadIdx.y; row < rows; row += blockDim.y) sum = fmaf(a[row * columns + column], x[row], sum);
  sum = over_slices(sum);
  if (threadIdx.y == 0 && column < columns) y[column] = sum;
}

// Mean and standard deviation of each column, in blocks as above.
extern "C" __global__ void column_stats(const float *__restrict__ a, float *means, float *deviations, int rows,
                                        int columns) {
  __shared__ float mean_of[32];
  int column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  if (column < columns)
    for (int row = threadIdx.y; row < rows; row += blockDim.y) sum = sum + a[row * columns + column];
  sum = over_slices(sum);
  if (threadIdx.y == 0) mean_of[threadIdx.x] = sum / (float)rows;
  __syncthreads();
  float mean = mean_of[threadIdx.x], squares = 0.0f;
  if (column < columns)
    for (int row = threadIdx.y; row < rows; row += blockDim.y) {
      float away = a[row * columns + column] - mean;
      squares = fmaf(away, away, squares);
    }
  squares = over_slices(squares);
  if (threadIdx.y == 0 && column < columns) {
    means[column] = mean;
    deviations[column] = sqrtf(squares / (float)rows);
  }
}
