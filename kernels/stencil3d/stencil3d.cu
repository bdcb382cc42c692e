// A seven-point stencil in a box of nx x ny x nz cells, x fastest: each inner cell becomes a mix of itself and of its
// six neighbours; the cells of the faces stay as they are in `to`. One thread a column along z, blocks of any flat
// shape. A thread keeps the cells below, at and above it in registers, so that it loads each cell of its column once.
extern "C" __global__ void stencil3d(const float *__restrict__ from, float *__restrict__ to, int nx, int ny, int nz,
                                     float own, float around) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= nx - 1 || y >= ny - 1) return;
  int layer = nx * ny, at = y * nx + x;
  float below = from[at], here = from[at + layer];
  for (int z = 1; z < nz - 1; ++z) {
    at += layer;
    float above = from[at + layer];
    float sum = from[at - 1] + from[at + 1];
    sum = sum + from[at - nx];
    sum = sum + from[at + nx];
    sum = sum + below;
    sum = sum + above;
    to[at] = fmaf(own, here, around * sum);
    below = here;
    here = above;
  }
}
