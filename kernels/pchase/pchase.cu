// A chain of dependent global loads: each thread follows indices from its own.
extern "C" __global__ void pchase(const int *next, int *out, int steps) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, p = t;
#pragma unroll 1
  for (int k = 0; k < steps; k++) p = next[p];
  out[t] = p;
}
