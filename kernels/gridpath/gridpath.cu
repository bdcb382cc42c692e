// The cheapest way down a grid of integer costs, one row a step, straight down or to the column beside: by dynamic
// programming, `rows` rows in one launch. `from` has for each column what the cheapest way to it costs so far, `to`
// gets the same `rows` rows further down; `costs` starts with the first of these rows. A block owns as many columns as
// it has threads, and works on `rows` columns more on each side, one less after each row. Dynamic shared memory: twice
// blockDim.x + 2 rows ints.
extern __shared__ int lanes[];
extern "C" __global__ void gridpath(const int *__restrict__ from, int *__restrict__ to, const int *__restrict__ costs,
                                    int columns, int rows) {
  int wide = blockDim.x + 2 * rows, left = (int)(blockIdx.x * blockDim.x) - rows;
  int *now = lanes, *next = lanes + wide;
  for (int x = threadIdx.x; x < wide; x += blockDim.x) {
    int column = left + x;
    now[x] = column >= 0 && column < columns ? from[column] : 0x7fffffff;
  }
  for (int row = 0; row < rows; ++row) {
    __syncthreads();
    for (int x = row + 1 + threadIdx.x; x < wide - row - 1; x += blockDim.x) {
      int column = left + x;
      if (column >= 0 && column < columns) {
        int best = now[x];
        if (now[x - 1] < best) best = now[x - 1];
        if (now[x + 1] < best) best = now[x + 1];
        next[x] = best + costs[row * columns + column];
      } else {
        next[x] = 0x7fffffff;
      }
    }
    int *old = now;
    now = next;
    next = old;
  }
  __syncthreads();
  int column = left + rows + threadIdx.x;
  if (column < columns) to[column] = now[rows + threadIdx.x];
}
