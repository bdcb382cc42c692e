// Attention, softmax(Q K^T / sqrt(16)) V, of heads of 16 columns, in one pass over the keys (online softmax: Milakov and
// Gimelshein, 2018): a tile of 16 keys and values at a time, and what was summed so far is scaled down when a larger score
// appears. blockIdx.y is the head; a block of 128 threads has 16 queries, eight lanes for each. In the causal form a
// query sees the keys up to its own number only, and blocks leave out the tiles that none of their queries sees.
constexpr int COLUMNS = 16, TILE = 16, LANES = 8, PITCH = COLUMNS + 1;
constexpr unsigned ALL = 0xffffffffu;

extern "C" __global__ void __launch_bounds__(128) attention(const float *__restrict__ q, const float *__restrict__ k,
                                                             const float *__restrict__ v, float *__restrict__ out,
                                                             int queries, int keys, int causal) {
  __shared__ float q_tile[TILE * PITCH], k_tile[TILE * PITCH], v_tile[TILE * COLUMNS], weights[TILE * TILE];
  int t = threadIdx.x, lane = t % LANES, mine = t / LANES, query = blockIdx.x * TILE + mine;
  q += blockIdx.y * queries * COLUMNS;
  k += blockIdx.y * keys * COLUMNS;
  v += blockIdx.y * keys * COLUMNS;
  out += blockIdx.y * queries * COLUMNS;
#pragma unroll
  for (int round = 0; round < 2; round++) {
    int i = 128 * round + t, row = blockIdx.x * TILE + i / COLUMNS;
    q_tile[i / COLUMNS * PITCH + i % COLUMNS] = row < queries ? 0.25f * q[row * COLUMNS + i % COLUMNS] : 0.f;
  }
  float largest = -__builtin_inff(), sum = 0.f, result[2] = {0.f, 0.f};
  int end = causal ? min(keys, (int)(blockIdx.x + 1) * TILE) : keys;
#pragma unroll 1
  for (int first = 0; first < end; first += TILE) {
#pragma unroll
    for (int round = 0; round < 2; round++) {
      int i = 128 * round + t, row = first + i / COLUMNS, at = row * COLUMNS + i % COLUMNS;
      k_tile[i / COLUMNS * PITCH + i % COLUMNS] = row < keys ? k[at] : 0.f;
      v_tile[i] = row < keys ? v[at] : 0.f;
    }
    __syncthreads();
    // the scores of two keys for each lane; the first key of a tile is visible to at least one query, but not always to all
    float score[2] = {0.f, 0.f};
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      float of_query = q_tile[mine * PITCH + c];
      score[0] = fmaf(of_query, k_tile[lane * PITCH + c], score[0]);
      score[1] = fmaf(of_query, k_tile[(lane + LANES) * PITCH + c], score[1]);
    }
    float tile_largest = largest;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int key = first + lane + h * LANES;
      if (key >= keys || (causal && key > query)) score[h] = -__builtin_inff();
      tile_largest = fmaxf(tile_largest, score[h]);
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
      tile_largest = fmaxf(tile_largest, __shfl_xor_sync(ALL, tile_largest, step));
    // key 0 is in the first tile and seen by all, so that the largest score is finite from then on
    float keep = __expf(largest - tile_largest), tile_sum = 0.f;
    largest = tile_largest;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      float weight = __expf(score[h] - largest);
      weights[mine * TILE + lane + h * LANES] = weight;
      tile_sum += weight;
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) tile_sum += __shfl_xor_sync(ALL, tile_sum, step);
    sum = fmaf(sum, keep, tile_sum);
    // the weights of a query are written and read by lanes of one warp
    __syncwarp();
    result[0] *= keep;
    result[1] *= keep;
#pragma unroll
    for (int j = 0; j < TILE; j++) {
      float weight = weights[mine * TILE + j];
      float2 value = *(const float2 *)&v_tile[j * COLUMNS + 2 * lane];
      result[0] = fmaf(weight, value.x, result[0]);
      result[1] = fmaf(weight, value.y, result[1]);
    }
    __syncthreads();
  }
  if (query < queries)
    *(float2 *)&out[query * COLUMNS + 2 * lane] = float2{__fdividef(result[0], sum), __fdividef(result[1], sum)};
}
