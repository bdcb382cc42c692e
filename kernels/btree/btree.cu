// Lookups in a B+tree that lies in arrays. A node has eight places for keys in ascending order; those that are free hold
// the largest int. The children of an inner node lie behind it and follow each other: child c, the one before the c-th
// separator, is node first_child[node] + c; a key that equals a separator is to the right of it. Leaves, for which
// first_child names no node behind them, hold keys, and the value of each at the same place. The result is the value, or
// -1.
constexpr int PLACES = 8;

// A lane for each query. Lanes of a warp are in different nodes and leave a node's keys at different places.
extern "C" __global__ void btree_lane(const int *__restrict__ keys, const int *__restrict__ first_child,
                                      const int *__restrict__ values, const int *__restrict__ queries,
                                      int *__restrict__ found, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int query = queries[i], node = 0, child;
#pragma unroll 1
  while ((child = first_child[node]) > node) {
#pragma unroll 1
    for (int place = 0; place < PLACES && keys[node * PLACES + place] <= query; place++) child++;
    node = child;
  }
  int value = -1;
#pragma unroll 1
  for (int place = 0; place < PLACES; place++) {
    int key = keys[node * PLACES + place];
    if (key < query) continue;
    if (key == query) value = values[node * PLACES + place];
    break;
  }
  found[i] = value;
}

// Eight lanes for each query, four queries a warp: each lane compares one key of the node, and a vote tells all of them
// how many separators are passed. Whole warps.
extern "C" __global__ void btree_group(const int *__restrict__ keys, const int *__restrict__ first_child,
                                       const int *__restrict__ values, const int *__restrict__ queries,
                                       int *__restrict__ found, int count) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / PLACES, place = threadIdx.x % PLACES;
  int shift = threadIdx.x % 32 / PLACES * PLACES;
  // groups without a query follow one that is there, since all lanes have to vote
  int query = queries[min(i, count - 1)], node = 0, child = first_child[0];
#pragma unroll 1
  while (__any_sync(0xffffffffu, child > node)) {
    unsigned passed = __ballot_sync(0xffffffffu, keys[node * PLACES + place] <= query);
    if (child > node) {
      node = child + __popc(passed >> shift & 0xffu);
      child = first_child[node];
    }
  }
  bool here = keys[node * PLACES + place] == query;
  unsigned equal = __ballot_sync(0xffffffffu, here) >> shift & 0xffu;
  if (i < count && (here || (equal == 0 && place == 0))) found[i] = here ? values[node * PLACES + place] : -1;
}
