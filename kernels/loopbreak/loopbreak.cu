// A loop whose lanes leave in different iterations, by two breaks, with a continue that skips the end of the body.
extern "C" __global__ void loopbreak(const int *in, int *out, int n, int maxit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = in[i];
  int steps = 0;
  for (int k = 0; k < maxit; k++) {
    if (v == 1) break;
    if (v % 7 == 3) {
      v = v / 2 + 5;
      continue;
    }
    v = (v & 1) ? 3 * v + 1 : v >> 1;
    if (v > 1000000u) {
      steps = -1;
      break;
    }
    steps++;
  }
  out[i] = steps;
}

// Divergent ifs three deep in a loop; stores and inner loops keep the bodies real branches.
extern "C" __global__ void nested_if(const int *in, int *out, int n, int iters) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i], acc = 0;
#pragma unroll 1
  for (int k = 0; k < iters; k++) {
    int m = (v + k) & 15;
    if (m < 8) {
      acc += m;
      if (m & 1) {
        acc ^= v;
        if (m & 4) {
          out[i] = acc;
          acc += k;
        } else {
          acc -= 3 * k;
          out[i] = acc + 1;
        }
      } else {
#pragma unroll 1
        for (int j = 0; j < m; j++) acc = acc * 5 + j;
      }
    } else if (m < 12) {
      out[i] = acc - m;
      v = v * 1103515245 + 12345;
    } else {
#pragma unroll 1
      while (m > 10) {
        acc += v >> m;
        m--;
      }
    }
  }
  out[i] = acc + v;
}
