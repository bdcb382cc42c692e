// Eigenvalues of a symmetric tridiagonal matrix by bisection. How many lie below x is how many pivots of the matrix less
// x are negative (Sylvester's law of inertia; Sturm's sequence as quotients): with IEEE division and a matrix without
// zeros beside its diagonal, a pivot of 0 makes an infinite quotient and the next pivot negative, and the count is right.
// beside[i] couples rows i-1 and i; beside[0] is not used. out[k] is eigenvalue number k, from below.
#define MOST 128

// What is left to halve: wider than `precision`, and than a thousandth of the larger bound.
WB_INLINE bool is_wide(float left, float right, float precision) {
  return right - left > fmaxf(precision, 0.001f * fmaxf(fabsf(left), fabsf(right)));
}

// Takes n rows into the count: `pivot` is the last one before.
WB_INLINE int count_below(const float *diagonal, const float *square, int n, float x, float *pivot) {
  int count = 0;
  float q = *pivot;
#pragma unroll 4
  for (int i = 0; i < n; i++) {
    q = diagonal[i] - x - square[i] / q;
    count += q < 0.f;
  }
  *pivot = q;
  return count;
}

WB_INLINE int count_all(const float *diagonal, const float *square, int n, float x) {
  float pivot = 1.f;
  return count_below(diagonal, square, n, x, &pivot);
}

// A block finds the eigenvalues between two bounds: an interval a thread, each with at least one eigenvalue. An interval
// is halved; a half without eigenvalues is dropped; if both have some, the upper one goes to the next free thread, found
// by prefix sums. The block has n threads, at most MOST, so there is one for each interval.
WB_INLINE void bisect(const float *diagonal, const float *beside, float *out, float lower, float upper, float precision) {
  __shared__ float d[MOST], square[MOST], left[MOST], right[MOST];
  __shared__ int below_left[MOST], below_right[MOST], rank[MOST];
  int t = threadIdx.x, n = blockDim.x;
  d[t] = diagonal[t];
  square[t] = t > 0 ? beside[t] * beside[t] : 0.f;
  __syncthreads();
  if (t < 2) rank[t] = count_all(d, square, n, t == 0 ? lower : upper);
  __syncthreads();
  int intervals = rank[0] < rank[1];
  if (t == 0) {
    left[0] = lower;
    right[0] = upper;
    below_left[0] = rank[0];
    below_right[0] = rank[1];
  }
  __syncthreads();
#pragma unroll 1
  while (true) {
    bool wide = t < intervals && is_wide(left[t], right[t], precision);
    if (!__syncthreads_or(wide)) break;
    float middle = 0.f, end = 0.f;
    int count = 0, last = 0;
    bool splits = false;
    if (wide) {
      end = right[t];
      last = below_right[t];
      middle = 0.5f * (left[t] + end);
      count = count_all(d, square, n, middle);
      if (count == below_left[t]) {
        left[t] = middle;
      } else {
        right[t] = middle;
        below_right[t] = count;
        splits = count < last;
      }
    }
    rank[t] = splits;
#pragma unroll 1
    for (int distance = 1; distance < n; distance *= 2) {
      __syncthreads();
      int before = t >= distance ? rank[t - distance] : 0;
      __syncthreads();
      rank[t] += before;
    }
    __syncthreads();
    if (splits) {
      int at = intervals + rank[t] - 1;
      left[at] = middle;
      right[at] = end;
      below_left[at] = count;
      below_right[at] = last;
    }
    intervals += rank[n - 1];
    __syncthreads();
  }
  if (t < intervals)
    for (int k = below_left[t]; k < below_right[t]; k++) out[k] = 0.5f * (left[t] + right[t]);
}

// A small matrix, one block: all eigenvalues, which must lie between the bounds.
extern "C" __global__ void eigen_small(const float *diagonal, const float *beside, float *out, float lower, float upper,
                                       float precision) {
  bisect(diagonal, beside, out, lower, upper, precision);
}

// The bounds are cut into equal cells, and each block finds the eigenvalues of its own: there may be any number.
WB_INLINE float cell_edge(unsigned cell, float lower, float upper) {
  return cell == gridDim.x ? upper : lower + (float)cell * ((upper - lower) / (float)gridDim.x);
}

extern "C" __global__ void eigen_cells(const float *diagonal, const float *beside, float *out, float lower, float upper,
                                       float precision) {
  bisect(diagonal, beside, out, cell_edge(blockIdx.x, lower, upper), cell_edge(blockIdx.x + 1, lower, upper), precision);
}

// One eigenvalue a thread: thread k narrows the interval left[k] to right[k], which must contain eigenvalue k. The matrix
// goes through shared memory, a row a thread; n, its rows, is a multiple of the block and the number of all threads.
extern "C" __global__ void eigen_single(const float *diagonal, const float *beside, const float *left, const float *right,
                                        float *out, int n, float precision) {
  __shared__ float d[MOST], square[MOST];
  int t = threadIdx.x, k = blockIdx.x * blockDim.x + t;
  float l = left[k], r = right[k];
#pragma unroll 1
  while (true) {
    bool wide = is_wide(l, r, precision);
    if (!__syncthreads_or(wide)) break;
    float middle = 0.5f * (l + r), pivot = 1.f;
    int count = 0;
#pragma unroll 1
    for (int base = 0; base < n; base += blockDim.x) {
      float b = base + t > 0 ? beside[base + t] : 0.f;
      __syncthreads();
      d[t] = diagonal[base + t];
      square[t] = b * b;
      __syncthreads();
      if (wide) count += count_below(d, square, blockDim.x, middle, &pivot);
    }
    if (wide) {
      if (count <= k)
        l = middle;
      else
        r = middle;
    }
  }
  out[k] = 0.5f * (l + r);
}
