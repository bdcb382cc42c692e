// Exclusive prefix sums of more integers than a block holds, in three launches: of each tile, of the sums of the tiles,
// and the addition of what comes before each tile. A thread has four consecutive elements.
extern __shared__ int s[];

// The sum of v over this thread and those before it, after Hillis and Steele. Dynamic shared memory: an int a thread.
WB_INLINE int sum_up_to(int v) {
  unsigned t = threadIdx.x;
  s[t] = v;
#pragma unroll 1
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    int before = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] = v += before;
  }
  return v;
}

// Each block scans a tile of four elements a thread and gives its sum.
extern "C" __global__ void scan_tile(const int4 *in, int4 *out, int *sums) {
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  int4 v = in[at], r;
  int own = v.x + v.y + v.z + v.w, up_to = sum_up_to(own);
  r.x = up_to - own;
  r.y = r.x + v.x;
  r.z = r.y + v.y;
  r.w = r.z + v.z;
  out[at] = r;
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = up_to;
}

// One block scans the sums in place, one a thread.
extern "C" __global__ void scan_tile_sums(int *sums) {
  int own = sums[threadIdx.x];
  sums[threadIdx.x] = sum_up_to(own) - own;
}

// Each tile gets the sum of those before it, which one thread reads for all.
extern "C" __global__ void scan_tile_add(int4 *data, const int *before) {
  __shared__ int start;
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) start = before[blockIdx.x];
  __syncthreads();
  int4 v = data[at];
  v.x += start;
  v.y += start;
  v.z += start;
  v.w += start;
  data[at] = v;
}
