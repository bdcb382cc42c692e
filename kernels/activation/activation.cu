// The steps around the matrix products of a neural network: a bias and an activation for each element, and the rows of
// a table that tokens name.

// Rectifier, four elements a thread at a time by a grid-stride loop; `columns` is a multiple of four.
extern "C" __global__ void bias_relu(const float4 *__restrict__ in, const float4 *__restrict__ bias,
                                     float4 *__restrict__ out, int columns, int count) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count / 4; i += gridDim.x * blockDim.x) {
    float4 v = in[i], b = bias[i % (columns / 4)];
    out[i] = float4{fmaxf(v.x + b.x, 0.f), fmaxf(v.y + b.y, 0.f), fmaxf(v.z + b.z, 0.f), fmaxf(v.w + b.w, 0.f)};
  }
}

// Gaussian error linear unit by its usual approximation with a hyperbolic tangent, which is
// v / (1 + exp(-2 sqrt(2/pi) (v + 0.044715 v^3))).
extern "C" __global__ void bias_gelu(const float *__restrict__ in, const float *__restrict__ bias, float *__restrict__ out,
                                     int columns, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float v = in[i] + bias[i % columns];
  float inner = v * fmaf(0.0713548163f * v, v, 1.59576912f);
  out[i] = __fdividef(v, 1.f + __expf(-inner));
}

// A warp for each token copies the row of the table that the token names and adds that of its place in its sequence.
// Tokens outside of the table, those of padding, give zeros.
extern "C" __global__ void embedding(const float *__restrict__ table, const float *__restrict__ places,
                                     const int *__restrict__ tokens, float *__restrict__ out, int rows, int columns,
                                     int sequence, int count) {
  int lane = threadIdx.x % 32, i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (i >= count) return;
  int token = tokens[i];
  if (token < 0 || token >= rows) {
#pragma unroll 1
    for (int c = lane; c < columns; c += 32) out[i * columns + c] = 0.f;
    return;
  }
  const float *row = table + token * columns, *place = places + i % sequence * columns;
#pragma unroll 1
  for (int c = lane; c < columns; c += 32) out[i * columns + c] = row[c] + place[c];
}
