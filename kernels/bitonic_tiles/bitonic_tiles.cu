// Bitonic sort of more keys than a block holds. Each block sorts a tile of two keys a thread; sequences longer than a tile
// are merged over global memory while the distance is a tile or more, and by tiles in shared memory from there on. A
// thread has a pair of keys in every step, so that none is idle. The number of keys and the block are powers of two.
extern __shared__ int s[];

// The lower element of a pair at this distance, a power of two.
WB_INLINE unsigned lower_of(unsigned pair, unsigned distance) { return 2 * pair - (pair & (distance - 1)); }

WB_INLINE void put_in_order(int *low, int *high, bool up) {
  int a = *low, b = *high;
  if ((a > b) == up) {
    *low = b;
    *high = a;
  }
}

// The steps of one merge within a tile at `base`; the direction is that of the sequence of `length` keys.
WB_INLINE void merge_in_tile(unsigned base, unsigned distance, unsigned length) {
  unsigned t = threadIdx.x;
#pragma unroll 1
  for (; distance > 0; distance /= 2) {
    __syncthreads();
    unsigned low = lower_of(t, distance);
    put_in_order(&s[low], &s[low + distance], ((base + low) & length) == 0);
  }
}

// Sorts each tile, upwards and downwards in turn. Dynamic shared memory: two ints a thread.
extern "C" __global__ void bitonic_tile_sort(int *data) {
  unsigned t = threadIdx.x, threads = blockDim.x, base = blockIdx.x * 2 * threads;
  s[t] = data[base + t];
  s[t + threads] = data[base + t + threads];
#pragma unroll 1
  for (unsigned length = 2; length <= 2 * threads; length *= 2) merge_in_tile(base, length / 2, length);
  __syncthreads();
  data[base + t] = s[t];
  data[base + t + threads] = s[t + threads];
}

// One step of the merge of sequences of `length` keys in global memory.
extern "C" __global__ void bitonic_merge_global(int *data, unsigned distance, unsigned length) {
  unsigned low = lower_of(blockIdx.x * blockDim.x + threadIdx.x, distance);
  put_in_order(&data[low], &data[low + distance], (low & length) == 0);
}

// The rest of that merge, tile by tile. Dynamic shared memory: two ints a thread.
extern "C" __global__ void bitonic_merge_tile(int *data, unsigned length) {
  unsigned t = threadIdx.x, threads = blockDim.x, base = blockIdx.x * 2 * threads;
  s[t] = data[base + t];
  s[t + threads] = data[base + t + threads];
  merge_in_tile(base, threads, length);
  __syncthreads();
  data[base + t] = s[t];
  data[base + t + threads] = s[t + threads];
}
