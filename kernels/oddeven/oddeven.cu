// Odd-even merge sort (Batcher, "Sorting networks and their applications", 1968): as regular as bitonic sort, all
// comparisons in the same direction, and fewer of them, since the pairs of a step leave some elements out. The number of
// elements is a power of two.

// The lower element of pair number `pair` of the step with this distance, within merges of 2*half elements each. In the
// first step of a merge all elements have a pair; in the others those of the first and last `distance` places have none.
WB_INLINE bool lower_of(unsigned pair, unsigned distance, unsigned half, unsigned *low) {
  *low = pair / distance * 2 * distance + pair % distance;
  if (distance == half) return true;
  // pairs are moved up by `distance`, so that each has its elements in one merge
  *low += distance;
  return *low % (2 * half) < 2 * half - distance;
}

// One block sorts, a thread for each pair. Shared memory: an int for each element.
extern "C" __global__ void oddeven_shared(int *data) {
  extern __shared__ int s[];
  unsigned t = threadIdx.x, threads = blockDim.x, n = 2 * threads, low;
  data += blockIdx.x * n;
  s[t] = data[t];
  s[t + threads] = data[t + threads];
#pragma unroll 1
  for (unsigned half = 1; half < n; half *= 2) {
#pragma unroll 1
    for (unsigned distance = half; distance > 0; distance /= 2) {
      __syncthreads();
      if (lower_of(t, distance, half, &low)) {
        int a = s[low], b = s[low + distance];
        if (a > b) {
          s[low] = b;
          s[low + distance] = a;
        }
      }
    }
  }
  __syncthreads();
  data[t] = s[t];
  data[t + threads] = s[t + threads];
}

// One step on global memory, a thread for each pair.
extern "C" __global__ void oddeven_step(int *data, unsigned distance, unsigned half) {
  unsigned low;
  if (!lower_of(blockIdx.x * blockDim.x + threadIdx.x, distance, half, &low)) return;
  int a = data[low], b = data[low + distance];
  if (a > b) {
    data[low] = b;
    data[low + distance] = a;
  }
}
