// Exclusive prefix sums of integers, one segment a block.
extern __shared__ int s[];

// Hillis and Steele: log2(n) rounds, each from one buffer to the other. One element a thread; dynamic shared memory: two
// ints a thread.
extern "C" __global__ void scan_naive(const int *in, int *out) {
  unsigned n = blockDim.x, t = threadIdx.x, at = blockIdx.x * n + t, from = 0, to = n;
  s[t] = t > 0 ? in[at - 1] : 0;
  __syncthreads();
  for (unsigned d = 1; d < n; d *= 2) {
    int v = s[from + t];
    if (t >= d) v += s[from + t - d];
    s[to + t] = v;
    __syncthreads();
    from = to;
    to = n - to;
  }
  out[at] = s[from + t];
}

// Blelloch: a tree of sums up, then down again. Two elements a thread, the number of elements a power of two; dynamic
// shared memory: two ints a thread. The stride of the accesses doubles each round, and so do the bank conflicts.
extern "C" __global__ void scan_blelloch(const int *in, int *out) {
  unsigned n = 2 * blockDim.x, t = threadIdx.x, base = blockIdx.x * n, step = 1;
  s[2 * t] = in[base + 2 * t];
  s[2 * t + 1] = in[base + 2 * t + 1];
  for (unsigned d = n / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
    step *= 2;
  }
  if (t == 0) s[n - 1] = 0;
  for (unsigned d = 1; d < n; d *= 2) {
    step /= 2;
    __syncthreads();
    if (t < d) {
      unsigned a = step * (2 * t + 1) - 1, b = step * (2 * t + 2) - 1;
      int left = s[a];
      s[a] = s[b];
      s[b] += left;
    }
  }
  __syncthreads();
  out[base + 2 * t] = s[2 * t];
  out[base + 2 * t + 1] = s[2 * t + 1];
}

// The same sums with one free word after every 32, which spreads the strided accesses over the banks. Dynamic shared
// memory: n + n/32 ints for n elements.
#define PAD(i) ((i) + (i) / 32)
extern "C" __global__ void scan_padded(const int *in, int *out) {
  unsigned half = blockDim.x, n = 2 * half, t = threadIdx.x, base = blockIdx.x * n, step = 1;
  s[PAD(t)] = in[base + t];
  s[PAD(t + half)] = in[base + t + half];
  for (unsigned d = half; d > 0; d /= 2) {
    __syncthreads();
    if (t < d) {
      unsigned a = step * (2 * t + 1) - 1, b = step * (2 * t + 2) - 1;
      s[PAD(b)] += s[PAD(a)];
    }
    step *= 2;
  }
  if (t == 0) s[PAD(n - 1)] = 0;
  for (unsigned d = 1; d < n; d *= 2) {
    step /= 2;
    __syncthreads();
    if (t < d) {
      unsigned a = step * (2 * t + 1) - 1, b = step * (2 * t + 2) - 1;
      int left = s[PAD(a)];
      s[PAD(a)] = s[PAD(b)];
      s[PAD(b)] += left;
    }
  }
  __syncthreads();
  out[base + t] = s[PAD(t)];
  out[base + t + half] = s[PAD(t + half)];
}
