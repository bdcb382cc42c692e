// Shortest paths from one vertex: every vertex that is nearer than `limit` offers its distance plus the length of each
// of its edges to the vertices behind them. `to` starts as a copy of `from`. One warp a vertex, its lanes along the
// edges; edges as in bfs. Blocks are whole warps, and n warps take every n-th vertex each.
extern "C" __global__ void sssp_relax(const int *__restrict__ row_start, const int *__restrict__ targets,
                                      const int *__restrict__ lengths, const int *__restrict__ from, int *to,
                                      int vertices, int limit) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, warps = gridDim.x * blockDim.x / 32;
  for (int v = thread / 32; v < vertices; v += warps) {
    int distance = from[v];
    if (distance >= limit) continue;
    for (int edge = row_start[v] + thread % 32; edge < row_start[v + 1]; edge += 32) {
      int target = targets[edge], offer = distance + lengths[edge];
      if (offer < from[target]) atomicMin(&to[target], offer);
    }
  }
}
