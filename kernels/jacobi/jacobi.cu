// Poisson's equation on a square by Jacobi's method: a sweep over the grid, and what is left of the right-hand side.
// Grids have n x n cells and a border of one more on each side, row by row; f is the right-hand side times the square of
// the mesh width. One thread a cell, blocks of any shape.
extern "C" __global__ void jacobi(const float *__restrict__ from, float *__restrict__ to, const float *__restrict__ f,
                                  int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int width = n + 2, i = (y + 1) * width + x + 1;
  if (x < n && y < n) to[i] = 0.25f * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width] + f[i]);
}

// The largest residual of each block. Blocks are whole warps, at most 32.
extern "C" __global__ void residual(const float *__restrict__ u, const float *__restrict__ f, float *worst, int n) {
  __shared__ float of_warp[32];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int width = n + 2, i = (y + 1) * width + x + 1;
  float r = 0.0f;
  if (x < n && y < n) r = fabsf(u[i - 1] + u[i + 1] + u[i - width] + u[i + width] + f[i] - 4.0f * u[i]);
  for (int step = 16; step > 0; step /= 2) r = fmaxf(r, __shfl_xor_sync(0xffffffffu, r, step));
  int thread = threadIdx.y * blockDim.x + threadIdx.x, warps = blockDim.x * blockDim.y / 32;
  if (thread % 32 == 0) of_warp[thread / 32] = r;
  __syncthreads();
  if (thread == 0) {
    for (int w = 1; w < warps; ++w) r = fmaxf(r, of_warp[w]);
    worst[blockIdx.y * gridDim.x + blockIdx.x] = r;
  }
}
