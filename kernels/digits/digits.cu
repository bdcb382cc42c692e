// A feed-forward network that recognises handwritten digits: three dense layers with ReLU in double precision, one
// launch for each (Adalbert et al., ERTS 2022, section V), and two kernels that make its input and weights from bytes.

#define TILE 16
// pixels along a side of an image as it is stored, and as the network takes it
#define SMALL 8
#define SIDE 28

static __device__ double relu(double x) { return x > 0 ? x : 0; }

// A dense layer: out = relu(weights * in + bias), with a column for each image. weights is neurons x inputs, in is
// inputs x images, out is neurons x images. A block of TILE x TILE threads makes as many outputs, a tile of both factors in
// shared memory at a time. Inputs and images are multiples of TILE, neurons need not be; grid
// (images/TILE, neurons/TILE rounded up).
extern "C" __global__ void digits_layer(const double *weights, const double *bias, const double *in, double *out,
                                        int neurons, int inputs, int images) {
  __shared__ double Ws[TILE][TILE], Xs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  double acc = 0;
  for (int k0 = 0; k0 < inputs; k0 += TILE) {
    Ws[ty][tx] = row < neurons ? weights[row * inputs + k0 + tx] : 0;
    Xs[ty][tx] = in[(k0 + ty) * images + col];
    __syncthreads();
    for (int k = 0; k < TILE; k++) acc += Ws[ty][k] * Xs[k][tx];
    __syncthreads();
  }
  if (row < neurons) out[row * images + col] = relu(acc + bias[row]);
}

// Weights from bytes. One thread an element.
extern "C" __global__ void digits_unpack(const signed char *bytes, double *out, double scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = scale * bytes[i];
}

// Where the centre of pixel `at` of SIDE lies between the centres of SMALL pixels, in 14ths, and beyond the outer ones on
// them: (at + 1/2) * SMALL / SIDE - 1/2.
static __device__ int place(int at) {
  int place = 4 * at - 5;
  return place < 0 ? 0 : place > 14 * (SMALL - 1) ? 14 * (SMALL - 1) : place;
}

// Images of SMALL x SMALL pixels from 0 to 16, one behind the other, made larger by bilinear interpolation, as columns of
// pixels from 0 to 1. The sums are whole numbers: only the last product rounds. One block a pixel, grid (SIDE, SIDE), and
// one thread an image.
extern "C" __global__ void digits_enlarge(const unsigned char *images, double *out) {
  int x = place(blockIdx.x), y = place(blockIdx.y);
  int left = x / 14, right = left < SMALL - 1 ? left + 1 : left;
  int top = y / 14, bottom = top < SMALL - 1 ? top + 1 : top;
  int wx = x % 14, wy = y % 14;
  const unsigned char *image = images + threadIdx.x * SMALL * SMALL;
  int upper = (14 - wx) * image[top * SMALL + left] + wx * image[top * SMALL + right];
  int lower = (14 - wx) * image[bottom * SMALL + left] + wx * image[bottom * SMALL + right];
  int sum = (14 - wy) * upper + wy * lower;
  out[(blockIdx.y * SIDE + blockIdx.x) * blockDim.x + threadIdx.x] = sum * (1.0 / (16 * 14 * 14));
}
