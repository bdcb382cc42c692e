// Breadth-first search, level by level. The edges of vertex v lead to targets[i] for i from row_start[v] to
// row_start[v + 1] - 1. Sets of vertices are bits of words, so that it does not matter which of several threads finds a
// vertex.

// Adds the unvisited targets of the edges of the frontier to the next frontier. One thread a vertex.
extern "C" __global__ void bfs_expand(const int *__restrict__ row_start, const int *__restrict__ targets,
                                      const unsigned *__restrict__ frontier, const unsigned *__restrict__ visited,
                                      unsigned *next, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || !(frontier[v / 32] >> (v % 32) & 1)) return;
  for (int edge = row_start[v]; edge < row_start[v + 1]; ++edge) {
    int target = targets[edge];
    unsigned bit = 1u << (target % 32);
    if (!(visited[target / 32] & bit)) atomicOr(&next[target / 32], bit);
  }
}

// Gives the vertices of the next frontier their level, counts and marks them, and empties the frontier that was before.
// One thread a vertex, a word for each warp; blocks are whole warps, bits beyond the last vertex are 0.
extern "C" __global__ void bfs_settle(const unsigned *__restrict__ next, unsigned *frontier, unsigned *visited,
                                      int *level, int *reached, int vertices, int depth) {
  int v = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  if (v - lane >= vertices) return;
  unsigned found = next[v / 32];
  if (found >> lane & 1) level[v] = depth;
  if (lane == 0) {
    frontier[v / 32] = 0;
    if (found) {
      visited[v / 32] |= found;
      atomicAdd(&reached[depth], __popc(found));
    }
  }
}
