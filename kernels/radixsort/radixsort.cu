// Sorts by digits of two bits, the lowest first, each pass stable. Eight warps at most, so that the counters of four
// digits for each warp are 32, one for each lane of a warp.
constexpr unsigned ALL = 0xffffffffu;

// The place of this thread's digit among those of the block: smaller digits first, then earlier threads. `ends` gets
// how many digits are up to 0, 1, 2 and 3. Two barriers; blocks of whole warps.
WB_INLINE unsigned block_place(unsigned digit, unsigned *counters, unsigned *ends) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, before = 0;
#pragma unroll
  for (unsigned d = 0; d < 4; d++) {
    unsigned same = __ballot_sync(ALL, digit == d);
    if (digit == d) before = __popc(same & ((1u << lane) - 1));
    if (lane == 0) counters[d * 8 + warp] = __popc(same);
  }
  __syncthreads();
  if (warp == 0) {
    unsigned sum = lane % 8 < warps ? counters[lane] : 0, own = sum;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      unsigned other = __shfl_up_sync(ALL, sum, step);
      if (lane >= step) sum += other;
    }
    counters[lane] = sum - own;
    if (lane % 8 == 7) ends[lane / 8] = sum;
  }
  __syncthreads();
  return counters[digit * 8 + warp] + before;
}

// A whole sort in one block, a key and its value for each thread; keys have `bits` bits, an even number. Threads beyond
// `count` bring keys that are larger than all.
extern "C" __global__ void radix_block(unsigned *keys, unsigned *values, int bits, int count) {
  __shared__ unsigned key_at[256], value_at[256], counters[32], ends[4];
  unsigned t = threadIdx.x;
  bool exists = t < count;
  keys += blockIdx.x * count;
  values += blockIdx.x * count;
  unsigned key = exists ? keys[t] : ALL, value = exists ? values[t] : 0;
#pragma unroll 1
  for (int shift = 0; shift < bits; shift += 2) {
    unsigned place = block_place(key >> shift & 3, counters, ends);
    key_at[place] = key;
    value_at[place] = value;
    __syncthreads();
    key = key_at[t];
    value = value_at[t];
  }
  if (exists) {
    keys[t] = key;
    values[t] = value;
  }
}

// One pass over many blocks, in three launches. How many keys of each block have each digit: all blocks for digit 0,
// then for digit 1 and so on.
extern "C" __global__ void radix_count(const unsigned *__restrict__ keys, unsigned *__restrict__ counts, int shift,
                                       int count) {
  __shared__ unsigned bins[4];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t < 4) bins[t] = 0;
  __syncthreads();
  if (i < count) atomicAdd(&bins[keys[i] >> shift & 3], 1u);
  __syncthreads();
  if (t < 4) counts[t * gridDim.x + blockIdx.x] = bins[t];
}

// Turns counts into sums of the counts before them. One block, a thread for each count, at most 1024.
extern "C" __global__ void radix_offsets(unsigned *counts, int count) {
  __shared__ unsigned of_warp[32];
  unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned own = t < count ? counts[t] : 0, sum = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    unsigned other = __shfl_up_sync(ALL, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();
#pragma unroll 1
  for (unsigned w = 0; w < warp; w++) sum += of_warp[w];
  if (t < count) counts[t] = sum - own;
}

// Puts each key and value where its digit's keys of its block begin, in the order of the threads.
extern "C" __global__ void radix_scatter(const unsigned *__restrict__ keys, const unsigned *__restrict__ values,
                                         unsigned *__restrict__ sorted_keys, unsigned *__restrict__ sorted_values,
                                         const unsigned *__restrict__ offsets, int shift, int count) {
  __shared__ unsigned counters[32], ends[4];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  bool exists = i < count;
  // without a key the last digit: behind all others of the block
  unsigned key = exists ? keys[i] : ALL, digit = key >> shift & 3;
  unsigned place = block_place(exists ? digit : 3, counters, ends);
  if (exists) {
    unsigned first = digit > 0 ? ends[digit - 1] : 0, to = offsets[digit * gridDim.x + blockIdx.x] + place - first;
    sorted_keys[to] = key;
    sorted_values[to] = values[i];
  }
}
