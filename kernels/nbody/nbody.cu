// Bodies that attract each other, each pair. A body is its place and its mass, four words.
constexpr int TILE = 32;

// The acceleration of each body, a thread each. The first warp brings tiles of 32 bodies to shared memory. `soft` is
// added to squared distances, which keeps them from zero. Blocks of whole warps.
extern "C" __global__ void nbody_forces(const float4 *__restrict__ bodies, float4 *__restrict__ accelerations, float soft,
                                        int count) {
  __shared__ float4 tile[TILE];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float4 me = bodies[min(i, count - 1)];
  float ax = 0.f, ay = 0.f, az = 0.f;
#pragma unroll 1
  for (int first = 0; first < count; first += TILE) {
    int in_tile = min(TILE, count - first);
    if (t < in_tile) tile[t] = bodies[first + t];
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < in_tile; j++) {
      float4 other = tile[j];
      float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      float inverse = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, soft))));
      float pull = other.w * inverse * inverse * inverse;
      ax = fmaf(dx, pull, ax);
      ay = fmaf(dy, pull, ay);
      az = fmaf(dz, pull, az);
    }
    __syncthreads();
  }
  if (i < count) accelerations[i] = float4{ax, ay, az, 0.f};
}

// A step in time: first velocities, then places by the new velocities.
extern "C" __global__ void nbody_move(float4 *bodies, float4 *velocities, const float4 *__restrict__ accelerations,
                                      float step, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 a = accelerations[i], v = velocities[i], body = bodies[i];
  v.x = fmaf(a.x, step, v.x);
  v.y = fmaf(a.y, step, v.y);
  v.z = fmaf(a.z, step, v.z);
  body.x = fmaf(v.x, step, body.x);
  body.y = fmaf(v.y, step, body.y);
  body.z = fmaf(v.z, step, body.z);
  velocities[i] = v;
  bodies[i] = body;
}
