// Kernels that Betts and Donaldson, "Estimating the WCET of GPU-Accelerated Applications using Hybrid Analysis", ECRTS
// 2013, analyse and that no other folder has: a merge of bitonic sort, eigenvalues of a matrix, a histogram of 64 bins.

// ---- Bitonic sort: the later steps of a merge, those that stay within a block.

// All steps of sequences of length k with a distance below that of the block's 2 * blockDim elements, on a copy in shared
// memory (two ints a thread, dynamic); a thread for each pair. The block and k are powers of two, k at least 2. The steps
// with larger distances come before, by `bitonic_step`.
extern "C" __global__ void bitonic_merge(int *data, unsigned k) {
  extern __shared__ int s[];
  unsigned t = threadIdx.x, n = 2 * blockDim.x, first = blockIdx.x * n;
  data += first;
  s[t] = data[t];
  s[t + blockDim.x] = data[t + blockDim.x];
#pragma unroll 1
  for (unsigned j = (k < n ? k : n) / 2; j > 0; j /= 2) {
    __syncthreads();
    // pair number t: a zero bit is put into t where the partners differ
    unsigned low = 2 * (t & ~(j - 1)) | (t & (j - 1));
    bool up = ((first + low) & k) == 0;
    int a = s[low], b = s[low + j];
    if ((a > b) == up) {
      s[low] = b;
      s[low + j] = a;
    }
  }
  __syncthreads();
  data[t] = s[t];
  data[t + blockDim.x] = s[t + blockDim.x];
}

// ---- Eigenvalues of a symmetric tridiagonal matrix of at most 256 rows, by bisection. `beside[i]` is the element between
// rows i-1 and i, for i > 0. Eigenvalues are numbered from 0, ascending.

#define ROWS 256

__shared__ float diagonal_s[ROWS], square_s[ROWS];

// Copies the matrix to shared memory, the elements beside the diagonal squared.
WB_INLINE void load_matrix(const float *diagonal, const float *beside, unsigned n) {
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    float b = i > 0 ? beside[i] : 0.f;
    diagonal_s[i] = diagonal[i];
    square_s[i] = b * b;
  }
}

// How many eigenvalues are below x: as many as there are negative pivots in the decomposition of the matrix less x on its
// diagonal (Sturm). A pivot too small to divide by counts as negative.
WB_INLINE unsigned count_below(unsigned n, float x) {
  unsigned count = 0;
  float pivot = 1.f;
#pragma unroll 1
  for (unsigned i = 0; i < n; i++) {
    pivot = diagonal_s[i] - x - square_s[i] / pivot;
    if (fabsf(pivot) < 1e-30f) pivot = -1e-30f;
    count += pivot < 0.f;
  }
  return count;
}

// Intervals that cover all eigenvalues sought, a place for each of these: the interval from left[t] to right[t] has the
// eigenvalues t up to end[t] exclusively, and where end[t] is 0 none begins. So each half of an interval knows its place.
__shared__ float left_s[ROWS], right_s[ROWS];
__shared__ unsigned end_s[ROWS];

// Halves the interval of place t; `first` eigenvalues are below all intervals. Empty halves are dropped.
WB_INLINE void halve(unsigned n, unsigned first) {
  unsigned t = threadIdx.x, end = end_s[t];
  float middle = 0.5f * (left_s[t] + right_s[t]);
  unsigned below = count_below(n, middle) - first;
  if (below <= t) {
    left_s[t] = middle;
  } else {
    if (below < end) {
      left_s[below] = middle;
      right_s[below] = right_s[t];
      end_s[below] = end;
      end_s[t] = below;
    }
    right_s[t] = middle;
  }
}

// From the matrix to intervals: halves what Gerschgorin's discs cover until each interval has one eigenvalue, or for
// `rounds` rounds; a thread an interval. What still has several then is a cluster. Leaves in place t the ends of the
// interval that begins with eigenvalue t and the number of its eigenvalues, or zeros. One block, a power of two and at
// least n threads, at most 256.
extern "C" __global__ void eigen_intervals(const float *diagonal, const float *beside, float *left, float *right,
                                           unsigned *count, unsigned n, unsigned rounds) {
  unsigned t = threadIdx.x;
  load_matrix(diagonal, beside, n);
  float radius = (0 < t && t < n ? fabsf(beside[t]) : 0.f) + (t + 1 < n ? fabsf(beside[t + 1]) : 0.f);
  left_s[t] = t < n ? diagonal[t] - radius : __builtin_inff();
  right_s[t] = t < n ? diagonal[t] + radius : -__builtin_inff();
  end_s[t] = t == 0 ? n : 0;
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) {
      left_s[t] = fminf(left_s[t], left_s[t + d]);
      right_s[t] = fmaxf(right_s[t], right_s[t + d]);
    }
  }
  __syncthreads();
