// Removes speckles from an image and keeps its edges: diffusion that is slow where the image changes by more than noise
// explains. One iteration is three launches: the amount of noise, the conductance of each cell, and the diffusion itself.
// Images have width x height cells, row by row; cells beyond the rim have the values of the rim.

// noise[0] = variance / mean^2 over the image. One block of 32 * 2^k threads.
extern "C" __global__ void diffusion_noise(const float *__restrict__ image, float *noise, int cells) {
  __shared__ float sums[1024], squares[1024];
  int t = threadIdx.x;
  float sum = 0.0f, square = 0.0f;
  for (int i = t; i < cells; i += blockDim.x) {
    float v = image[i];
    sum = sum + v;
    square = fmaf(v, v, square);
  }
  sums[t] = sum;
  squares[t] = square;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      sums[t] += sums[t + half];
      squares[t] += squares[t + half];
    }
  }
  if (t == 0) {
    float mean = sums[0] / (float)cells, of_squares = squares[0] / (float)cells;
    noise[0] = fmaf(-mean, mean, of_squares) / (mean * mean);
  }
}

// Differences to the four neighbours.
struct Slopes {
  float north, south, west, east;
};
static __device__ __forceinline__ Slopes slopes(const float *__restrict__ image, float own, int x, int y, int width,
                                                int height) {
  int at = y * width + x;
  Slopes s;
  s.north = image[y > 0 ? at - width : at] - own;
  s.south = image[y < height - 1 ? at + width : at] - own;
  s.west = image[x > 0 ? at - 1 : at] - own;
  s.east = image[x < width - 1 ? at + 1 : at] - own;
  return s;
}

// The conductance of each cell, from 0 to 1. One thread a cell.
extern "C" __global__ void diffusion_edges(const float *__restrict__ image, const float *__restrict__ noise,
                                           float *__restrict__ through, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float own = image[y * width + x], q0 = noise[0];
  Slopes s = slopes(image, own, x, y, width, height);
  float across = fmaf(s.west, s.west, s.east * s.east), along = fmaf(s.north, s.north, s.south * s.south);
  float gradient = (across + along) / (own * own);
  float laplacian = ((s.north + s.south) + (s.west + s.east)) / own;
  float spread = fmaf(0.25f, laplacian, 1.0f);
  float q = fmaf(0.5f, gradient, -0.0625f * (laplacian * laplacian)) / (spread * spread);
  float c = 1.0f / (1.0f + (q - q0) / fmaf(q0, q0, q0));
  through[y * width + x] = fminf(fmaxf(c, 0.0f), 1.0f);
}

// The image after an iteration. A border between two cells has the conductance of its lower or right cell.
extern "C" __global__ void diffusion_step(const float *__restrict__ image, const float *__restrict__ through,
                                          float *__restrict__ after, int width, int height, float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int at = y * width + x;
  float own = image[at], c = through[at];
  Slopes s = slopes(image, own, x, y, width, height);
  float south = y < height - 1 ? through[at + width] : c, east = x < width - 1 ? through[at + 1] : c;
  float flow = c * (s.north + s.west);
  flow = fmaf(south, s.south, flow);
  flow = fmaf(east, s.east, flow);
  after[at] = fmaf(rate, flow, own);
}
