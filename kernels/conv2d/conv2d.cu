// Convolution of an image with a small filter that lies in constant memory; outside of the image there are zeros. The
// filters are binomial until a host writes others. A filter lies as it is applied, its middle on the pixel.
constexpr int RADIUS = 2, WIDTH = 2 * RADIUS + 1, SIDE = 16, HALO = SIDE + 2 * RADIUS;

__constant__ float filter[WIDTH * WIDTH] = {
    0.00390625f, 0.015625f, 0.0234375f, 0.015625f, 0.00390625f, //
    0.015625f,   0.0625f,   0.09375f,   0.0625f,   0.015625f,   //
    0.0234375f,  0.09375f,  0.140625f,  0.09375f,  0.0234375f,  //
    0.015625f,   0.0625f,   0.09375f,   0.0625f,   0.015625f,   //
    0.00390625f, 0.015625f, 0.0234375f, 0.015625f, 0.00390625f,
};
__constant__ float profile[WIDTH] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

// Blocks of 16x16 threads, one pixel each; a block brings its pixels and two more on each side to shared memory, in
// strides of the block, which does not come out even.
extern "C" __global__ void __launch_bounds__(256) conv2d(const float *__restrict__ image, float *__restrict__ out,
                                                          int width, int height) {
  __shared__ float tile[HALO * HALO];
  int thread = threadIdx.y * SIDE + threadIdx.x, left = blockIdx.x * SIDE - RADIUS, top = blockIdx.y * SIDE - RADIUS;
#pragma unroll 1
  for (int i = thread; i < HALO * HALO; i += SIDE * SIDE) {
    int x = left + i % HALO, y = top + i / HALO;
    float pixel = 0.f;
    if (x >= 0 && x < width && y >= 0 && y < height) pixel = image[y * width + x];
    tile[i] = pixel;
  }
  __syncthreads();
  int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.f;
#pragma unroll
  for (int dy = 0; dy < WIDTH; dy++)
#pragma unroll
    for (int dx = 0; dx < WIDTH; dx++)
      sum = fmaf(filter[dy * WIDTH + dx], tile[(threadIdx.y + dy) * HALO + threadIdx.x + dx], sum);
  out[y * width + x] = sum;
}

// Convolution in one dimension, along rows: a block has a piece of one row, blockIdx.y is the row. At most 256 threads.
extern "C" __global__ void conv_rows(const float *__restrict__ image, float *__restrict__ out, int width) {
  __shared__ float piece[256 + 2 * RADIUS];
  int t = threadIdx.x, x = blockIdx.x * blockDim.x + t;
  const float *row = image + blockIdx.y * width;
  piece[RADIUS + t] = x < width ? row[x] : 0.f;
  if (t < RADIUS) {
    int before = x - RADIUS, after = x + blockDim.x;
    piece[t] = before >= 0 ? row[before] : 0.f;
    piece[RADIUS + blockDim.x + t] = after < width ? row[after] : 0.f;
  }
  __syncthreads();
  if (x >= width) return;
  float sum = 0.f;
#pragma unroll
  for (int d = 0; d < WIDTH; d++) sum = fmaf(profile[d], piece[t + d], sum);
  out[blockIdx.y * width + x] = sum;
}

// Convolution along columns: a thread has a column of `steps` pixels of the image and keeps the last five of them in
// registers, so that each is loaded once. blockIdx.y is the piece of the column.
extern "C" __global__ void conv_columns(const float *__restrict__ image, float *__restrict__ out, int width, int height,
                                        int steps) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * steps, end = min(first + steps, height);
  if (x >= width) return;
  float window[WIDTH];
#pragma unroll
  for (int d = 1; d < WIDTH; d++) {
    int y = first + d - 1 - RADIUS;
    window[d] = y >= 0 && y < height ? image[y * width + x] : 0.f;
  }
#pragma unroll 1
  for (int y = first; y < end; y++) {
#pragma unroll
    for (int d = 1; d < WIDTH; d++) window[d - 1] = window[d];
    window[WIDTH - 1] = y + RADIUS < height ? image[(y + RADIUS) * width + x] : 0.f;
    float sum = 0.f;
#pragma unroll
    for (int d = 0; d < WIDTH; d++) sum = fmaf(profile[d], window[d], sum);
    out[y * width + x] = sum;
  }
}