#pragma unroll 1
  for (unsigned round = 0; round < rounds; round++) {
    bool several = end_s[t] > t + 1;
    if (!__syncthreads_or(several)) break;
    if (several) halve(n, 0);
    __syncthreads();
  }
  if (t >= n) return;
  bool begins = end_s[t] > 0;
  left[t] = begins ? left_s[t] : 0.f;
  right[t] = begins ? right_s[t] : 0.f;
  count[t] = begins ? end_s[t] - t : 0;
}

// From intervals of one eigenvalue to eigenvalues: thread i halves its own interval until it is at most `relative` of its
// larger end wide, or `least`. Interval i must contain eigenvalue i; whether it contains others does not matter.
extern "C" __global__ void eigen_single(const float *diagonal, const float *beside, const float *left,
                                        const float *right, float *value, unsigned n, float relative, float least) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  load_matrix(diagonal, beside, n);
  __syncthreads();
  if (i >= n) return;
  float l = left[i], r = right[i];
#pragma unroll 1
  while (r - l > fmaxf(least, relative * fmaxf(fabsf(l), fabsf(r)))) {
    float middle = 0.5f * (l + r);
    if (count_below(n, middle) > i)
      r = middle;
    else
      l = middle;
  }
  value[i] = 0.5f * (l + r);
}

// From clusters to eigenvalues: a block for each interval, which may have any number of eigenvalues. All its parts are
// halved until they are at most `width` wide, a thread each. Block b leaves the eigenvalues of its interval in row b of
// `value`, n to a row, and their number in count[b]. A block has at least n threads, at most 256.
extern "C" __global__ void eigen_cluster(const float *diagonal, const float *beside, const float *left,
                                         const float *right, float *value, unsigned *count, unsigned n, float width) {
  __shared__ unsigned below_s[2];
  unsigned t = threadIdx.x, b = blockIdx.x;
  load_matrix(diagonal, beside, n);
  __syncthreads();
  if (t < 2) below_s[t] = count_below(n, t == 0 ? left[b] : right[b]);
  __syncthreads();
  unsigned first = below_s[0], found = below_s[1] > first ? below_s[1] - first : 0;
  left_s[t] = left[b];
  right_s[t] = right[b];
  end_s[t] = t == 0 ? found : 0;
#pragma unroll 1
  for (;;) {
    bool wide = end_s[t] > 0 && right_s[t] - left_s[t] > width;
    if (!__syncthreads_or(wide)) break;
    if (wide) halve(n, first);
    __syncthreads();
  }
  // eigenvalues closer than that have one interval together
#pragma unroll 1
  for (unsigned i = t; i < end_s[t]; i++) value[b * n + i] = 0.5f * (left_s[t] + right_s[t]);
  if (t == 0) count[b] = found;
}

// ---- Histogram of bytes in 64 bins, by the upper six bits of each.

// A histogram for each block. Each thread has counters of its own, bytes in shared memory, and so needs no atomics; the
// four warps have a byte each of the 32 words of a bin, one word a lane, and so no two lanes meet in a bank. At most 128
// threads, each with at most 63 of the n words of four bytes.
extern "C" __global__ void histogram64_partial(const unsigned *words, unsigned *partial, unsigned n) {
  __shared__ unsigned counters[64 * 32];
  unsigned t = threadIdx.x;
#pragma unroll 1
  for (unsigned i = t; i < 64 * 32; i += blockDim.x) counters[i] = 0;
  __syncthreads();
  unsigned char *mine = (unsigned char *)counters + 4 * (t % 32) + t / 32;
#pragma unroll 1
  for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
    unsigned word = words[i];
#pragma unroll
    for (unsigned at = 2; at < 32; at += 8) mine[128 * (word >> at & 63)]++;
  }
  __syncthreads();
  for (unsigned bin = t; bin < 64; bin += blockDim.x) {
    // two sums of 16 bits; each lane begins in another bank
    unsigned sums = 0;
#pragma unroll 1
    for (unsigned i = 0; i < 32; i++) {
      unsigned word = counters[32 * bin + (i + bin) % 32];
      sums += (word & 0x00ff00ff) + (word >> 8 & 0x00ff00ff);
    }
    partial[64 * blockIdx.x + bin] = (sums & 0xffff) + (sums >> 16);
  }
}

// The sum of `count` such histograms, a block for each bin. The block is a power of two; dynamic shared memory: a word a
// thread.
extern "C" __global__ void histogram64_merge(const unsigned *partial, unsigned *bins, unsigned count) {
  extern __shared__ unsigned totals[];
  unsigned t = threadIdx.x, sum = 0;
#pragma unroll 1
  for (unsigned i = t; i < count; i += blockDim.x) sum += partial[64 * i + blockIdx.x];
  totals[t] = sum;
#pragma unroll 1
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) totals[t] += totals[t + d];
  }
  if (t == 0) bins[blockIdx.x] = totals[0];
}
