// One divergent if/else. Both bodies hold a loop, so that no compiler turns them into selects: the negative elements
// take square roots, the others an integer recurrence.
extern "C" __global__ void ifelse(int *t, float *f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = t[i];
  if (v < 0) {
    float x = f[i];
#pragma unroll 1
    for (int k = 0; k < 7; k++) x = sqrtf(x * x + (float)k);
    f[i] = x;
    t[i] = 0;
  } else {
#pragma unroll 1
    for (int k = 0; k < 9; k++) v = (v * 1664525 + 1013904223) % 977;
    t[i] = v * 2;
    f[i] += 1.0f;
  }
  f[i] = f[i] * 0.5f;
}
