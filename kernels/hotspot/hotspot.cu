// Temperatures of a plate that is heated here and there: each cell gives heat to its four neighbours and to the air.
// The rim is insulated: a neighbour that is not there has the cell's own temperature.
struct Plate {
  int width, height;
  float across, down, air;  // what flows in a step for a difference of one degree: sideways, along a column, to the air
  float ambient;            // temperature of the air
};

// One cell after a step, from the sums of its neighbours.
static __device__ __forceinline__ float heated(float own, float sideways, float along, float power, const Plate &p) {
  float change = fmaf(p.air, p.ambient - own, power);
  change = fmaf(p.across, fmaf(-2.0f, own, sideways), change);
  change = fmaf(p.down, fmaf(-2.0f, own, along), change);
  return own + change;
}

// Several steps in one launch. A block owns as many cells as it has threads. It loads them with a halo of `steps` cells
// on each side; what it can compute shrinks by one cell a side and step, until only its own cells are left. Dynamic
// shared memory: twice the floats of the tile with its halo, (blockDim.x + 2 steps) * (blockDim.y + 2 steps).
extern __shared__ float tiles[];
extern "C" __global__ void hotspot(const float *__restrict__ from, float *__restrict__ to,
                                   const float *__restrict__ power, Plate p, int steps) {
  int wide = blockDim.x + 2 * steps, high = blockDim.y + 2 * steps;
  int left = (int)(blockIdx.x * blockDim.x) - steps, top = (int)(blockIdx.y * blockDim.y) - steps;
  float *now = tiles, *next = tiles + wide * high;
  for (int y = threadIdx.y; y < high; y += blockDim.y)
    for (int x = threadIdx.x; x < wide; x += blockDim.x) {
      int column = left + x, row = top + y;
      bool inside = column >= 0 && column < p.width && row >= 0 && row < p.height;
      now[y * wide + x] = inside ? from[row * p.width + column] : 0.0f;
    }
  __syncthreads();
  for (int rim = 1; rim <= steps; ++rim) {
    for (int y = rim + threadIdx.y; y < high - rim; y += blockDim.y)
      for (int x = rim + threadIdx.x; x < wide - rim; x += blockDim.x) {
        int column = left + x, row = top + y, at = y * wide + x;
        if (column < 0 || column >= p.width || row < 0 || row >= p.height) continue;
        float own = now[at];
        float west = column > 0 ? now[at - 1] : own, east = column < p.width - 1 ? now[at + 1] : own;
        float north = row > 0 ? now[at - wide] : own, south = row < p.height - 1 ? now[at + wide] : own;
        next[at] = heated(own, west + east, north + south, power[row * p.width + column], p);
      }
    __syncthreads();
    float *old = now;
    now = next;
    next = old;
  }
  int column = left + steps + threadIdx.x, row = top + steps + threadIdx.y;
  if (column < p.width && row < p.height)
    to[row * p.width + column] = now[(steps + threadIdx.y) * wide + steps + threadIdx.x];
}
