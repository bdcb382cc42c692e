// A system of n linear equations by Gaussian elimination with partial pivoting. m has n rows of n + 1 columns, the last
// one is the right-hand side. For each column k but the last: `gauss_pivot` and `gauss_eliminate`; then `gauss_back`.
// What becomes zero below the diagonal is not written.

// Brings the row with the largest element of column k, from row k on, to row k (the first of several), and computes by
// what row k has to be multiplied for each row below. One block of 2^j threads.
extern "C" __global__ void gauss_pivot(float *m, float *factors, int n, int k) {
  __shared__ float size[1024];
  __shared__ int where[1024];
  int t = threadIdx.x, width = n + 1;
  float largest = -1.0f;
  int row = n;
  for (int i = k + t; i < n; i += blockDim.x) {
    float v = fabsf(m[i * width + k]);
    if (v > largest) {
      largest = v;
      row = i;
    }
  }
  size[t] = largest;
  where[t] = row;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      float other = size[t + half];
      if (other > size[t] || (other == size[t] && where[t + half] < where[t])) {
        size[t] = other;
        where[t] = where[t + half];
      }
    }
  }
  __syncthreads();
  row = where[0];
  if (row != k)
    for (int j = k + t; j < width; j += blockDim.x) {
      float v = m[k * width + j];
      m[k * width + j] = m[row * width + j];
      m[row * width + j] = v;
    }
  __syncthreads();
  float pivot = m[k * width + k];
  for (int i = k + 1 + t; i < n; i += blockDim.x) factors[i] = m[i * width + k] / pivot;
}

// Subtracts row k from the rows below. One thread an element to the right of column k, blocks of any shape.
extern "C" __global__ void gauss_eliminate(float *m, const float *__restrict__ factors, int n, int k) {
  int column = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, row = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  int width = n + 1;
  if (row < n && column < width)
    m[row * width + column] = fmaf(-factors[row], m[k * width + column], m[row * width + column]);
}

// The unknowns, from the last equation to the first. One block; n is at most 1024.
extern "C" __global__ void gauss_back(const float *__restrict__ m, float *unknowns, int n) {
  __shared__ float right[1024];
  int t = threadIdx.x, width = n + 1;
  for (int i = t; i < n; i += blockDim.x) right[i] = m[i * width + n];
  for (int i = n - 1; i >= 0; --i) {
    __syncthreads();
    float x = right[i] / m[i * width + i];
    for (int row = t; row < i; row += blockDim.x) right[row] = fmaf(-m[row * width + i], x, right[row]);
    if (t == 0) unknowns[i] = x;
  }
}
